#include "core/worker/worker_state.hpp"

#include <algorithm>
#include <limits>
#include <new>
#include <string_view>
#include <thread>
#include <utility>

#include "core/base/at_end.hpp"
#include "core/claim/operations.hpp"
#include "core/observe/observation.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;

/// A hundred years: a longer time would overflow the clock, and end at once.
constexpr milliseconds longest_rest = std::chrono::hours{24 * 365 * 100};

/// How many handlers may begin before max_kept is reached.
std::size_t free_handlers(const worker_queue& queue) noexcept {
  if (!queue.keeps) return std::numeric_limits<std::size_t>::max();
  const std::size_t busy = queue.messages.kept() + queue.messages.running();
  return busy < queue.most_kept ? queue.most_kept - busy : 0;
}

/// How many messages wait for a handler, and may have one.
std::size_t waiting_in(const worker_queue& queue) noexcept {
  return queue.away ? 0 : std::min(queue.messages.waiting(), free_handlers(queue));
}

void give_back_surplus(worker_queue& queue) {
  while (held one = queue.aside.take_surplus()) queue.messages.give_back(std::move(one));
}

}  // namespace

worker_state::worker_state(std::vector<worker_source> sources, worker_options options)
    : options_(std::move(options)) {
  queues_.reserve(sources.size());
  idle_.make_room(options_.threads);
  for (worker_source& one : sources) {
    turns_.add(one.weight, one.precedence);
    queues_.push_back(std::make_unique<worker_queue>(std::move(one), options_, queues_.size()));
    worker_queue& queue = *queues_.back();
    queue.gate->end = [this, &queue](const held& message, handled verdict) {
      return end_kept(queue, message, std::move(verdict));
    };
    queue.gate->note = [&queue](const held& message, double done, std::string_view note) {
      if (!keeps_notes(queue.state())) return;
      say_progress(queue.state(), message->delivery.receipt, done, note);
    };
  }
}

worker_state::~worker_state() {
  for (const auto& queue : queues_) {
    const std::scoped_lock hold(queue->gate->mutex);
    queue->gate->end = nullptr;
    queue->gate->note = nullptr;
  }
}

void worker_state::stop() noexcept {
  stop_.request_stop();
  const std::scoped_lock hold(mutex_);
  changed_.notify_all();
}

void worker_state::abandon() noexcept {
  stop();
  abandon_.request_stop();
  std::vector<held> told;
  for (bool all = false; !all;) {
    try {
      const std::scoped_lock hold(mutex_);
      for (const auto& queue : queues_) {
        for (held& one : queue->messages.which(&held_message::running)) {
          told.push_back(std::move(one));
        }
        for (const held& one : queue->messages.which(&held_message::kept)) {
          told.push_back(one);
          one->end = handled::give_back();
          queue->messages.end_kept(one);
        }
        wake_settler(*queue);
      }
      changed_.notify_all();
      all = true;
    } catch (const std::bad_alloc&) {
      std::this_thread::sleep_for(shortest_pause);
    }
  }
  // Outside of the mutex, because callbacks of the application run then.
  for (const held& one : told) one->stop.request_stop();
}

void worker_state::end_with(std::exception_ptr failed) noexcept {
  stop();
  const std::scoped_lock hold(mutex_);
  if (!failure) failure = std::move(failed);
}

void worker_state::wake_all() {
  idle_.wake_all();
  to_post.notify_all();
  changed_.notify_all();
  for (const auto& queue : queues_) wake_settler(*queue);
}

bool worker_state::rest(std::unique_lock<std::mutex>& lock, milliseconds length) {
  return changed_.wait_for(lock, std::clamp(length, milliseconds{0}, longest_rest),
                           [this] { return has_ended(); });
}

bool worker_state::rest_of_threads(std::unique_lock<std::mutex>& lock, milliseconds length) {
  return changed_.wait_for(lock, length, [this] { return threads == 0; });
}

void worker_state::thread_ended() {
  --threads;
  if (has_ended()) over_.request_stop();
  wake_all();
}

void worker_state::pause(milliseconds length, bool until_stop) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, until_stop ? stop_.get_token() : abandon_.get_token(), length,
                    [] { return false; });
}

void worker_state::report(const worker_event& event) const noexcept {
  if (!options_.observe) return;
  try {
    options_.observe(event);
  } catch (...) {  // An observer must not change what it observes.
  }
}

void worker_state::report_trouble(const worker_queue& queue, const char* why) const noexcept {
  report({.what = worker_event::kind::trouble,
          .why = why,
          .source = queue.number,
          .queue = queue.claims.name()});
}

void worker_state::trouble(const worker_queue& queue, const char* why, backoff& pauses,
                           bool until_stop) {
  report_trouble(queue, why);
  pause(pauses.pause(), until_stop);
}

worker_counts worker_state::counts(const worker_queue& queue) const noexcept {
  using kind = worker_event::kind;
  const auto count = [&](kind end) { return queue.ends[static_cast<std::size_t>(end)]; };
  return {.completed = count(kind::completed),
          .failed = count(kind::failed) + count(kind::given_up),
          .given_back = count(kind::given_back),
          .settled_by_handler = count(kind::settled_by_handler),
          .lease_lost = count(kind::lease_lost),
          .unknown = count(kind::unknown),
          .held = queue.messages.count(),
          .running = queue.messages.running(),
          .put_aside = queue.aside.count(),
          .kept = queue.messages.kept()};
}

std::size_t worker_state::room(const worker_queue& queue) const {
  if (is_behind_others(queue)) return 0;
  const held_messages& messages = queue.messages;
  if (queue.keeps && messages.kept() >= queue.most_kept) return 0;
  std::size_t unhandled = messages.waiting() + running_;
  // Of several queues each has a message at hand, so that a free handler can choose.
  if (has_several() && messages.waiting() == 0) unhandled = std::min(unhandled, queue.most - 1);
  // Messages that wait for settlement count too; otherwise their number would grow while settlement
  // is slow. Those that are kept or put aside have bounds of their own.
  const std::size_t unsettled = messages.count() - queue.aside.count() - messages.kept();
  if (unhandled >= queue.most || unsettled >= 2 * queue.most) return 0;
  return std::min(
      {queue.most - unhandled, 2 * queue.most - unsettled, queue.at_once, queue.aside.room()});
}

bool worker_state::is_behind_others(const worker_queue& queue) const {
  return turns_.ranked() && std::ranges::any_of(queues_, [&](const auto& one) {
           return one->precedence > queue.precedence && waiting_in(*one) > 0;
         });
}

bool worker_state::left_to_settlement(const worker_queue& queue) {
  if (queue.joint) return true;
  const bool settles = queue.settles || !queue.messages.nothing_finished();
  return queue.more && settles && !is_overdue(queue);
}

bool worker_state::is_overdue(const worker_queue& queue) {
  return moment::clock::now() - queue.took_at >= worker_queue::longest_without_take;
}

void worker_state::wake_taker(worker_queue& queue) const {
  using waits = worker_queue::waits;
  const bool ready = queue.taker_waits == waits::for_room
                         ? room(queue) > 0
                         : queue.taker_waits == waits::for_settlement && !left_to_settlement(queue);
  if (ready) queue.to_take.notify_one();
}

void worker_state::wake_takers() const {
  for (const auto& one : queues_) wake_taker(*one);
}

void worker_state::add(worker_queue& queue, std::vector<delivery> taken, moment sure_until) {
  if (queue.messages.waiting() == 0) turns_.filled(queue.number);
  ++finds;
  {
    const at_end some([this]() noexcept { wake_handlers(); });  // memory may be short for the rest
    queue.messages.add(std::move(taken), sure_until);
  }
  if (queue.taken_all) give_back_waiting(queue);
  if (queue.lingers_until) wake_settler(queue);
}

bool worker_state::holds_some() const {
  return std::ranges::any_of(queues_, [](const auto& one) { return one->messages.count() > 0; });
}

bool worker_state::all_empty() const {
  return std::ranges::all_of(queues_, [this](const auto& one) { return one->empty_at == finds; });
}

bool worker_state::nothing_comes() const {
  return std::ranges::all_of(queues_, [](const auto& one) { return one->taken_all; });
}

std::size_t worker_state::waiting() const {
  std::size_t out = 0;
  for (const auto& one : queues_) out += waiting_in(*one);
  return out;
}

worker_state::work_item worker_state::pick() {
  const auto turn = turns_.next([this](std::size_t at) { return waiting_in(*queues_[at]) > 0; });
  if (!turn) return {};
  work_item one{queues_[*turn].get(), queues_[*turn]->messages.next()};
  ++running_;
  if (abandoned()) one.message->stop.request_stop();
  if (turns_.ranked()) {
    wake_takers();  // Queues of lower precedence may take again.
  } else if (has_several()) {
    wake_taker(*one.queue);  // For a message at hand when the next handler is free.
  }
  return one;
}

worker_state::work_item worker_state::next(std::unique_lock<std::mutex>& lock) {
  for (;;) {
    work_item one = pick();
    if (one.queue != nullptr) {
      idle_.wake(waiting());
      return one;
    }
    if (nothing_comes()) return {};
    idle_.wait(lock);
  }
}

void worker_state::wake_handlers() {
  idle_.wake(waiting());
  to_post.notify_one();
}

void worker_state::returned(const work_item& item, handler_result result) noexcept {
  worker_queue& queue = *item.queue;
  held_message& one = *item.message;
  --running_;
  queue.messages.handler_returned(one);
  if (result.ended == worker_event::kind::completed) {
    succeeded(queue, handled::how::completed, one.refused.tries);
  }
  if (result.kept) {
    queue.keeps = true;
    queue.messages.keep(one);
    const bool gone = !one.leased() || abandoned();
    if (gone && !one.end) one.end = std::move(result.verdict);
    if (one.end) queue.messages.end_kept(item.message);
  } else if (result.again && !stopped() && one.leased() && queue.aside.make_room()) {
    put_aside(queue, {item.message, std::move(result)});
  } else {
    queue.messages.settle_later({item.message, std::move(result)});
  }
  if (queue.keeps) wake_handlers();
  wake_settler(queue);
  wake_takers();
}

bool worker_state::end_kept(worker_queue& queue, const held& one, handled verdict) {
  handled end = storable(std::move(verdict), queue.claims, options_.retry_delay);
  const std::scoped_lock hold(mutex_);
  if (!one->listed || one->end || !one->leased()) return false;
  if (queue.settled_all) return false;  // After a lasting failure: nobody would settle it.
  one->end = std::move(end);
  if (!one->kept) return true;  // Its handler returns just now.
  queue.messages.end_kept(one);
  wake_settler(queue);
  wake_taker(queue);
  wake_handlers();
  return true;
}

bool worker_state::in_a_hurry(const worker_queue& queue) const {
  return queue.more || queue.taken_all || stopped() || room(queue) == 0;
}

void worker_state::wake_settler(worker_queue& queue) const {
  if (queue.lingers_until && !in_a_hurry(queue)) return;
  if (std::exchange(queue.settler_waits, false)) queue.to_settle.notify_one();
}

void worker_state::succeeded(worker_queue& queue, handled::how what, std::size_t tries) const {
  queue.aside.succeeded(what, tries);
  give_back_surplus(queue);  // More were put aside while nothing succeeded.
  if (queue.aside.count() > 0) wake_settler(queue);
}

void worker_state::put_aside(worker_queue& queue, settlement one) const {
  queue.aside.add(std::move(one));
  give_back_surplus(queue);
  wake_taker(queue);
}

void worker_state::give_back_waiting(worker_queue& queue) const {
  queue.messages.give_back_waiting();
  wake_settler(queue);
}

void worker_state::give_back_running() const {
  for (const auto& queue : queues_) {
    for (held& one : queue->messages.which(&held_message::running)) {
      if (!one->leased()) continue;
      one->released = true;
      queue->messages.give_back(std::move(one));
    }
    wake_settler(*queue);
  }
}

void worker_state::conclude(worker_queue& queue, const std::vector<settlement>& ended) {
  {
    const std::scoped_lock hold(mutex_);
    for (const settlement& one : ended) {
      if (one.result.ended) ++queue.ends[static_cast<std::size_t>(*one.result.ended)];
      if (one.message->running) continue;
      queue.messages.forget(*one.message);
      queue.aside.remove(*one.message);
    }
    if (options_.until_empty && !holds_some()) {
      for (const auto& one : queues_) one->run_dry.request_stop();
    }
    wake_taker(queue);
    if (std::exchange(queue.away, false) || queue.keeps) wake_handlers();
    if (queue.keeps) wake_settler(queue);
  }
  const database_state& database = queue.state().database();
  for (const settlement& one : ended) {
    if (!one.result.ended) continue;
    const delivery& message = one.message->delivery;
    notify_observer(database.watching(), [&](observer& sink) {
      sink.handled({.backend = database.name(),
                    .queue = queue.claims.name(),
                    .id = message.receipt.id,
                    .attempt = message.attempt,
                    .what = *one.result.ended});
    });
    report({.what = *one.result.ended,
            .id = message.receipt.id,
            .attempt = message.attempt,
            .why = one.result.why.empty() ? one.result.verdict.why() : one.result.why,
            .source = queue.number,
            .queue = queue.claims.name()});
  }
}

}  // namespace tableq::inline v0::core
