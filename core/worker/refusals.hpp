#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <tableq/handled.hpp>

namespace tableq::inline v0::core {

/// The refusals of one message's settlement, by errors that may pass.
struct refusal_count {
  using moment = std::chrono::steady_clock::time_point;
  std::optional<moment> first = {};  ///< The first one. Empty: there was none.
  std::size_t tries = 0;             ///< Refused ones, each after a success since the one before.
  std::uint64_t seen = 0;            ///< Successes at the last one.
  std::uint64_t successes = 0;       ///< Successes at the first one.
  std::uint64_t cost = 0;            ///< Their refusals.
};

/// Decides whether a refusal is a message's own, or the trouble of the database: by the settlements
/// of other messages that succeeded between its tries. Of a completion only completions tell,
/// because triggers may write where there is no room.
///
/// A message of a database that refuses by chance is refused often, too. The others then succeed
/// after refusals; the message must have met many times as many (docs/adr/0031).
///
/// @par Thread safety
/// Shared objects: unsafe; the worker_engine's mutex guards it.
class refusals {
 public:
  /// A call has settled other messages, or this one.
  /// @param tries refusal_count::tries of the message.
  void succeeded(handled::how what, std::size_t tries) noexcept {
    all_.add(tries);
    if (what == handled::how::completed) completions_.add(tries);
  }

  /// Whether anything has succeeded since the message's last refusal.
  [[nodiscard]] bool moved_on(const refusal_count& of_message, handled::how what) const noexcept {
    return of_message.first && of(what).successes > of_message.seen;
  }

  /// Counts one more refusal.
  /// @param probed the message's own lease could be extended since the last one.
  /// @return whether the refusal is the message's own.
  [[nodiscard]] bool is_own(refusal_count& of_message, handled::how what, bool probed,
                            refusal_count::moment now, std::chrono::milliseconds longest) noexcept {
    constexpr std::uint64_t enough = 12;
    const figures& mine = of(what);
    if (!of_message.first) {
      of_message = {.first = now,
                    .tries = 1,
                    .seen = mine.successes,
                    .successes = mine.successes,
                    .cost = mine.cost};
      return false;
    }
    if (probed || moved_on(of_message, what)) ++of_message.tries;
    of_message.seen = mine.successes;
    const std::uint64_t others = std::max<std::uint64_t>(mine.successes - of_message.successes, 1);
    const std::uint64_t met = mine.cost - of_message.cost;
    return now - *of_message.first >= longest &&
           of_message.tries * others >= enough * (others + met);
  }

 private:
  struct figures {
    std::uint64_t successes = 0;
    std::uint64_t cost = 0;
    void add(std::size_t tries) noexcept {
      ++successes;
      cost += tries;
    }
  };
  [[nodiscard]] const figures& of(handled::how what) const noexcept {
    return what == handled::how::completed ? completions_ : all_;
  }

  figures completions_;
  figures all_;
};

}  // namespace tableq::inline v0::core
