// The part of a worker_feed that calls handlers and reports.

#include "core/worker/feed.hpp"

#include <exception>
#include <utility>
#include <variant>

#include "core/database/access.hpp"
#include "core/observe/observation.hpp"
#include "core/queue/queue_state.hpp"
#include "core/worker/engine.hpp"
#include "core/worker/verdict.hpp"

namespace tableq::inline v0::core {

worker_feed::worker_feed(worker_engine& engine, worker_source source, std::size_t number)
    : engine_(engine),
      number_(number),
      precedence_(source.precedence),
      queue_(std::move(std::get<claim_queue>(source.queue))),
      work_(std::move(source.work)),
      lease_(engine.options().lease.value_or(queue_.lease())) {}

bool worker_feed::here() const noexcept {
  return access::state_of(queue_).here();
}

void worker_feed::finished(const held& one, handler_result result) {
  held_.finished(one, std::move(result));
  wake_settler();
}

void worker_feed::stop_running() const {
  for (const held& one : held_.running()) one->stop.request_stop();
}

void worker_feed::release_running() {
  for (const held& one : held_.running()) {
    if (one->lost || one->released) continue;
    one->released = true;
    held_.settle_later({one, {.verdict = handled::give_back()}});
  }
  wake_settler();
}

void worker_feed::give_back_waiting() {
  for (held& one : held_.take_waiting()) {
    held_.settle_later({std::move(one), {.verdict = handled::give_back()}});
  }
  wake_settler();
}

handler_result worker_feed::call_handler(const held& one) {
  const while_away then = engine_.has_several() ? while_away::give_up : while_away::repeat;
  backoff pauses(worker_engine::shortest_pause, worker_engine::longest_pause);
  for (;;) {
    {
      const std::scoped_lock hold(engine_.mutex());
      if (one->lost || engine_.stopping().stop_requested()) {
        return {.verdict = handled::give_back()};
      }
    }
    try {
      return handle(work_, queue_, one->delivery, one->stop.get_token(),
                    engine_.options().retry_delay, then);
    } catch (const error& failure) {
      if (!here()) return {.verdict = handled::give_back()};
      if (failure.code() == errc::outcome_unknown || !worker_engine::passing(failure)) {
        if (failure.code() != errc::outcome_unknown) engine_.end_with(std::current_exception());
        return {.verdict = handled::completed(),
                .ended = worker_event::kind::unknown,
                .why = failure.what()};
      }
      if (then == while_away::give_up) {
        report_trouble(failure.what());
        const std::scoped_lock hold(engine_.mutex());
        away_ = true;
        return {.verdict = handled::give_back()};
      }
      trouble(failure.what(), pauses, true);
    } catch (const std::exception& failure) {  // Usually a lack of memory.
      trouble(failure.what(), pauses, true);
    }
  }
}

void worker_feed::trouble(const char* why, backoff& pauses, bool until_stop) {
  report_trouble(why);
  engine_.pause(pauses.pause(), until_stop);
}

void worker_feed::report_trouble(const char* why) const {
  engine_.report(
      {.what = worker_event::kind::trouble, .why = why, .source = number_, .queue = queue_.name()});
}

void worker_feed::report(worker_event::kind what, const held_message& message,
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
  engine_.report({.what = what,
                  .id = id,
                  .attempt = attempt,
                  .why = why,
                  .source = number_,
                  .queue = queue_.name()});
}

}  // namespace tableq::inline v0::core
