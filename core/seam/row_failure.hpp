#pragma once

#include <tableq/error.hpp>

namespace tableq::core {

/// Whether a statement may have failed because of what stands in one of its rows, so that it may
/// succeed with others.
inline bool may_be_of_a_row(const error& failure) noexcept {
  switch (failure.code()) {
    case errc::constraint_violated:
    case errc::invalid_argument:
    case errc::too_large:
    case errc::internal:
      return failure.advice() == advice::never;
    default:
      return false;
  }
}

}  // namespace tableq::core
