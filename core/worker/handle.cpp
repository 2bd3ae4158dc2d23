// Calls of handlers, in a transaction or without one.

#include <exception>
#include <optional>
#include <string>
#include <utility>

#include <tableq/transaction.hpp>

#include "core/base/errors.hpp"
#include "core/claim/lease_table.hpp"
#include "core/claim/operations.hpp"
#include "core/database/access.hpp"
#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"
#include "core/queue/queue_state.hpp"
#include "core/session/retry.hpp"
#include "core/worker/kept_state.hpp"
#include "core/worker/verdict.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;

/// Of a table whose mapping has no due_at: the row fails all the same.
void drop_delay(handled& verdict) {
  if (verdict.delay().value_or(milliseconds(0)).count() == 0) return;
  verdict = handled::failed("the mapping has no due_at, so there is no delay: " + verdict.why());
}

/// Of a table whose mapping tells no dead row: the row fails, and waits again.
void drop_end(handled& verdict) {
  if (verdict.what() != handled::how::given_up) return;
  verdict =
      handled::failed("the mapping tells no dead rows, so the row waits again: " + verdict.why());
}

/// In a queue that cannot keep it: a repetition would do the work twice.
void drop_result(handled& verdict, const queue_state& queue) {
  if (!verdict.result()) return;
  const auto refused = refused_result(queue, verdict.result()->size());
  if (!refused) return;
  verdict = handled::give_up(std::string("the handler was done, but its result cannot be kept: ") +
                             refused->what());
}

void fit(handled& verdict, const claim_queue& queue) {
  drop_result(verdict, access::state_of(queue));
  const kept_outcomes stored = leases_of(access::state_of(queue)).keeps();
  if (!stored.delays) drop_delay(verdict);
  if (!stored.dead) drop_end(verdict);
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
        if (away && terms_.then == while_away::give_up) throw;
        if (!stop_.stop_requested() && policy.again(failure)) continue;
        if (handlers_own_) return result_of(*std::exchange(handlers_own_, std::nullopt));
        // A limit of the database on the time of statements or transactions: the next run would
        // meet it again.
        if (may_concern_one_message(failure) || failure.code() == errc::cancelled)
          return result_of(refused_completion(failure));
        throw;
      }
    }
  }

 private:
  handler_result once() {
    handlers_own_.reset();
    // While the database is away, the thread serves others.
    const auto patience =
        terms_.then == while_away::give_up ? std::optional(milliseconds(0)) : std::nullopt;
    transaction tx = access::make(begin_for_application(database_.shared_from_this(), patience));
    handled verdict = call(tx);
    drop_result(verdict, access::state_of(queue_));
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
        terms_.retry_delay);
    if (!passing) return verdict;
    handlers_own_ = std::move(verdict);
    throw error(*passing);
  }

  static bool may_run_again(const error& failure) noexcept {
    return failure.code() != errc::outcome_unknown && failure.advice() != advice::never;
  }

  const handler& work_;
  const claim_queue& queue_;
  database_state& database_;
  const delivery& message_;
  const std::stop_token& stop_;
  const call_terms& terms_;
  std::optional<handled> handlers_own_;  ///< The verdict if the handler is not called again.
};

/// Nothing can keep the message.
handled refuse_to_keep(const handled& verdict, const char* why) {
  access::keeper_of(verdict)->refuse();
  return handled::failed(why);
}

}  // namespace

handler_result result_of(handled verdict) {
  const bool settled = verdict.what() == handled::how::settled;
  return {.verdict = std::move(verdict),
          .ended = settled ? std::optional(worker_event::kind::settled_by_handler) : std::nullopt};
}

handler_result handle(const handler& work, const claim_queue& queue, const delivery& message,
                      const std::stop_token& stop, const call_terms& terms) {
  handler_result out =
      work.in_transaction()
          ? transactional_call(work, queue, message, stop, terms).run()
          : result_of(verdict_of([&] { return work(nullptr, message, stop); }, terms.retry_delay));
  if (out.verdict.what() == handled::how::kept) {
    if (work.in_transaction()) {
      out.verdict = refuse_to_keep(
          out.verdict,
          "a handler with a transaction cannot keep its message, because the transaction ends when "
          "it returns: take the message without a transaction");
    } else if (!terms.keeps) {
      out.verdict = refuse_to_keep(out.verdict, "drain keeps no message: use a worker");
    }
  }
  fit(out.verdict, queue);
  return out;
}

handled storable(handled verdict, const claim_queue& queue,
                 std::optional<milliseconds> retry_delay) {
  handled out = verdict_of([&] { return std::move(verdict); }, retry_delay);
  fit(out, queue);
  return out;
}

}  // namespace tableq::inline v0::core
