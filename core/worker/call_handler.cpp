#include "core/worker/call_handler.hpp"

#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "core/base/errors.hpp"
#include "core/database/access.hpp"
#include "core/database/open_transaction.hpp"
#include "core/worker/keep_leases.hpp"

namespace tableq::inline v0::core {
namespace {

/// The handler's verdict is handled::kept.
handler_result keep_message(const worker_state& worker, const worker_state::work_item& item,
                            handler_result result) {
  // The last copy of the keeper may be destroyed here, and not under the mutex.
  const std::shared_ptr<kept_state> kept = access::keeper_of(result.verdict);
  if (std::optional<handled> end = kept->keep(item.queue->gate, item.message)) {
    return result_of(storable(*std::move(end), item.queue->claims, worker.options().retry_delay));
  }
  result.verdict = handled::give_back();
  result.kept = true;
  return result;
}

}  // namespace

handler_result call_handler(worker_state& worker, const worker_state::work_item& item) {
  worker_queue& queue = *item.queue;
  const held& one = item.message;
  const left_to_others scope;
  backoff pauses(shortest_pause, longest_pause);
  call_terms terms{.retry_delay = worker.options().retry_delay,
                   .of_worker = true,
                   .given_up = worker.given_up()};
  for (;;) {
    {
      const std::scoped_lock hold(worker.mutex());
      terms.repeats = !one->refused.first;
      if (one->lost || worker.stopped()) {
        return {.verdict = handled::give_back()};
      }
    }
    try {
      handler_result out =
          handle(queue.work, queue.claims, one->delivery, one->stop.get_token(), terms);
      if (out.verdict.what() == handled::how::kept && worker.here())
        return keep_message(worker, item, std::move(out));
      return out;
    } catch (const error& failure) {
      if (!worker.here()) return {.verdict = handled::give_back()};
      if (failure.code() == errc::outcome_unknown || !may_pass(failure)) {
        if (failure.code() != errc::outcome_unknown) worker.end_with(std::current_exception());
        return {.verdict = handled::completed(),
                .ended = worker_event::kind::unknown,
                .why = failure.what()};
      }
      worker.report_trouble(queue, failure.what());
      if (worker.has_several() && failure.code() == errc::connection_failed) {
        const std::scoped_lock hold(worker.mutex());
        queue.away = true;
        return {.verdict = handled::give_back()};
      }
      if (is_own(worker, queue, one, handled::how::completed, failure))
        return {.verdict = refused_transaction(failure)};
      return {.verdict = handled::give_back(), .again = true};
    } catch (const std::exception& failure) {  // Usually a lack of memory.
      worker.trouble(queue, failure.what(), pauses, true);
    }
  }
}

}  // namespace tableq::inline v0::core
