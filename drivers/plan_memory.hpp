#pragma once

#include <array>
#include <atomic>
#include <cstddef>

#include "core/seam/statement.hpp"

namespace tableq::inline v0::drivers {

/// The statements that the sessions of one `database` object run without `dialect::plan_hints`,
/// because the database had no plan with them.
///
/// @par Thread safety
/// Shared objects: safe.
class plan_memory {
 public:
  [[nodiscard]] bool without_hints(core::statement which) const noexcept {
    return plain_.at(static_cast<std::size_t>(which)).load();
  }
  void had_no_plan(core::statement which) noexcept {
    plain_.at(static_cast<std::size_t>(which)).store(true);
  }

 private:
  std::array<std::atomic<bool>, core::statement_count> plain_{};
};

}  // namespace tableq::inline v0::drivers
