#include "core/worker/engine.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "core/claim/operations.hpp"
#include "core/database/access.hpp"
#include "core/observe/observation.hpp"
#include "core/queue/operation.hpp"
#include "core/queue/queue_state.hpp"
#include "core/worker/verdict.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;

}  // namespace

worker_engine::worker_engine(claim_queue queue, handler work, worker_options options)
    : queue_(std::move(queue)),
      work_(std::move(work)),
      options_(std::move(options)),
      lease_(options_.lease.value_or(queue_.lease())),
      prefetch_(options_.prefetch.value_or(options_.threads)) {
  check_here();
  const bool posts = static_cast<bool>(options_.executor);
  const std::size_t callers = posts ? 1 : options_.threads;
  producers_ = callers + 1;
  threads_.reserve(callers + 3);
  try {
    threads_.emplace_back([this] { run(&worker_engine::keep_all); });
    threads_.emplace_back([this] { run(&worker_engine::settle_all); });
    threads_.emplace_back([this] { run(&worker_engine::take_all); });
    for (std::size_t i = 0; i < callers; ++i) {
      threads_.emplace_back(
          [this, posts] { run(posts ? &worker_engine::post_all : &worker_engine::handle_all); });
    }
  } catch (const std::system_error&) {  // The system has no more threads.
    stop();
    {
      const std::scoped_lock hold(mutex_);
      // Threads that were not started will not end; the order is that of the starts above.
      const std::size_t started = threads_.size() < 2 ? 0 : threads_.size() - 2;
      producers_ -= callers + 1 - started;
      if (threads_.size() < 2) ended_ = true;
      if (threads_.size() < 3) taking_ = false;
      idle_.wake_all();
      to_post_.notify_all();
      to_settle_.notify_all();
    }
    changed_.notify_all();
    for (std::thread& one : threads_) one.join();
    throw error(errc::busy, advice::statement, "the system gives no more threads to the worker",
                {.backend = backend_of(queue_), .operation = "work"});
  }
}

const std::string& worker_engine::backend_of(const claim_queue& queue) noexcept {
  return access::state_of(queue).database().name();
}

worker_engine::~worker_engine() {
  abandon();
  for (std::thread& one : threads_) {
    if (one.joinable()) one.join();
  }
}

bool worker_engine::here() const noexcept {
  return access::state_of(queue_).here();
}

void worker_engine::check_here() const {
  access::state_of(queue_).database().check_here();
}

void worker_engine::stop() noexcept {
  stop_.request_stop();
  const std::scoped_lock hold(mutex_);
  changed_.notify_all();
}

void worker_engine::abandon() noexcept {
  stop();
  abandon_.request_stop();
  const std::scoped_lock hold(mutex_);
  for (const held& one : held_.running()) one->stop.request_stop();
  changed_.notify_all();
}

void worker_engine::release_running() {
  const std::scoped_lock hold(mutex_);
  for (const held& one : held_.running()) {
    if (one->lost || one->released) continue;
    one->released = true;
    held_.settle_later({one, {.verdict = handled::give_back()}});
  }
  wake_settler();
}

bool worker_engine::wait_for(milliseconds longest) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, longest, [this] { return ended_; });
}

void worker_engine::join() {
  for (std::thread& one : threads_) {
    if (one.joinable()) one.join();
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

worker_counts worker_engine::counts() const {
  const std::scoped_lock hold(mutex_);
  worker_counts out = counts_;
  out.running = held_.running_count();
  return out;
}

void worker_engine::run(void (worker_engine::*part)()) noexcept {
  try {
    (this->*part)();
  } catch (...) {  // noexcept: the thread ends. `join` throws the exception again.
    const std::scoped_lock hold(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  // A handler forked, and this is its return in the child, which has only this thread.
  if (part == &worker_engine::keep_all || !here()) return;
  if (part == &worker_engine::settle_all) {
    stop();
    {
      const std::scoped_lock hold(mutex_);
      ended_ = true;
      changed_.notify_all();
    }
    try {
      if (options_.ended) options_.ended();
    } catch (...) {  // The callback is notified of the end, and changes nothing.
    }
    return;
  }
  if (part == &worker_engine::take_all) {
    stop();
    std::vector<held> untried;
    {
      std::unique_lock lock(mutex_);
      takes_ = false;
      to_take_.wait(lock, [this] { return !joint_; });
      taking_ = false;
      untried = held_.take_waiting();
      idle_.wake_all();
      to_post_.notify_all();
    }
    give_back(std::move(untried));
  }
  const std::scoped_lock hold(mutex_);
  --producers_;
  wake_settler();
  to_post_.notify_all();
}

held worker_engine::next(std::unique_lock<std::mutex>& lock) {
  while (held_.waiting() == 0 && taking_) idle_.wait(lock);
  held one = held_.next();
  idle_.wake(held_.waiting());
  if (one != nullptr && abandon_.stop_requested()) one->stop.request_stop();
  return one;
}

void worker_engine::handle_all() {
  std::unique_lock lock(mutex_);
  while (const held one = next(lock)) {
    lock.unlock();
    handler_result result = call_handler(one);
    if (!here()) return;
    lock.lock();
    held_.finished(one, std::move(result));
    wake_settler();
    wake_taker();
  }
}

handler_result worker_engine::call_handler(const held& one) {
  backoff pauses(shortest_pause, longest_pause);
  for (;;) {
    {
      const std::scoped_lock hold(mutex_);
      if (one->lost || stop_.stop_requested()) return {.verdict = handled::give_back()};
    }
    try {
      return handle(work_, queue_, one->delivery, one->stop.get_token(), options_.retry_delay);
    } catch (const error& failure) {
      if (!here()) return {.verdict = handled::give_back()};
      if (failure.code() == errc::outcome_unknown || !passing(failure)) {
        if (failure.code() != errc::outcome_unknown) end_with(std::current_exception());
        return {.verdict = handled::completed(),
                .ended = worker_event::kind::unknown,
                .why = failure.what()};
      }
      trouble(failure.what(), pauses, true);
    } catch (const std::exception& failure) {  // Usually a lack of memory.
      trouble(failure.what(), pauses, true);
    }
  }
}

void worker_engine::end_with(std::exception_ptr failure) noexcept {
  stop();
  const std::scoped_lock hold(mutex_);
  if (!failure_) failure_ = std::move(failure);
}

void worker_engine::give_back(std::vector<held> untried) {
  const std::scoped_lock hold(mutex_);
  for (held& one : untried) held_.settle_later({std::move(one), {.verdict = handled::give_back()}});
  wake_settler();
}

void worker_engine::pause(milliseconds length, bool until_stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, until_stop ? stop_.get_token() : abandon_.get_token(), length,
                    [] { return false; });
}

bool worker_engine::passing(const error& failure) noexcept {
  switch (failure.code()) {
    case errc::busy:
    case errc::conflict:
    case errc::cancelled:
    case errc::connection_lost:
    case errc::connection_failed:
    case errc::storage_full:
    case errc::read_only:
      return true;
    default:
      return false;
  }
}

void worker_engine::trouble(const char* why, backoff& pauses, bool until_stop) {
  report({.what = worker_event::kind::trouble, .why = why});
  pause(pauses.pause(), until_stop);
}

void worker_engine::report(worker_event::kind what, const held_message& message,
                           std::string_view why) const {
  const message_id id = message.delivery.receipt.id;
  const int attempt = message.delivery.attempt;
  database_state& database = access::state_of(queue_).database();
  core::notify_observer(database.watching(), [&](observer& sink) {
    sink.handled({.backend = database.name(),
                  .queue = queue_.name(),
                  .id = id,
                  .attempt = attempt,
                  .what = what});
  });
  report({.what = what, .id = id, .attempt = attempt, .why = why});
}

void worker_engine::report(const worker_event& event) const noexcept {
  if (!options_.observe) return;
  try {
    options_.observe(event);
  } catch (...) {  // An observer must not change what it observes.
  }
}

}  // namespace tableq::inline v0::core
