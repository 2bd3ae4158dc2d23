#pragma once

#include <chrono>
#include <cstddef>
#include <string_view>
#include <type_traits>

#include <tableq/observer.hpp>

namespace tableq::inline v0::core {

/// Calls `say(observer&)` if there is one, and swallows exceptions.
template <class Say>
void tell(observer* by, Say say) noexcept {
  if (by == nullptr) return;
  try {
    say(*by);
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
  observation(observer* by, const observed_operation& of) noexcept : by_(by), of_(of) {}

  /// @return what `work` returns.
  template <class Work>
  auto run(Work work) -> std::invoke_result_t<Work&> {
    if (by_ == nullptr) return work();
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
    } catch (...) {  // The observer is told, and the exception goes on unchanged.
      end({.failed = errc::internal});
      throw;
    }
  }

  /// The number of messages.
  void count(std::size_t messages) noexcept { messages_ = messages; }
  void retrying(const error& failure, int attempt, std::chrono::nanoseconds pause) const noexcept {
    tell(by_, [&](observer& to) {
      to.retrying(of_, {.failed = failure.code(), .attempt = attempt, .pause = pause});
    });
  }
  void leases_lost(std::size_t count) const noexcept {
    tell(by_, [&](observer& to) { to.leases_lost(of_, count); });
  }

 private:
  void begin() noexcept {
    begin_ = std::chrono::steady_clock::now();
    tell(by_, [this](observer& to) { to.before(of_); });
  }
  void end(operation_result result) noexcept {
    result.messages = result.failed ? 0 : messages_;
    result.duration = std::chrono::steady_clock::now() - begin_;
    tell(by_, [&](observer& to) { to.after(of_, result); });
  }

  observer* by_;
  const observed_operation& of_;
  std::chrono::steady_clock::time_point begin_;
  std::size_t messages_ = 0;
};

}  // namespace tableq::inline v0::core
