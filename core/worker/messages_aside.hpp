#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include <tableq/handled.hpp>

#include "core/session/backoff.hpp"
#include "core/worker/held_messages.hpp"

namespace tableq::inline v0::core {

/// The longest pause between two attempts while a database is unavailable, so that work resumes
/// soon after.
inline constexpr std::chrono::milliseconds shortest_pause{100};
inline constexpr std::chrono::milliseconds longest_pause{2000};

/// The messages of one queue whose settlement, or whose handler's transaction, the database refuses
/// for now, or must wait for the lock of a group: each is tried again later.
///
/// Decides whether a refusal is a message's own, or the trouble of the database: by the settlements
/// of other messages that succeeded between its tries. Of a completion only completions tell,
/// because triggers may write where there is no room. A message of a database that refuses by
/// chance is refused often, too. The others then succeed after refusals; the message must have met
/// many times as many (docs/adr/0031).
///
/// @par Thread safety
/// Shared objects: unsafe; the mutex of worker_state guards it.
class messages_aside {
 public:
  /// @param most how many may be put aside, at least 100.
  /// @param patience how long a message is refused at least before a refusal is its own.
  messages_aside(std::size_t most, std::chrono::milliseconds patience)
      : most_(std::max<std::size_t>(most, 100)), patience_(patience) {}

  /// Sets its next try after a pause. Not a refusal: its group is locked.
  void rest(refusal_count& message) const;
  /// For one more. @return false: memory is short.
  [[nodiscard]] bool make_room() noexcept;
  /// It is tried again at its `next_try`.
  void add(settlement one);
  /// It is settled, given back, or handled again.
  void remove(held_message& one) noexcept;
  /// Also those that are tried just now.
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// When one is tried again. max(): there is none.
  [[nodiscard]] moment next_try() const;
  /// The one that is due first.
  [[nodiscard]] std::optional<settlement> take_due(moment now);
  [[nodiscard]] std::vector<settlement> take_all() { return std::exchange(waiting_, {}); }
  /// If there are too many: the one whose first refusal is the oldest, to be given back.
  [[nodiscard]] held take_surplus();

  /// A call has settled messages. @param tries refusal_count::tries of the first.
  void succeeded(handled::how what, std::size_t tries) noexcept;
  /// Whether an extension of the message's lease must tell whether the database works, because
  /// other messages do not.
  [[nodiscard]] bool needs_probe(const refusal_count& message, handled::how what) const noexcept;
  /// Counts one more refusal.
  /// @param probed the message's own lease could be extended.
  /// @param of_database the database has failed as a whole.
  /// @return whether the refusal is the message's own.
  [[nodiscard]] bool is_own(refusal_count& message, handled::how what, bool probed,
                            bool of_database);

  /// Whether nothing succeeds: then one message is tried at a time.
  [[nodiscard]] bool stuck() const noexcept;
  /// How many messages may be taken beside these.
  [[nodiscard]] std::size_t room() const noexcept;
  void took() noexcept { one_more_ = false; }

 private:
  struct figures {
    std::uint64_t successes = 0;
    std::uint64_t cost = 0;  ///< The refusals that they had met.
  };
  [[nodiscard]] const figures& of(handled::how what) const noexcept {
    return what == handled::how::completed ? completions_ : all_;
  }
  [[nodiscard]] bool moved_on(const refusal_count& message, handled::how what) const noexcept {
    return of(what).successes > message.seen;
  }

  const std::size_t most_;
  const std::chrono::milliseconds patience_;
  std::vector<settlement> waiting_;
  std::size_t count_ = 0;
  figures completions_;
  figures all_;
  std::size_t refused_in_row_ = 0;
  moment next_probe_ = {};  ///< Nothing is tried before.
  backoff probe_pauses_{shortest_pause, longest_pause};
  bool one_more_ = false;  ///< One message may be taken beyond the bound.
};

}  // namespace tableq::inline v0::core
