#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "core/seam/contract.hpp"
#include "core/seam/driver.hpp"
#include "drivers/dialect_texts.hpp"
#include "drivers/pieces.hpp"
#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {

/// The most prepared texts that a session keeps.
inline constexpr std::size_t most_known_texts = 6000;

static_assert(text_form{.rows = most_rows}.key() < 1U << 15U);
static_assert(most_statements <= 1U << 8U);

/// The key of a text. @param common whether all queues share it.
[[nodiscard]] inline std::uint64_t text_key(const core::contract& contract,
                                            const core::table_names& names, bool common,
                                            const text_form& form, clock_source clock) noexcept {
  const std::uint64_t of_queue = common ? std::uint64_t{names.by_turns} : names.slot;
  const std::uint64_t slot = contract.texts == nullptr ? of_queue : contract.slot;
  return (slot << 24U) | (form.key() << 9U) | (static_cast<std::uint64_t>(clock) << 8U) |
         static_cast<std::uint64_t>(contract.id);
}

/// A prepared text, and what it was made for besides its key.
struct known_text {
  std::unique_ptr<prepared> statement;
  core::table_names names;
  std::uint64_t mapped = 0;  ///< contract::slot.
  bool hinted = true;
  bool common = false;  ///< The text names no table of a queue.

  /// Two names may have one hash, and so one key.
  [[nodiscard]] bool serves(const core::contract& contract, const core::table_names& wanted,
                            bool with_hints) const noexcept {
    if (mapped != contract.slot || hinted != with_hints) return false;
    if (contract.texts != nullptr) return true;
    if (!common) return names.same_tables(wanted);
    return names.schema == wanted.schema && names.prefix == wanted.prefix &&
           names.sharded == wanted.sharded && names.by_turns == wanted.by_turns;
  }
};

/// The prepared texts of a session, by statement, queue and number of items. Those used least
/// recently go first: a session may serve any number of queues, and each text takes memory, on
/// PostgreSQL some 80 kB of the server.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class known_texts {
 public:
  /// Null: unknown. It stays valid during the call of the session.
  [[nodiscard]] known_text* find(std::uint64_t key) noexcept {
    const auto found = places_.find(key);
    if (found == places_.end()) return nullptr;
    by_use_.splice(by_use_.begin(), by_use_, found->second);
    return &found->second->second;
  }

  /// Call this before a text is prepared. Drops several at once: a transport may end the statements
  /// of one round in one call.
  void make_room() {
    if (places_.size() < most_known_texts) return;
    for (std::size_t i = 0; i < most_known_texts / share_of_a_round; ++i) {
      places_.erase(by_use_.back().first);
      by_use_.pop_back();
    }
  }

  known_text& add(std::uint64_t key, known_text text) {
    if (known_text* const old = find(key)) return *old = std::move(text);
    by_use_.emplace_front(key, std::move(text));
    places_.emplace(key, by_use_.begin());
    return by_use_.front().second;
  }

  /// The queue of these names was dropped.
  void forget(const core::table_names& names) {
    for (auto at = by_use_.begin(); at != by_use_.end();) {
      const auto here = at++;
      if (!here->second.names.same_tables(names)) continue;
      places_.erase(here->first);
      by_use_.erase(here);
    }
  }

 private:
  static constexpr std::size_t share_of_a_round = 10;

  using entries = std::list<std::pair<std::uint64_t, known_text>>;
  entries by_use_;  // the last used ones first
  std::unordered_map<std::uint64_t, entries::iterator> places_;
};

}  // namespace tableq::inline v0::drivers
