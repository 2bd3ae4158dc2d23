#include "core/worker/engine.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "core/base/errors.hpp"
#include "core/database/access.hpp"
#include "core/input/validate.hpp"
#include "core/queue/queue_state.hpp"
#include "core/worker/inside.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;

/// A hundred years: a longer time would overflow the clock, and end at once.
constexpr milliseconds longest_rest = std::chrono::hours{24 * 365 * 100};

}  // namespace

worker_engine::worker_engine(std::vector<worker_source> sources, worker_options options)
    : options_(std::move(options)), prefetch_(options_.prefetch.value_or(options_.threads)) {
  feeds_.reserve(sources.size());
  for (worker_source& one : sources) {
    turns_.add(one.weight, one.precedence);
    feeds_.push_back(std::make_unique<worker_feed>(*this, std::move(one), feeds_.size()));
  }
  check_here();
  try {
    start_threads();
  } catch (const std::system_error&) {  // The system has no more threads.
    start_failed();
    throw error(errc::busy, advice::statement, "the system gives no more threads to the worker",
                {.backend = backend_of(feeds_.front()->queue()), .operation = "work"});
  }
}

void worker_engine::start_threads() {
  const std::size_t callers = options_.executor ? 1 : options_.threads;
  threads_.reserve(callers + 3 * feeds_.size());
  const auto start = [this](part what, worker_feed* feed) {
    threads_.emplace_back([this, what, feed] { run(what, feed); });
  };
  // Takes begin last: until then no other thread ends.
  for (const auto& feed : feeds_) start(part::keep, feed.get());
  for (const auto& feed : feeds_) {
    const std::scoped_lock hold(mutex_);
    start(part::settle, feed.get());
    ++settlers_;
  }
  for (std::size_t i = 0; i < callers; ++i) {
    const std::scoped_lock hold(mutex_);
    start(part::call, nullptr);
    ++callers_;
  }
  for (const auto& feed : feeds_) start(part::take, feed.get());
}

void worker_engine::start_failed() noexcept {
  abandon();
  {
    const std::scoped_lock hold(mutex_);
    has_started_ = false;
    const std::size_t others = feeds_.size() + settlers_ + callers_;
    for (std::size_t i = 0; i < feeds_.size(); ++i) {
      if (others + i >= threads_.size()) feeds_[i]->never_takes();
      feeds_[i]->wake_settler();
    }
    if (settlers_ == 0) ended_ = true;
    idle_.wake_all();
    to_post_.notify_all();
  }
  changed_.notify_all();
  for (std::thread& one : threads_) one.join();
  for (const auto& feed : feeds_) feed->close_gate();
}

const std::string& worker_engine::backend_of(const claim_queue& queue) noexcept {
  return access::state_of(queue).database().name();
}

worker_engine::~worker_engine() {
  abandon();
  for (std::thread& one : threads_) {
    if (one.joinable()) one.join();
  }
  for (const auto& feed : feeds_) feed->close_gate();
}

bool worker_engine::here() const noexcept {
  return feeds_.front()->here();
}

void worker_engine::check_here() const {
  for (const auto& feed : feeds_) access::state_of(feed->queue()).database().check_here();
}

void worker_engine::stop() noexcept {
  stop_.request_stop();
  const std::scoped_lock hold(mutex_);
  changed_.notify_all();
}

void worker_engine::abandon() noexcept {
  stop();
  abandon_.request_stop();
  std::vector<held> handled;
  {
    const std::scoped_lock hold(mutex_);
    for (const auto& feed : feeds_) {
      feed->add_handled(handled);
      feed->give_back_kept();
    }
    changed_.notify_all();
  }
  for (const held& one : handled) one->stop.request_stop();
}

void worker_engine::release_running() {
  const std::scoped_lock hold(mutex_);
  for (const auto& feed : feeds_) feed->release_running();
}

bool worker_engine::wait_for(milliseconds longest) {
  std::unique_lock lock(mutex_);
  return rest(lock, longest);
}

bool worker_engine::rest(std::unique_lock<std::mutex>& lock, milliseconds length) {
  return changed_.wait_for(lock, std::clamp(length, milliseconds{0}, longest_rest),
                           [this] { return ended_; });
}

void worker_engine::join() {
  if (inside::is_in(*this)) {
    named({}, "work", [] {
      refuse(
          "join was called in a handler or callback of the same worker, and would wait for itself "
          "for ever; call stop there, and join in another thread");
    });
  }
  for (std::thread& one : threads_) {
    if (one.joinable()) one.join();
  }
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

worker_counts worker_engine::counts() const {
  const std::scoped_lock hold(mutex_);
  worker_counts out;
  for (const auto& feed : feeds_) {
    const worker_counts& each = feed->counts();
    out.completed += each.completed;
    out.failed += each.failed;
    out.given_back += each.given_back;
    out.settled_by_handler += each.settled_by_handler;
    out.lease_lost += each.lease_lost;
    out.unknown += each.unknown;
    out.held += feed->held_count();
    out.put_aside += feed->aside_count();
    out.kept += feed->kept_count();
  }
  out.running = running_;
  return out;
}

worker_counts worker_engine::counts(std::size_t source) const {
  if (source >= feeds_.size()) {
    named({}, "work", [&] {
      refuse("the worker has " + std::to_string(feeds_.size()) + " sources, counted from 0");
    });
  }
  const std::scoped_lock hold(mutex_);
  worker_counts out = feeds_[source]->counts();
  out.running = feeds_[source]->running();
  out.held = feeds_[source]->held_count();
  out.put_aside = feeds_[source]->aside_count();
  out.kept = feeds_[source]->kept_count();
  return out;
}

void worker_engine::do_part(part what, worker_feed* feed) {
  switch (what) {
    case part::take:
      return feed->take_all();
    case part::settle:
      return feed->settle_all();
    case part::keep:
      return feed->keep_all();
    case part::call:
      return options_.executor ? post_all() : handle_all();
  }
}

void worker_engine::run(part what, worker_feed* feed) noexcept {
  const inside here_runs(*this);
  try {
    do_part(what, feed);
  } catch (...) {  // noexcept: the thread ends. `join` throws the exception again.
    const std::scoped_lock hold(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  // A handler forked, and this is its return in the child, which has only this thread.
  if (what == part::keep || !here()) return;
  stop();
  if (what == part::settle) return feed_has_settled();
  if (what == part::take) feed->end_take();
  const std::scoped_lock hold(mutex_);
  if (what == part::call) --callers_;
  // The end of all feeds lets the handlers end, and their end the settlements.
  idle_.wake_all();
  to_post_.notify_all();
  for (const auto& one : feeds_) one->wake_settler();
}

void worker_engine::feed_has_settled() noexcept {
  bool tell = false;
  {
    const std::scoped_lock hold(mutex_);
    ended_ = --settlers_ == 0;
    tell = ended_ && has_started_;
    if (ended_) changed_.notify_all();
  }
  try {
    if (tell && options_.ended) options_.ended();
  } catch (...) {  // The callback is notified of the end, and changes nothing.
  }
}

std::size_t worker_engine::waiting() const {
  std::size_t out = 0;
  for (const auto& feed : feeds_) out += feed->waiting();
  return out;
}

bool worker_engine::nothing_comes() const {
  return std::none_of(feeds_.begin(), feeds_.end(),
                      [](const auto& feed) { return feed->taking(); });
}

bool worker_engine::is_behind_others(int precedence) const {
  return turns_.ranked() && std::any_of(feeds_.begin(), feeds_.end(), [&](const auto& feed) {
           return feed->precedence() > precedence && feed->has_waiting();
         });
}

bool worker_engine::holds_some() const {
  return std::any_of(feeds_.begin(), feeds_.end(),
                     [](const auto& feed) { return feed->held_count() > 0; });
}

bool worker_engine::all_empty() const {
  return std::all_of(feeds_.begin(), feeds_.end(),
                     [this](const auto& feed) { return feed->empty_at() == finds_; });
}

worker_engine::work_item worker_engine::pick() {
  const auto turn = turns_.next([this](std::size_t feed) { return feeds_[feed]->has_waiting(); });
  if (!turn) return {};
  work_item one{feeds_[*turn].get(), feeds_[*turn]->next()};
  ++running_;
  if (abandon_.stop_requested()) one.message->stop.request_stop();
  if (turns_.ranked()) {
    wake_takers();  // Feeds of lower precedence may take again.
  } else if (has_several()) {
    one.feed->wake_taker();  // For a message at hand when the next handler is free.
  }
  return one;
}

worker_engine::work_item worker_engine::next(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    work_item one = pick();
    if (one.feed != nullptr) {
      idle_.wake(waiting());
      return one;
    }
    if (nothing_comes()) return {};
    idle_.wait(lock);
  }
}

void worker_engine::handle_all() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const work_item one = next(lock);
    if (one.feed == nullptr) return;
    lock.unlock();
    handler_result result = one.feed->call_handler(one.message);
    if (!here()) return;
    lock.lock();
    --running_;
    one.feed->finished(one.message, std::move(result));
    wake_takers();
  }
}

void worker_engine::found(std::size_t feed, bool first) {
  ++finds_;
  if (first) turns_.filled(feed);
  wake_handlers();
}

void worker_engine::wake_handlers() {
  idle_.wake(waiting());
  to_post_.notify_one();
}

void worker_engine::wake_takers() {
  for (const auto& feed : feeds_) feed->wake_taker();
}

void worker_engine::ran_dry() {
  if (holds_some()) return;
  for (const auto& feed : feeds_) feed->ran_dry();
}

void worker_engine::end_with(std::exception_ptr failure) noexcept {
  stop();
  const std::scoped_lock hold(mutex_);
  if (!failure_) failure_ = std::move(failure);
}

void worker_engine::pause(milliseconds length, bool until_stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, until_stop ? stop_.get_token() : abandon_.get_token(), length,
                    [] { return false; });
}

void worker_engine::report(const worker_event& event) const noexcept {
  if (!options_.observe) return;
  try {
    options_.observe(event);
  } catch (...) {  // An observer must not change what it observes.
  }
}

}  // namespace tableq::inline v0::core
