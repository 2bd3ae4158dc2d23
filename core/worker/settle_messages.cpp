#include "core/worker/settle_messages.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/at_end.hpp"
#include "core/base/errors.hpp"
#include "core/claim/groups.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/retention.hpp"
#include "core/claim/settle_and_take.hpp"
#include "core/database/transaction_state.hpp"
#include "core/queue/operation.hpp"
#include "core/session/retry.hpp"
#include "core/worker/keep_leases.hpp"
#include "core/worker/take_messages.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Of all in the batch.
handled::how verdicts_of(const std::vector<settlement>& batch) {
  return batch.front().result.verdict.what();
}

/// Messages that have ended come first. Completed ones come last: mostly there are no others, and
/// the last batch may take, too.
std::tuple<bool, bool, handled::how> place_of(const settlement& one) {
  const handled::how what = one.result.verdict.what();
  return {!one.result.ended, what == handled::how::completed, what};
}

worker_event::kind end_of(handled::how verdict) {
  using kind = worker_event::kind;
  if (verdict == handled::how::completed) return kind::completed;
  if (verdict == handled::how::failed) return kind::failed;
  return verdict == handled::how::given_up ? kind::given_up : kind::given_back;
}

std::vector<receipt> receipts_of(const std::vector<settlement>& batch) {
  std::vector<receipt> out;
  out.reserve(batch.size());
  for (const settlement& one : batch) out.push_back(one.message->delivery.receipt);
  return out;
}

/// The results of the handlers; empty if no handler returned one. Borrows them.
std::vector<std::optional<std::string_view>> results_of(const std::vector<settlement>& batch) {
  std::vector<std::optional<std::string_view>> out;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const std::optional<std::string>& result = batch[i].result.verdict.result();
    if (!result) continue;
    out.resize(batch.size());
    out[i] = *result;
  }
  return out;
}

/// The statement that names the settlement in errors.
statement statement_of(const std::vector<settlement>& batch) noexcept {
  const handled::how what = verdicts_of(batch);
  if (what == handled::how::completed) return statement::claim_complete;
  return what == handled::how::given_back ? statement::claim_release : statement::claim_fail;
}

/// @param tx null: the settlement has its own unit of work.
std::vector<settle_result> settle_once(const worker_queue& queue,
                                       const std::vector<settlement>& batch,
                                       transaction_state* tx) {
  const queue_state& now = queue.state().current(tx == nullptr);
  const handled::how what = verdicts_of(batch);
  if (what == handled::how::completed)
    return complete(now, tx, receipts_of(batch), results_of(batch));
  if (what == handled::how::given_back) return release(now, tx, receipts_of(batch));
  std::vector<ended_attempt> failures;
  failures.reserve(batch.size());
  for (const settlement& one : batch) {
    const handled& verdict = one.result.verdict;
    const delivery& message = one.message->delivery;
    failures.push_back({.receipt = message.receipt,
                        .error = verdict.why(),
                        .delay = rest_of(verdict, queue.claims, message),
                        .how = what == handled::how::given_up ? ended_attempt::kind::given_up
                                                              : ended_attempt::kind::failed});
  }
  return fail(now, tx, std::move(failures));
}

/// The thread that settles the messages of one queue.
class settler {
 public:
  settler(worker_state& worker, worker_queue& queue) : worker_(worker), queue_(queue) {}

  void run() {
    const stop_scope cut(worker_.given_up(), worker_.given_up());
    backoff pauses(shortest_pause, longest_pause);
    std::vector<settlement> all;
    for (;;) {
      try {
        if (all.empty()) all = next();
        if (all.empty()) return;
        settle_all(all);
        pauses.reset();
      } catch (const std::bad_alloc& failure) {  // `all` has what is not settled.
        worker_.trouble(queue_, failure.what(), pauses, false);
      }
    }
  }

 private:
  /// The next work. Waits for it. Empty: there will be none.
  std::vector<settlement> next() {
    constexpr std::chrono::hours longest{1};
    std::unique_lock lock(worker_.mutex());
    queue_.settles = false;
    worker_.wake_taker(queue_);
    std::vector<settlement> out;
    for (;;) {
      if (!begins_to_linger()) {
        out = queue_.messages.take_finished();
        if (!out.empty()) break;
        if (queue_.taken_all && worker_.callers == 0 && queue_.messages.kept() == 0) {
          leaving_ = true;  // Messages put aside are tried once more.
          return queue_.aside.take_all();
        }
      }
      out = due();
      if (!out.empty()) break;
      const moment until = std::min({steady_clock::now() + longest, queue_.aside.next_try(),
                                     queue_.lingers_until.value_or(moment::max())});
      queue_.settler_waits = true;
      queue_.to_settle.wait_until(lock, until);
      queue_.settler_waits = false;
    }
    queue_.settles = true;
    return out;
  }

  /// Whether finished messages wait for others: worker_options::linger. Under the mutex.
  bool begins_to_linger() {
    const milliseconds longest = worker_.options().linger;
    if (longest.count() > 0 && !queue_.messages.nothing_finished() && !worker_.in_a_hurry(queue_)) {
      const moment now = steady_clock::now();
      if (!queue_.lingers_until) queue_.lingers_until = now + longest;
      if (now < *queue_.lingers_until) return true;
    }
    queue_.lingers_until.reset();
    return false;
  }

  /// One that is put aside and due. Under the mutex.
  std::vector<settlement> due() {
    std::vector<settlement> out;
    out.reserve(1);
    while (std::optional<settlement> one = queue_.aside.take_due(steady_clock::now())) {
      // Without a taker no handler may be left: its verdict is to give it back.
      if (!one->result.again || queue_.taken_all) {
        out.push_back(*std::move(one));
        break;
      }
      const held message = one->message;
      at_end back([&]() noexcept { queue_.aside.add(*std::move(one)); });  // in its place
      queue_.messages.handle_again(message);
      back.cancel();
      queue_.aside.remove(*message);
      worker_.wake_handlers();
    }
    if (queue_.aside.stuck()) worker_.wake_taker(queue_);
    return out;
  }

  /// Removes what is settled, or has another place now.
  void settle_all(std::vector<settlement>& all) {
    if (!std::ranges::is_sorted(all, {}, place_of)) std::ranges::stable_sort(all, {}, place_of);
    while (!all.empty()) {
      const auto end = std::ranges::find_if(
          all, [place = place_of(all.front())](const auto& one) { return place_of(one) != place; });
      const bool last = end == all.end();
      settle_first(all, static_cast<std::size_t>(end - all.begin()),
                   [&](std::vector<settlement>& batch) {
                     if (batch.front().result.ended) {
                       worker_.conclude(queue_, batch);
                       batch.clear();
                     } else if (!last || batch.front().message->aside || !settle_and_take(batch)) {
                       settle(batch);
                     }
                   });
    }
  }

  /// Calls `work(batch)` with the first `count`. If it throws, the rest of the batch stays in
  /// `all`.
  template <class Work>
  static void settle_first(std::vector<settlement>& all, std::size_t count, Work work) {
    std::vector<settlement> batch;
    batch.reserve(count);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(count);
    std::move(all.begin(), end, std::back_inserter(batch));
    all.erase(all.begin(), end);
    const at_end left([&]() noexcept { std::ranges::move(batch, std::back_inserter(all)); });
    work(batch);
  }

  /// As settle_all, of one kind.
  void settle(std::vector<settlement>& batch) {
    backoff pauses(shortest_pause, longest_pause);
    while (!batch.empty()) {
      try {
        const queue_state& queue = queue_.state();
        std::vector<settle_result> results;
        {
          std::optional<unrepeated> once;
          // On a database with one writer each call waits for the others.
          if (!queue.database().capabilities().one_writer) once.emplace();
          std::optional<brief_locks> brief;
          if (!leaving_) brief.emplace();
          results = operation(queue_operation(queue, nullptr, statement_of(batch)),
                              [&](const queue_state&, transaction_state* tx) {
                                return settle_once(queue_, batch, tx);
                              });
        }
        settled_as(batch, results);
        return apply_retention(queue);
      } catch (const error& failure) {
        if (failure.code() == errc::busy && put_locked_aside(batch)) continue;
        const bool for_now = may_pass(failure) && !of_the_database(queue_, failure);
        if (failure.code() == errc::outcome_unknown || too_late(batch, for_now)) {
          return not_settled(batch, failure.what());
        }
        const bool for_good = may_concern_one_message(failure);
        if (for_good || for_now) {
          if (batch.size() == 1) {
            for_good ? refused_for_good(batch, failure) : refused_for_now(batch, failure);
            continue;
          }
          while (!batch.empty())
            settle_first(batch, 1, [&](std::vector<settlement>& one) { settle(one); });
          return;
        }
        if (!may_pass(failure)) {
          not_settled(batch, failure.what());
          throw;
        }
        worker_.trouble(queue_, failure.what(), pauses, false);
      } catch (const std::exception& failure) {  // Usually a lack of memory.
        if (too_late(batch, false)) return not_settled(batch, failure.what());
        worker_.trouble(queue_, failure.what(), pauses, false);
      }
    }
  }

  /// Settles the batch, and takes what is next in the same unit of work if a take is due.
  /// @return false if nothing was done.
  bool settle_and_take(std::vector<settlement>& batch) {
    const std::size_t max = begin_joint_take(worker_, queue_);
    if (max == 0) return false;
    const at_end ended([this]() noexcept { end_joint_take(worker_, queue_); });
    const brief_locks brief;
    try {
      const queue_state& queue = queue_.state();
      auto done = operation(
          queue_operation(queue, nullptr, statement_of(batch)),
          [&](const queue_state& now, transaction_state*) {
            return core::settle_and_take(
                now,
                {.id = statement_of(batch),
                 .given = batch.size(),
                 .run = [&](transaction_state& tx) { return settle_once(queue_, batch, &tx); }},
                max, queue_.lease);
          });
      if (!done) return false;
      try {
        took(worker_, queue_, std::move(done->taken), max, done->course);
      } catch (const std::bad_alloc& failure) {  // They return after their leases.
        worker_.report_trouble(queue_, failure.what());
      }
      settled_as(batch, done->settled);
      if (done->trouble) worker_.report_trouble(queue_, done->trouble->what());
      apply_retention(queue);
      return true;
    } catch (const error& failure) {
      // Both parts may have been committed.
      if (failure.code() != errc::outcome_unknown) return false;
      not_settled(batch, failure.what());
      return true;
    } catch (const std::exception&) {  // Usually a lack of memory: each part by itself needs less.
      return false;
    }
  }

  /// Puts messages aside whose groups other transactions have locked, perhaps for hours.
  /// @return false: there are none.
  bool put_locked_aside(std::vector<settlement>& batch) {
    const queue_state& queue = queue_.state();
    if (leaving_ || !passes_groups(queue)) return false;
    std::set<std::size_t> locked;
    try {
      const unrepeated once;
      locked = in_one_transaction(queue.database(), nullptr, [&](transaction_state& tx) {
        std::vector<message_id> ids;
        ids.reserve(batch.size());
        for (const settlement& one : batch) ids.push_back(one.message->delivery.receipt.id);
        return pass_locked_groups(queue, tx, ids);
      });
    } catch (const error&) {  // The caller has the same trouble.
      return false;
    }
    const std::scoped_lock hold(worker_.mutex());
    for (auto place = locked.rbegin(); place != locked.rend(); ++place) {
      if (!queue_.aside.make_room()) throw std::bad_alloc();
      const auto one = batch.begin() + static_cast<std::ptrdiff_t>(*place);
      queue_.aside.rest(one->message->refused);
      worker_.put_aside(queue_, std::move(*one));
      batch.erase(one);
    }
    return !locked.empty();
  }

  /// The database refuses the settlement of one message. If it stays in `only`, the caller settles
  /// it in another way.
  void refused_for_good(std::vector<settlement>& only, const error& refused) {
    handler_result& result = only.front().result;
    if (result.verdict.what() != handled::how::completed) return not_settled(only, refused.what());
    result = {.verdict = refused_completion(refused)};
  }

  void refused_for_now(std::vector<settlement>& only, const error& refused) {
    settlement& one = only.front();
    const handled::how what = one.result.verdict.what();
    held_message& message = *one.message;
    if (message.expelled || (leaving_ && what == handled::how::given_back))
      return not_settled(only, refused.what());
    if (what != handled::how::given_back && (leaving_ || worker_.abandoned())) {
      one.result = {.verdict = handled::give_back()};
      return;
    }
    if (!message.refused.first) worker_.report_trouble(queue_, refused.what());
    if (is_own(worker_, queue_, one.message, what, refused)) {
      message.refused = {};
      return refused_for_good(only, refused);
    }
    const std::scoped_lock hold(worker_.mutex());
    if (!queue_.aside.make_room()) throw std::bad_alloc();
    worker_.put_aside(queue_, std::move(one));
    only.clear();
  }

  /// Whether other workers may have the messages, or no thread waits for the result.
  /// @param for_now they were refused, which costs no time.
  bool too_late(const std::vector<settlement>& batch, bool for_now) {
    if (worker_.abandoned() && !for_now) return true;
    if (!worker_.stopped()) return false;
    // When all leases have ended, other workers may have the messages.
    const moment now = steady_clock::now();
    const std::scoped_lock hold(worker_.mutex());
    return std::ranges::none_of(
        batch, [&](const settlement& one) { return one.message->sure_until > now; });
  }

  void settled_as(std::vector<settlement>& batch, const std::vector<settle_result>& results) {
    {
      const std::scoped_lock hold(worker_.mutex());
      if (std::ranges::count(results, settle_result::applied) > 0) {
        worker_.succeeded(queue_, verdicts_of(batch), batch.front().message->refused.tries);
      }
      for (std::size_t i = 0; i < batch.size(); ++i) {
        const held_message& message = *batch[i].message;
        handler_result& result = batch[i].result;
        const handled::how verdict = result.verdict.what();
        if (results[i] == settle_result::applied) {
          result.ended = end_of(verdict);
        } else if (verdict != handled::how::given_back || !message.released || message.running) {
          // Otherwise it was given back and reported while its handler ran.
          result.ended = worker_event::kind::lease_lost;
        }
      }
    }
    worker_.conclude(queue_, batch);
    batch.clear();
  }

  void not_settled(std::vector<settlement>& batch, std::string_view why) {
    for (settlement& one : batch) {
      one.result.why = why;
      one.result.ended = worker_event::kind::unknown;
    }
    worker_.conclude(queue_, batch);
    batch.clear();
  }

  worker_state& worker_;
  worker_queue& queue_;
  bool leaving_ = false;  ///< Nothing else is left: what is refused now is not tried again.
};

}  // namespace

void settle_messages(worker_state& worker, worker_queue& queue) {
  settler(worker, queue).run();
}

}  // namespace tableq::inline v0::core
