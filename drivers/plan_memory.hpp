#pragma once

#include <atomic>
#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/contract.hpp"
#include "core/seam/driver.hpp"
#include "drivers/dialect_texts.hpp"
#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {

/// Which hints a text keeps: those of `dialect::plan_hints` go first, then `dialect::order_hints`.
enum class hints : std::uint8_t { all, order, none };

/// The text with these hints.
[[nodiscard]] std::string with_hints(const dialect& definition, std::string text, hints kept);

/// Which of a statement's texts.
struct text_choice {
  clock_source clock;
  std::size_t rows;  ///< A key of drivers/pieces.hpp.
  hints with;
};

/// The text of a statement for a queue.
/// @throws error errc::unsupported when the dialect has none.
[[nodiscard]] text compiled(const dialect_texts& texts, const core::contract& contract,
                            const core::table_names& names, const text_choice& which);

/// The next hints with which the statement has another text; none: it has no hints left.
[[nodiscard]] std::optional<hints> fewer_hints(const dialect_texts& texts, std::string_view name,
                                               hints now);

/// Whether the database found no plan because of the text's hints. A record with another number
/// says another reason: a server also reports that the statement could not be prepared.
[[nodiscard]] bool has_no_plan(const dialect& definition, const native_failure& failure);

/// A statement of one queue.
struct planned_statement {
  std::uint64_t tables = 0;  ///< core::table_names::slot.
  std::int64_t identity = 0;
  core::statement which = {};

  friend auto operator<=>(const planned_statement&, const planned_statement&) = default;
};

/// The statements for which the database had no plan with all hints. After an hour they are tried
/// with all of them again.
///
/// @par Thread safety
/// Shared objects: safe.
class plan_memory {
 public:
  using time_point = std::chrono::steady_clock::time_point;
  static constexpr std::chrono::hours remembered{1};
  static constexpr std::size_t most = 1000;  ///< Then it forgets all of them.

  [[nodiscard]] hints of(const planned_statement& asked, time_point now) const;
  void had_no_plan(const planned_statement& with_more, hints left, time_point now);

 private:
  struct entry {
    hints left = hints::all;
    time_point until;
  };

  mutable std::mutex guard_;
  std::map<planned_statement, entry> entries_;  // under guard_
  std::atomic<bool> any_{false};                // most databases have a plan for each
};

}  // namespace tableq::inline v0::drivers
