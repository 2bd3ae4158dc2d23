#pragma once

#include <chrono>
#include <cstddef>
#include <type_traits>

#include <tableq/observer.hpp>

namespace tableq::inline v0::core {

/// Calls `call(observer&)` if there is an observer, and ignores its exceptions.
template <class Call>
void notify_observer(observer* sink, Call call) noexcept {
  if (sink == nullptr) return;
  try {
    call(*sink);
  } catch (...) {  // An observer must not change what it observes.
    return;
  }
}

/// One operation while it runs. Without an observer it costs a test of a null pointer.
///
/// Borrows the observer and the text of the operation's views.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class observation {
 public:
  observation(observer* sink, const observed_operation& operation) noexcept
      : sink_(sink), operation_(operation) {}

  /// @return what `work` returns.
  template <class Work>
  auto run(Work work) -> std::invoke_result_t<Work&> {
    if (sink_ == nullptr) return work();
    begin();
    try {
      if constexpr (std::is_void_v<std::invoke_result_t<Work&>>) {
        work();
        end({});
      } else {
        auto result = work();
        end({});
        return result;
      }
    } catch (const error& failure) {
      end({.failed = failure.code(), .error = &failure});
      throw;
    } catch (...) {  // The observer is notified; the exception continues unchanged.
      end({.failed = errc::internal});
      throw;
    }
  }

  /// The number of messages.
  void count(std::size_t messages) noexcept { messages_ = messages; }
  void retrying(const error& failure, int attempt, std::chrono::nanoseconds pause) const noexcept {
    notify_observer(sink_, [&](observer& sink) {
      sink.retrying(operation_, {.failed = failure.code(), .attempt = attempt, .pause = pause});
    });
  }
  void leases_lost(std::size_t count) const noexcept {
    notify_observer(sink_, [&](observer& sink) { sink.leases_lost(operation_, count); });
  }

 private:
  void begin() noexcept {
    begin_ = std::chrono::steady_clock::now();
    notify_observer(sink_, [this](observer& sink) { sink.before(operation_); });
  }
  void end(operation_result result) noexcept {
    result.messages = result.failed ? 0 : messages_;
    result.duration = std::chrono::steady_clock::now() - begin_;
    notify_observer(sink_, [&](observer& sink) { sink.after(operation_, result); });
  }

  observer* sink_;
  const observed_operation& operation_;
  std::chrono::steady_clock::time_point begin_;
  std::size_t messages_ = 0;
};

}  // namespace tableq::inline v0::core
