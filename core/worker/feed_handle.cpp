// The part of a worker_feed that calls handlers and reports.

#include "core/base/errors.hpp"
#include "core/worker/feed.hpp"

#include <exception>
#include <utility>
#include <variant>

#include "core/database/access.hpp"
#include "core/database/open_transaction.hpp"
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
      lease_(engine.options().lease.value_or(queue_.lease())),
      most_kept_(engine.options().max_kept.value_or(engine.options().threads)),
      probe_pauses_(worker_engine::shortest_pause, worker_engine::longest_pause) {
  gate_->end = [this](const held& one, handled verdict) {
    return end_kept(one, std::move(verdict));
  };
  gate_->note = [this](const held& one, double done, std::string_view note) {
    const queue_state& queue = access::state_of(queue_);
    if (keeps_notes(queue)) say_progress(queue, one->delivery.receipt, done, note);
  };
}

bool worker_feed::here() const noexcept {
  return access::state_of(queue_).here();
}

void worker_feed::finished(const held& one, handler_result result) {
  if (result.ended == worker_event::kind::completed) {
    succeeded(handled::how::completed, one->refused.tries);
  }
  if (result.kept) {
    keeps_ = true;
    held_.keep(one);
    const bool gone = one->released || one->lost || engine_.is_abandoned();
    if (gone && !one->end) one->end = std::move(result.verdict);
    if (one->end) held_.end_kept(one);
  } else if (result.again && !engine_.stopping().stop_requested() && !one->lost && !one->released) {
    held_.put_aside_by_handler(one, std::move(result));
    bound_aside();
  } else {
    held_.finished(one, std::move(result));
  }
  if (keeps_) engine_.wake_handlers();
  wake_settler();
}

handler_result worker_feed::keep_message(const held& one, handler_result result) {
  // The last copy of the keeper may be destroyed here, and not under the mutex.
  const std::shared_ptr<kept_state> keeper = access::keeper_of(result.verdict);
  if (std::optional<handled> end = keeper->keep(gate_, one)) {
    return result_of(storable(*std::move(end), queue_, engine_.options().retry_delay));
  }
  result.verdict = handled::give_back();
  result.kept = true;
  return result;
}

bool worker_feed::end_kept(const held& one, handled verdict) {
  handled end = storable(std::move(verdict), queue_, engine_.options().retry_delay);
  const std::scoped_lock hold(engine_.mutex());
  if (!held_messages::holds(one) || one->end || one->lost || one->released) return false;
  if (has_settled_) return false;  // After a lasting failure: nobody would settle it.
  one->end = std::move(end);
  if (!one->kept) return true;  // Its handler returns just now.
  held_.end_kept(one);
  wake_settler();
  wake_taker();
  engine_.wake_handlers();
  return true;
}

void worker_feed::give_back_kept() {
  for (const held& one : held_.kept()) {
    one->end = handled::give_back();
    held_.end_kept(one);
  }
  wake_settler();
}

void worker_feed::close_gate() {
  const std::scoped_lock hold(gate_->mutex);
  gate_->end = nullptr;
  gate_->note = nullptr;
}

std::size_t worker_feed::free_handlers() const noexcept {
  if (!keeps_) return std::numeric_limits<std::size_t>::max();
  const std::size_t busy = held_.kept_count() + held_.running_count();
  return busy < most_kept_ ? most_kept_ - busy : 0;
}

void worker_feed::add_handled(std::vector<held>& to) const {
  for (held& one : held_.running()) to.push_back(std::move(one));
  for (held& one : held_.kept()) to.push_back(std::move(one));
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
  const left_to_others scope;
  backoff pauses(worker_engine::shortest_pause, worker_engine::longest_pause);
  call_terms terms{.retry_delay = engine_.options().retry_delay, .then = while_away::give_up};
  for (;;) {
    {
      const std::scoped_lock hold(engine_.mutex());
      terms.repeats = !one->refused.first;
      if (one->lost || engine_.stopping().stop_requested()) {
        return {.verdict = handled::give_back()};
      }
    }
    try {
      handler_result out = handle(work_, queue_, one->delivery, one->stop.get_token(), terms);
      if (out.verdict.what() == handled::how::kept && here())
        return keep_message(one, std::move(out));
      return out;
    } catch (const error& failure) {
      if (!here()) return {.verdict = handled::give_back()};
      if (failure.code() == errc::outcome_unknown || !may_pass(failure)) {
        if (failure.code() != errc::outcome_unknown) engine_.end_with(std::current_exception());
        return {.verdict = handled::completed(),
                .ended = worker_event::kind::unknown,
                .why = failure.what()};
      }
      report_trouble(failure.what());
      if (engine_.has_several() && failure.code() == errc::connection_failed) {
        const std::scoped_lock hold(engine_.mutex());
        away_ = true;
        return {.verdict = handled::give_back()};
      }
      if (is_own(one, handled::how::completed, failure))
        return {.verdict = refused_completion(failure)};
      return {.verdict = handled::give_back(), .again = true};
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
