#pragma once

#include <coroutine>
#include <exception>
#include <string>
#include <utility>

#include "locks/lock_table.hpp"

namespace tableq_test::locks {

/// What a statement asks for next. Between two requests nothing else happens: each is a point at
/// which the search may go on with another transaction.
struct lock_request {
  std::string resource = {};  ///< Empty: nothing to wait for.
  lock_mode mode = {};
  bool conditional = false;  ///< READPAST: refused instead of waiting.
  bool instant = false;      ///< Tested, not kept.
  bool granted = false;
  lock_mode before = {};  ///< What was held before it was granted.
};

/// A coroutine that yields requests.
///
///     for (auto part = read(line); part.next();) co_yield part.request();
class steps {
 public:
  struct promise_type {
    lock_request* asked = nullptr;
    std::exception_ptr failure = {};

    steps get_return_object() {
      return steps(std::coroutine_handle<promise_type>::from_promise(*this));
    }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(lock_request& request) noexcept {
      asked = &request;
      return {};
    }
    void return_void() noexcept {}
    void unhandled_exception() { failure = std::current_exception(); }
  };

  explicit steps(std::coroutine_handle<promise_type> of) : of_(of) {}
  steps(steps&& other) noexcept : of_(std::exchange(other.of_, {})) {}
  steps& operator=(steps&&) = delete;
  ~steps() {
    if (of_) of_.destroy();
  }

  /// Runs to the next request. @return false at the end.
  bool next() {
    of_.resume();
    if (of_.promise().failure) std::rethrow_exception(of_.promise().failure);
    return !of_.done();
  }
  [[nodiscard]] lock_request& request() const { return *of_.promise().asked; }

 private:
  std::coroutine_handle<promise_type> of_;
};

}  // namespace tableq_test::locks
