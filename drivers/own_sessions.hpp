#pragma once

#include <functional>
#include <memory>
#include <span>

#include "core/seam/contract.hpp"
#include "core/seam/driver.hpp"

namespace tableq::inline v0::drivers {

struct session_source;

/// Makes the sessions of one `database` object; they may share what it has.
using session_maker = std::function<std::unique_ptr<core::connection>(const session_source&)>;

/// Contracts and sessions of one database alone, beside its texts.
struct own_sessions {
  session_maker (*of_database)();
  /// Statements of their own, numbered after core's.
  std::span<const core::contract> (*contracts)() noexcept;
  /// One of core's statements with the parameters that the sessions fill in, or unchanged.
  const core::contract& (*with_places)(const core::contract& of) noexcept;
};

}  // namespace tableq::inline v0::drivers
