#pragma once

#include <atomic>
#include <optional>

#include <tableq/schema.hpp>

#include "core/limits/answer_age.hpp"

namespace tableq::inline v0::core {

/// Whether the queue that handles were opened for still exists, as this process last saw it.
///
/// @par Thread safety
/// Shared objects: safe.
class queue_life {
 public:
  using clock = answer_age::clock;

  /// Whether the queue was seen in the database within the last second. False: the caller must
  /// query the catalogue.
  [[nodiscard]] bool confirmed() noexcept { return seen_.usable(); }
  /// The queue existed at this time, just before the query was sent.
  void confirm(clock::time_point asked) noexcept {
    if (!seen_.later_than(asked)) seen_.answered(asked);
  }
  /// The next caller asks.
  void forget() noexcept { seen_.forget(); }

  /// The queue was dropped; this is final.
  /// @param new_kind the kind of the queue that has the name now, if there is one.
  void end(std::optional<kind> new_kind) noexcept {
    ended_.store(new_kind ? static_cast<int>(*new_kind) : no_successor);
  }
  [[nodiscard]] bool ended() const noexcept { return ended_.load() != not_ended; }
  /// The kind of the queue that has the name of one that ended, if there is one.
  [[nodiscard]] std::optional<kind> successor() const noexcept {
    const int ended = ended_.load();
    return ended < 0 ? std::nullopt : std::optional(static_cast<kind>(ended));
  }

 private:
  static constexpr int not_ended = -2;
  static constexpr int no_successor = -1;

  answer_age seen_;
  std::atomic<int> ended_{not_ended};  // or no_successor, or the successor's kind
};

}  // namespace tableq::inline v0::core
