#pragma once

#include <tableq/error.hpp>

namespace tableq::inline v0::core {

/// Whether the content of one row may have caused the failure, so that the statement may succeed
/// without that row.
inline bool may_concern_one_row(const error& failure) noexcept {
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

}  // namespace tableq::inline v0::core
