#pragma once

/// @file
/// A read that may wait. For `tableq/asio.hpp`.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <tableq/asio/call.hpp>

namespace tableq::inline v0::async_detail {

/// A read, whatever it reads.
class reader {
 public:
  reader() = default;
  reader(const reader&) = delete;
  reader& operator=(const reader&) = delete;
  virtual ~reader() = default;

  /// False: it has ended.
  virtual bool begin() = 0;
  /// After `begin`: reads once without waiting. @return how many messages; 0: it may wait again.
  virtual std::size_t read() = 0;
  /// Ends it with a failure, if it waits.
  virtual void abort(asio_error failure) = 0;
  /// True: it waits for messages, and has no end of its own before.
  [[nodiscard]] virtual bool waits() const = 0;
};

/// A read of messages into `Result`, a vector or an optional.
///
/// Shared by the line of its queue, the pool and the timer.
template <class Executor, class Result>
class reader_of final : public reader,
                        public std::enable_shared_from_this<reader_of<Executor, Result>> {
 public:
  /// @param wait empty: without limit.
  /// @param give_back undoes a read whose call was cancelled; empty: its result is told.
  reader_of(std::shared_ptr<call<Result>> to, const Executor& executor,
            std::optional<std::chrono::milliseconds> wait, std::function<Result()> read,
            std::function<void(const Result&)> give_back)
      : to_(std::move(to)),
        timer_(executor),
        wait_(wait),
        read_(std::move(read)),
        give_back_(std::move(give_back)) {}

  bool begin() override { return to_->begin(); }
  [[nodiscard]] bool waits() const override { return waits_; }

  std::size_t read() override {
    Result found{};
    asio_error failure;
    try {
      found = read_();
    } catch (...) {  // as a code for the handler
      failure = current_asio_error();
    }
    const std::size_t count = count_of(found);
    if (failure || count > 0) {
      if (to_->end()) {
        finish(failure, std::move(found));
      } else if (to_->withdraw()) {
        withdraw(failure, std::move(found), count);
      }
      return count;
    }
    rest();
    return 0;
  }

  void abort(asio_error failure) override {
    if (to_->drop()) finish(failure, Result{});
  }

 private:
  static std::size_t count_of(const Result& found) {
    if constexpr (requires { found.size(); }) {
      return found.size();
    } else {
      return found ? 1 : 0;
    }
  }

  void withdraw(asio_error failure, Result found, std::size_t count) {
    if (count > 0 && !give_back_) return finish(failure, std::move(found));
    if (count > 0) {
      try {
        give_back_(found);
      } catch (...) {  // the leases end by themselves
      }
    }
    finish(net::error::operation_aborted, Result{});
  }

  /// Nothing was found: waits on, or ends.
  void rest() {
    const auto now = std::chrono::steady_clock::now();
    if (!waits_ && wait_) end_ = now + *wait_;
    if (end_ && now >= *end_) {
      if (to_->end() || to_->withdraw()) finish({}, Result{});
      return;
    }
    // Before `pause`: afterwards another thread may end it.
    if (!waits_ && end_) {
      timer_.expires_at(*end_);
      timer_.async_wait([weak = this->weak_from_this()](const asio_error& failure) {
        const auto live = weak.lock();
        if (!failure && live && live->to_->drop()) live->finish({}, Result{});
      });
    }
    waits_ = true;
    if (!to_->pause() && to_->withdraw()) finish(net::error::operation_aborted, Result{});
  }

  /// By the one that has ended the call.
  void finish(asio_error failure, Result found) {
    timer_.cancel();
    to_->tell(failure, std::move(found));
  }

  std::shared_ptr<call<Result>> to_;
  net::basic_waitable_timer<std::chrono::steady_clock, net::wait_traits<std::chrono::steady_clock>,
                            Executor>
      timer_;
  std::optional<std::chrono::milliseconds> wait_;
  std::optional<std::chrono::steady_clock::time_point> end_;
  bool waits_ = false;
  std::function<Result()> read_;
  std::function<void(const Result&)> give_back_;
};

}  // namespace tableq::inline v0::async_detail
