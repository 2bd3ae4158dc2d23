#include "core/worker/engine.hpp"

#include <atomic>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <system_error>
#include <utility>

#include "core/base/at_end.hpp"
#include "core/base/errors.hpp"
#include "core/input/validate.hpp"
#include "core/worker/call_handler.hpp"
#include "core/worker/keep_leases.hpp"
#include "core/worker/settle_messages.hpp"
#include "core/worker/take_messages.hpp"

namespace tableq::inline v0::core {
namespace {

/// While it lives, this thread runs code of one worker: a thread of the worker, or a handler in an
/// executor's thread. There it must not wait for the end of the worker.
class inside {
 public:
  explicit inside(const worker_engine& engine) noexcept
      : engine_(&engine), outer_(std::exchange(innermost(), this)) {}
  inside(const inside&) = delete;
  inside& operator=(const inside&) = delete;
  ~inside() { innermost() = outer_; }

  /// Whether the calling thread runs code of that worker.
  [[nodiscard]] static bool is_in(const worker_engine& engine) noexcept {
    const inside* one = innermost();
    while (one != nullptr && one->engine_ != &engine) one = one->outer_;
    return one != nullptr;
  }

 private:
  static const inside*& innermost() noexcept {
    thread_local const inside* scope = nullptr;
    return scope;
  }

  const worker_engine* engine_;
  const inside* outer_;  ///< An executor may run a task in a handler's thread.
};

}  // namespace

worker_engine::worker_engine(std::vector<worker_source> sources, worker_options options)
    : state_(std::move(sources), std::move(options)) {
  check_here();
  at_end begun([this]() noexcept { join_threads(); });
  try {
    start_threads();
  } catch (const std::system_error&) {  // The system has no more threads.
    throw error(
        errc::busy, advice::statement, "the system gives no more threads to the worker",
        {.backend = state_.queues().front()->state().database().name(), .operation = "work"});
  }
  begun.cancel();
}

void worker_engine::start_threads() {
  const std::size_t callers = state_.options().executor ? 1 : state_.options().threads;
  threads_.reserve(callers + 3 * state_.queues().size());
  const auto start = [this](auto work, auto end) {
    threads_.emplace_back([this, work, end] { run(work, end); });
  };
  // They begin when all are there.
  const std::scoped_lock hold(state_.mutex());
  for (const auto& one : state_.queues()) {
    worker_queue& queue = *one;
    start([this, &queue] { keep_leases(state_, queue); }, [] {});
    start([this, &queue] { settle_messages(state_, queue); },
          [this, &queue] {
            queue.settled_all = true;
            --state_.settlers;
          });
    start([this, &queue] { take_messages(state_, queue); },
          [this, &queue] {
            queue.takes = false;
            queue.taken_all = true;
            state_.give_back_waiting(queue);
          });
  }
  for (std::size_t i = 0; i < callers; ++i) {
    start([this] { state_.options().executor ? post_all() : handle_all(); },
          [this] { --state_.callers; });
  }
  state_.threads = threads_.size();
  state_.callers = callers;
  state_.settlers = state_.queues().size();
}

void worker_engine::run(const std::function<void()>& work,
                        const std::function<void()>& end) noexcept {
  const inside here_runs(*this);
  {
    const std::scoped_lock hold(state_.mutex());
    if (state_.has_ended()) return;  // Another thread could not be started.
  }
  try {
    work();
  } catch (...) {  // noexcept: the thread ends. `join` throws the exception again.
    const std::scoped_lock hold(state_.mutex());
    if (!state_.failure) state_.failure = std::current_exception();
  }
  // A handler forked, and this is its return in the child, which has only this thread.
  if (!here()) return;
  stop();
  bool last = false;
  {
    const std::scoped_lock hold(state_.mutex());
    const bool before = state_.has_ended();
    end();
    last = state_.has_ended() && !before;
    // The end of all takes lets the handlers end, and their end the settlements.
    state_.thread_ended();
  }
  try {
    if (last && state_.options().ended) state_.options().ended();
  } catch (...) {  // The callback is notified of the end, and changes nothing.
  }
}

void worker_engine::join_threads() {
  for (std::thread& one : threads_) {
    if (one.joinable()) one.join();
  }
}

worker_engine::~worker_engine() {
  abandon();
  if (late_) {
    // The messages are given back, or others take them after their leases. A thread that still
    // runs may wait for a frozen server.
    std::unique_lock lock(state_.mutex());
    const bool ended = state_.rest_of_threads(lock, longest_pause);
    lock.unlock();
    if (!ended) state_.give_up();
  }
  join_threads();
}

void worker_engine::check_here() const {
  for (const auto& one : state_.queues()) one->state().database().check_here();
}

bool worker_engine::stop_within(std::chrono::milliseconds longest) {
  stop();
  if (wait_for(longest)) return true;
  {
    const std::scoped_lock hold(state_.mutex());
    late_ = true;
    state_.give_back_running();
  }
  abandon();
  return false;
}

bool worker_engine::wait_for(std::chrono::milliseconds longest) {
  std::unique_lock lock(state_.mutex());
  return state_.rest(lock, longest);
}

void worker_engine::join() {
  if (inside::is_in(*this)) {
    named({}, "work", [] {
      refuse(
          "join was called in a handler or callback of the same worker, and would wait for itself "
          "for ever; call stop there, and join in another thread");
    });
  }
  join_threads();
  if (state_.failure) std::rethrow_exception(std::exchange(state_.failure, nullptr));
}

worker_counts worker_engine::counts() const {
  const std::scoped_lock hold(state_.mutex());
  worker_counts out;
  for (const auto& one : state_.queues()) {
    const worker_counts each = state_.counts(*one);
    out.completed += each.completed;
    out.failed += each.failed;
    out.given_back += each.given_back;
    out.settled_by_handler += each.settled_by_handler;
    out.lease_lost += each.lease_lost;
    out.unknown += each.unknown;
    out.held += each.held;
    out.running += each.running;
    out.put_aside += each.put_aside;
    out.kept += each.kept;
  }
  return out;
}

worker_counts worker_engine::counts(std::size_t source) const {
  if (source >= state_.queues().size()) {
    named({}, "work", [&] {
      refuse("the worker has " + std::to_string(state_.queues().size()) +
             " sources, counted from 0");
    });
  }
  const std::scoped_lock hold(state_.mutex());
  return state_.counts(*state_.queues()[source]);
}

void worker_engine::handle_all() {
  std::unique_lock lock(state_.mutex());
  for (;;) {
    const work_item one = state_.next(lock);
    if (one.queue == nullptr) return;
    lock.unlock();
    handler_result result = call(one);
    if (!here()) return;
    lock.lock();
    state_.returned(one, std::move(result));
  }
}

handler_result worker_engine::call(const work_item& one) noexcept {
  try {
    return call_handler(state_, one);
  } catch (const std::bad_alloc& failure) {
    if (here()) state_.report_trouble(*one.queue, failure.what());
  } catch (...) {  // The executor gets no exception of a task; join throws it.
    state_.end_with(std::current_exception());
  }
  return {.verdict = handled::give_back()};
}

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
    handler_result result = engine_.call(one_);
    if (engine_.here()) engine_.returned(one_, std::move(result), true);
  }

 private:
  worker_engine& engine_;
  const work_item one_;
  std::atomic<bool> begun_ = false;
};

void worker_engine::post_all() {
  backoff pauses(shortest_pause, longest_pause);
  for (;;) {
    work_item one;
    {
      std::unique_lock lock(state_.mutex());
      state_.to_post.wait(lock, [&] {
        const bool some_wait = state_.waiting() > 0;
        return dropped_ || (some_wait && posted_ < state_.options().threads) ||
               (!some_wait && posted_ == 0 && state_.nothing_comes());
      });
      if (std::exchange(has_run_, false)) pauses.reset();
      if (!std::exchange(dropped_, false)) {
        one = state_.pick();
        if (one.queue == nullptr) return;
        ++posted_;
      }
    }
    if (one.queue == nullptr) {
      tell("the executor destroyed a task that it had not run");
    } else if (post(one)) {
      continue;
    }
    state_.pause(pauses.pause(), true);
  }
}

void worker_engine::tell(std::string_view trouble, std::string_view more) const noexcept {
  const auto report = [&](std::string_view why) {
    state_.report({.what = worker_event::kind::trouble, .why = why});
  };
  try {
    report(std::string(trouble).append(more));
  } catch (const std::bad_alloc&) {
    report(trouble);
  }
}

bool worker_engine::post(const work_item& one) {
  std::shared_ptr<posted_task> task;
  try {
    // The executor's function may be copied, and the message has one handler.
    task = std::make_shared<posted_task>(*this, one);
    state_.options().executor([task] { task->run(); });
    return true;
  } catch (const std::exception& failure) {
    tell("the executor threw: ", failure.what());
  } catch (...) {  // An executor may throw anything.
    tell("the executor threw an object that is no std::exception");
  }
  if (task == nullptr) returned(one, {.verdict = handled::give_back()}, false);
  task.reset();  // It is gone, unless the executor has kept it.
  const std::scoped_lock hold(state_.mutex());
  dropped_ = false;
  return false;
}

void worker_engine::returned(const work_item& one, handler_result result, bool has_run) noexcept {
  const std::scoped_lock hold(state_.mutex());
  --posted_;
  has_run_ |= has_run;
  dropped_ |= !has_run;
  state_.returned(one, std::move(result));
  // Under the lock: the engine may be destroyed as soon as it is free.
  state_.to_post.notify_one();
}

}  // namespace tableq::inline v0::core
