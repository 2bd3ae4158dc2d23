#pragma once

#include <algorithm>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <tableq/export.hpp>
#include <tableq/fwd.hpp>

namespace tableq::inline v0 {

/// A handler's verdict on its message. A value: owns its text, and shares what kept_delivery has.
class handled {
 public:
  /// The kinds of verdict, as the functions below make them.
  enum class how { completed, failed, given_up, given_back, settled, kept };

  /// The work is done: the message is completed.
  static handled completed() { return {}; }
  /// The same, with a result of up to 64 KiB for claim_queue::wait_for. In a queue that cannot keep
  /// it, because it lacks keep_completed or has a layout before 3, and with a longer result, the
  /// message is dead, with the reason in its history.
  static handled completed(std::string result) {
    handled out;
    out.result_ = std::move(result);
    return out;
  }
  /// Failed: the message is ready again after the queue's retry_delays, or dead after its last
  /// attempt. A table of the application has retry_delays::usual(), or none without due_at.
  static handled failed(std::string why) { return {how::failed, std::move(why), {}}; }
  /// The same, but the message is ready again after `delay`, at most 3,650 days. A negative delay
  /// is zero. With a longer one the message fails as by `failed`, and its history records that; so
  /// does a row of a table whose mapping has no due_at.
  static handled retry_after(std::string why, std::chrono::milliseconds delay) {
    return {how::failed, std::move(why), std::max(delay, std::chrono::milliseconds{0})};
  }
  /// Failed finally: the message is dead at once, even with attempts left.
  static handled give_up(std::string why) { return {how::given_up, std::move(why), {}}; }
  /// No attempt: the message is ready again at once, and the attempt is not counted.
  static handled give_back() { return {how::given_back, {}, {}}; }
  /// The handler settled the message itself, for instance in one transaction with its work. The
  /// worker sends nothing. If the handler did not settle it, the message comes again after its
  /// lease, and the attempt counts.
  static handled settled() { return {how::settled, {}, {}}; }
  /// Not yet: the worker keeps the message and extends its lease until `by`, or a copy, ends it
  /// from any thread. It takes no handler's thread; worker_options::max_kept bounds such messages.
  /// In `drain`, which keeps nothing, the message fails, and so it does in a handler with a
  /// transaction, which ends when the handler returns.
  ///
  /// The work may also settle it by the queue, as in one transaction with its results, and call
  /// `kept_delivery::settled`. Without that call the worker notices it at the next extension of the
  /// lease; any other call is then reported as lease_lost. The handler's stop token tells, also
  /// after its return, that the lease is lost.
  TABLEQ_EXPORT static handled kept(const kept_delivery& by);

  /// The kind of verdict.
  [[nodiscard]] how what() const noexcept { return what_; }
  /// Stored in the message's history, cut at 2,000 bytes and converted to UTF-8.
  [[nodiscard]] const std::string& why() const noexcept { return why_; }
  /// Empty: the queue's retry_delays.
  [[nodiscard]] std::optional<std::chrono::milliseconds> delay() const noexcept { return delay_; }
  /// Of how::completed. Empty: none.
  [[nodiscard]] const std::optional<std::string>& result() const noexcept { return result_; }

 private:
  friend class core::access;

  handled() = default;
  handled(how what, std::string why, std::optional<std::chrono::milliseconds> delay)
      : what_(what), why_(std::move(why)), delay_(delay) {}

  how what_ = how::completed;
  std::string why_;
  std::optional<std::chrono::milliseconds> delay_;
  std::optional<std::string> result_;
  std::shared_ptr<core::kept_state> keeper_;  // of how::kept
};

}  // namespace tableq::inline v0
