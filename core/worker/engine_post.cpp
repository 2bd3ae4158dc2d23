// The part of a worker_engine that lets an executor of the application run the handlers.

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <utility>

#include "core/worker/engine.hpp"
#include "core/worker/inside.hpp"

namespace tableq::inline v0::core {

/// One message as the executor gets it: its handler runs at most once. If the task is destroyed
/// before it ran, the message is given back.
class worker_engine::posted_task {
 public:
  posted_task(worker_engine& engine, work_item one) : engine_(engine), one_(std::move(one)) {}
  posted_task(const posted_task&) = delete;
  posted_task& operator=(const posted_task&) = delete;
  ~posted_task() {
    if (begun_.exchange(true) || !engine_.here()) return;
    engine_.returned(one_, {.verdict = handled::give_back()}, false);
  }

  void run() noexcept {
    if (begun_.exchange(true) || !engine_.here()) return;
    const inside here_runs(engine_);
    handler_result result{.verdict = handled::give_back()};
    try {
      result = one_.feed->call_handler(one_.message);
    } catch (...) {  // The executor gets no exception of a task; join throws it.
      engine_.end_with(std::current_exception());
    }
    if (engine_.here()) engine_.returned(one_, std::move(result), true);
  }

 private:
  worker_engine& engine_;
  const work_item one_;
  std::atomic<bool> begun_ = false;
};

void worker_engine::trouble(const char* why, backoff& pauses) {
  report({.what = worker_event::kind::trouble, .why = why});
  pause(pauses.pause(), true);
}

void worker_engine::post_all() {
  backoff pauses(shortest_pause, longest_pause);
  for (;;) {
    work_item one;
    bool dropped = false;
    {
      std::unique_lock lock(mutex_);
      to_post_.wait(lock, [&] {
        const bool some_wait = waiting() > 0;
        return dropped_ || (some_wait && posted_ < options_.threads) ||
               (!some_wait && posted_ == 0 && nothing_comes());
      });
      dropped = std::exchange(dropped_, false);
      if (std::exchange(has_run_, false)) pauses.reset();
      if (!dropped) {
        one = pick();
        if (one.feed == nullptr) return;
        ++posted_;
      }
    }
    if (dropped) {
      trouble("the executor destroyed a task that it had not run", pauses);
    } else {
      post(one, pauses);
    }
  }
}

void worker_engine::post(const work_item& one, backoff& pauses) {
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
  trouble(why.c_str(), pauses);
}

void worker_engine::returned(const work_item& one, handler_result result, bool has_run) noexcept {
  const std::scoped_lock hold(mutex_);
  try {
    one.feed->finished(one.message, std::move(result));
  } catch (...) {  // A lack of memory: the message is ready again after its lease.
    if (!failure_) failure_ = std::current_exception();
    stop_.request_stop();
  }
  --running_;
  --posted_;
  has_run_ |= has_run;
  dropped_ |= !has_run;
  // Under the lock: the engine may be destroyed as soon as it is free.
  wake_takers();
  to_post_.notify_one();
}

}  // namespace tableq::inline v0::core
