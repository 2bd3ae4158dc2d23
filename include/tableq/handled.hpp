#pragma once

#include <algorithm>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

namespace tableq::inline v0 {

/// A handler's verdict on its message. A value.
class handled {
 public:
  enum class how { completed, failed, given_up, given_back, settled };

  /// The work is done: the message is completed.
  static handled completed() { return {}; }
  /// Failed: the message is taken again when the queue's retry_delays say so, or is dead after its
  /// last attempt.
  static handled failed(std::string why) { return {how::failed, std::move(why), {}}; }
  /// The same, but the message may be taken again after `delay`: at most 3,650 days; a negative
  /// one, for a time that has passed, is zero. With a longer one the message fails as by `failed`,
  /// and its history says so.
  static handled retry_after(std::string why, std::chrono::milliseconds delay) {
    return {how::failed, std::move(why), std::max(delay, std::chrono::milliseconds{0})};
  }
  /// Failed for good: the message is dead at once, whatever attempts are left.
  static handled give_up(std::string why) { return {how::given_up, std::move(why), {}}; }
  /// Not tried: the message is ready again at once, the attempt not counted.
  static handled give_back() { return {how::given_back, {}, {}}; }
  /// The handler settled the message itself, for instance in one transaction with its work. The
  /// worker sends nothing. If the handler did not settle it, the message comes again after its
  /// lease, and the attempt counts.
  static handled settled() { return {how::settled, {}, {}}; }

  /// Which of these it is.
  [[nodiscard]] how what() const noexcept { return what_; }
  /// Kept in the message's history: cut at 2,000 bytes, made UTF-8.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// Empty: as the queue says.
  [[nodiscard]] std::optional<std::chrono::milliseconds> delay() const noexcept { return delay_; }

 private:
  handled() = default;
  handled(how what, std::string why, std::optional<std::chrono::milliseconds> delay)
      : what_(what), why_(std::move(why)), delay_(delay) {}

  how what_ = how::completed;
  std::string why_;
  std::optional<std::chrono::milliseconds> delay_;
};

}  // namespace tableq::inline v0
