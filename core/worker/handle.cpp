#include "core/worker/handle.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <random>
#include <utility>

#include <tableq/message_rules.hpp>
#include <tableq/transaction.hpp>

#include "core/base/errors.hpp"
#include "core/claim/lease_table.hpp"
#include "core/claim/operations.hpp"
#include "core/database/access.hpp"
#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/queue_state.hpp"
#include "core/session/retry.hpp"
#include "core/worker/kept_state.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;

/// One character more than the table stores: the settlement cuts at the end of a character.
constexpr std::size_t long_enough = longest_error + 4;

/// Cuts the text, because the rest would only use memory until the settlement.
std::string shortened(std::string why) {
  if (why.size() > long_enough) {
    why.resize(long_enough);
    why.shrink_to_fit();
  }
  return why;
}

std::string message_of(const std::exception& failure) {
  const char* const text = failure.what();
  if (text == nullptr) return "the handler threw an exception without words";
  return {text, ::strnlen(text, long_enough)};
}

handled failed(std::string why, std::optional<milliseconds> delay) {
  return delay ? handled::retry_after(std::move(why), *delay) : handled::failed(std::move(why));
}

/// The same verdict with a text and a delay within their bounds.
handled bounded(handled verdict, std::optional<milliseconds> retry_delay) {
  if (verdict.what() == handled::how::given_up) {
    return handled::give_up(shortened(verdict.why()));
  }
  if (verdict.what() != handled::how::failed) return verdict;
  if (!verdict.delay() || good_delay(*verdict.delay())) {
    return failed(shortened(verdict.why()), verdict.delay());
  }
  return failed(shortened("retry_after takes 0 to 3,650 days, and the handler asked for " +
                          std::to_string(verdict.delay()->count()) + " ms: " + verdict.why()),
                retry_delay);
}

/// Changes what the queue, or the mapping of a table, cannot store.
void fit(handled& verdict, const queue_state& queue) {
  if (verdict.result()) {
    // Without its result the work is done: a repetition would do it twice.
    if (const auto refused = refused_result(queue, verdict.result()->size())) {
      verdict = handled::give_up(
          std::string("the handler was done, but its result cannot be kept: ") + refused->what());
    }
  }
  const kept_outcomes stored = leases_of(queue).keeps();
  if (!stored.delays && verdict.delay().value_or(milliseconds(0)).count() > 0) {
    verdict = handled::failed("the mapping has no due_at, so there is no delay: " + verdict.why());
  }
  if (!stored.dead && verdict.what() == handled::how::given_up) {
    verdict =
        handled::failed("the mapping tells no dead rows, so the row waits again: " + verdict.why());
  }
}

/// The verdict of a call that may throw anything, as the queue can store it.
template <class Call>
handled verdict_of(const Call& call, const claim_queue& queue,
                   std::optional<milliseconds> retry_delay) {
  try {
    handled out = handled::completed();
    try {
      out = bounded(call(), retry_delay);
    } catch (const std::exception& failure) {
      out = failed(message_of(failure), retry_delay);
    } catch (...) {  // A handler may throw anything; its message fails, and the other messages
                     // continue.
      out = failed("the handler threw an object that is no std::exception", retry_delay);
    }
    fit(out, access::state_of(queue));
    return out;
  } catch (const std::bad_alloc&) {  // No memory for the text.
    return failed({}, retry_delay);
  }
}

/// Calls of one handler for one message, each in its own transaction.
class transactional_call {
 public:
  transactional_call(const handler& work, const claim_queue& queue, const delivery& message,
                     const std::stop_token& stop, const call_terms& terms)
      : work_(work),
        queue_(queue),
        database_(access::state_of(queue).database()),
        message_(message),
        stop_(stop),
        terms_(terms) {}

  handler_result run() {
    retry_policy policy(terms_.repeats ? database_.options().retry_for : milliseconds(0),
                        contact::known);
    for (;;) {
      try {
        return once();
      } catch (const no_free_session&) {
        throw;
      } catch (const error& failure) {
        if (failure.code() == errc::outcome_unknown) throw;
        const bool away =
            failure.code() == errc::connection_failed || failure.code() == errc::connection_lost;
        if (away && terms_.of_worker) throw;
        if (!stop_.stop_requested() && policy.again(failure)) continue;
        if (stops_writes(failure) && terms_.of_worker) throw;
        // A limit of the database on the time of statements or transactions: the next run would
        // meet it again. The handler may know only that its session is gone.
        const bool limit = failure.code() == errc::cancelled;
        if (handlers_own_ && limit && failure.advice() == advice::session)
          return result_of(failed(failure.what(), terms_.retry_delay));
        if (handlers_own_) return result_of(*std::exchange(handlers_own_, std::nullopt));
        if (limit || may_concern_one_message(failure))
          return result_of(refused_completion(failure));
        throw;
      }
    }
  }

 private:
  handler_result once() {
    handlers_own_.reset();
    // While the database is away, the thread serves others.
    const auto patience = terms_.of_worker ? std::optional(milliseconds(0)) : std::nullopt;
    std::optional<stop_scope> scope(std::in_place, std::stop_token(), terms_.given_up);
    transaction tx = access::make(begin_for_application(database_.shared_from_this(), patience));
    scope.reset();
    handled verdict = call(tx);
    const bool completes = verdict.what() == handled::how::completed;
    // A transaction that is not committed is rolled back by its destructor.
    if (!database_.here() || (!completes && verdict.what() != handled::how::settled)) {
      return result_of(std::move(verdict));
    }
    if (completes && complete_with(queue_.in(tx), message_, verdict) == settle_result::lease_lost) {
      return {.verdict = std::move(verdict),
              .ended = worker_event::kind::lease_lost,
              .why =
                  "the lease was lost, or the handler settled its message; then it returns "
                  "handled::settled()"};
    }
    tx.commit();
    return {.verdict = std::move(verdict),
            .ended =
                completes ? worker_event::kind::completed : worker_event::kind::settled_by_handler};
  }

  /// @throws error what the handler threw, if the database's failure may pass.
  handled call(transaction& tx) {
    std::optional<error> passing;
    handled verdict = verdict_of(
        [&] {
          const transact_scope scope(database_, *access::state_of(tx));
          try {
            return work_(&tx, message_, stop_);
          } catch (const error& failure) {
            if (may_run_again(failure)) passing.emplace(failure);
            throw;
          } catch (const std::exception& thrown) {  // The application's own statement, perhaps.
            const auto failure = failure_of_application(access::state_of(tx)->session(), thrown);
            if (failure && may_run_again(*failure)) passing.emplace(*failure);
            throw;
          }
        },
        queue_, terms_.retry_delay);
    if (!passing) return verdict;
    handlers_own_ = std::move(verdict);
    throw error(*passing);
  }

  static bool may_run_again(const error& failure) noexcept {
    if (failure.code() == errc::outcome_unknown) return false;
    return failure.advice() != advice::never || stops_writes(failure);
  }

  const handler& work_;
  const claim_queue& queue_;
  database_state& database_;
  const delivery& message_;
  const std::stop_token& stop_;
  const call_terms& terms_;
  std::optional<handled> handlers_own_;  ///< The verdict if the handler is not called again.
};

}  // namespace

handler_result result_of(handled verdict) {
  const bool settled = verdict.what() == handled::how::settled;
  return {.verdict = std::move(verdict),
          .ended = settled ? std::optional(worker_event::kind::settled_by_handler) : std::nullopt};
}

handler_result handle(const handler& work, const claim_queue& queue, const delivery& message,
                      const std::stop_token& stop, const call_terms& terms) {
  const bool in_transaction = work.in_transaction();
  handler_result out = in_transaction
                           ? transactional_call(work, queue, message, stop, terms).run()
                           : result_of(verdict_of([&] { return work(nullptr, message, stop); },
                                                  queue, terms.retry_delay));
  if (out.verdict.what() == handled::how::kept && (in_transaction || !terms.of_worker)) {
    access::keeper_of(out.verdict)->refuse();
    out.verdict = handled::failed(
        in_transaction ? "a handler with a transaction cannot keep its message, because the "
                         "transaction ends when it returns: take the message without a transaction"
                       : "drain keeps no message: use a worker");
  }
  return out;
}

handled storable(handled verdict, const claim_queue& queue,
                 std::optional<milliseconds> retry_delay) {
  return verdict_of([&] { return std::move(verdict); }, queue, retry_delay);
}

std::optional<std::chrono::milliseconds> rest_of(const handled& verdict, const claim_queue& queue,
                                                 const delivery& message) {
  const kept_outcomes kept = leases_of(access::state_of(queue)).keeps();
  if (verdict.delay() || kept.rule || !kept.delays) return verdict.delay();
  if (verdict.what() != handled::how::failed) return {};
  const retry_delays usual = retry_delays::usual();
  const auto place = static_cast<std::size_t>(std::max(message.attempt, 1)) - 1;
  const std::chrono::milliseconds rest = usual.after[std::min(place, usual.after.size() - 1)];
  thread_local std::minstd_rand random{std::random_device{}()};
  return rest * std::uniform_int_distribution(100 - usual.jitter, 100 + usual.jitter)(random) / 100;
}

settle_result complete_with(claim_queue queue, const delivery& message, const handled& verdict) {
  return verdict.result() ? queue.complete(message, *verdict.result()) : queue.complete(message);
}

handled refused_completion(const error& refused) {
  return handled::failed(
      shortened(std::string("the handler was done, but the database refused the completion: ") +
                refused.what()));
}

handled refused_transaction(const error& refused) {
  return handled::failed(
      shortened(std::string("the database refused the handler's transaction: ") + refused.what()));
}

}  // namespace tableq::inline v0::core
