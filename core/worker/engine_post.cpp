// The part of a worker_engine that lets an executor of the application run the handlers.

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "core/worker/engine.hpp"

namespace tableq::inline v0::core {

/// One message as the executor gets it: its handler runs at most once. If the task is destroyed
/// before it ran, the message is given back.
class worker_engine::posted_task {
 public:
  posted_task(worker_engine& engine, held message)
      : engine_(engine), message_(std::move(message)) {}
  posted_task(const posted_task&) = delete;
  posted_task& operator=(const posted_task&) = delete;
  ~posted_task() {
    if (begun_.exchange(true) || !engine_.here()) return;
    engine_.returned(message_, {.verdict = handled::give_back()}, false);
  }

  void run() noexcept {
    if (begun_.exchange(true) || !engine_.here()) return;
    handler_result result{.verdict = handled::give_back()};
    try {
      result = engine_.call_handler(message_);
    } catch (...) {  // The executor gets no exception of a task; join throws it.
      engine_.end_with(std::current_exception());
    }
    if (engine_.here()) engine_.returned(message_, std::move(result), true);
  }

 private:
  worker_engine& engine_;
  const held message_;
  std::atomic<bool> begun_ = false;
};

void worker_engine::post_all() {
  backoff pauses(shortest_pause, longest_pause);
  for (;;) {
    held one;
    bool dropped = false;
    {
      std::unique_lock lock(mutex_);
      to_post_.wait(lock, [&] {
        return dropped_ || (held_.waiting() > 0 && posted_ < options_.threads) ||
               (!taking_ && held_.waiting() == 0 && posted_ == 0);
      });
      dropped = std::exchange(dropped_, false);
      if (std::exchange(has_run_, false)) pauses.reset();
      if (!dropped) {
        one = held_.next();
        if (one == nullptr) return;
        ++posted_;
        if (abandon_.stop_requested()) one->stop.request_stop();
      }
    }
    if (dropped) {
      trouble("the executor destroyed a task that it had not run", pauses, true);
    } else {
      post(one, pauses);
    }
  }
}

void worker_engine::post(const held& one, backoff& pauses) {
  std::string why = "the executor threw an object that is no std::exception";
  try {
    // The executor's function may be copied, and the message has one handler.
    options_.executor([task = std::make_shared<posted_task>(*this, one)] { task->run(); });
    return;
  } catch (const std::exception& failure) {
    why = std::string("the executor threw: ") + failure.what();
  } catch (...) {  // An executor may throw anything.
  }
  {
    // The task is gone, unless the executor has kept it.
    const std::scoped_lock hold(mutex_);
    dropped_ = false;
  }
  trouble(why.c_str(), pauses, true);
}

void worker_engine::returned(const held& one, handler_result result, bool has_run) noexcept {
  const std::scoped_lock hold(mutex_);
  try {
    held_.finished(one, std::move(result));
  } catch (...) {  // A lack of memory: the message is ready again after its lease.
    if (!failure_) failure_ = std::current_exception();
    stop_.request_stop();
  }
  --posted_;
  has_run_ |= has_run;
  dropped_ |= !has_run;
  // Under the lock: the engine may be destroyed as soon as it is free.
  wake_settler();
  wake_taker();
  to_post_.notify_one();
}

}  // namespace tableq::inline v0::core
