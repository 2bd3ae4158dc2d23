#include "core/claim/operations.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <utility>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/claim/lease_table.hpp"
#include "core/claim/step.hpp"
#include "core/input/validate.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/queue/waiting.hpp"

namespace tableq::inline v0::core {
namespace {

/// The number of messages that one statement makes ready.
constexpr std::size_t promote_batch = 1000;
/// The batches for one take from a table of the application: a trigger there may undo each of them.
constexpr int most_batches_of_foreign_rows = 100;

/// Makes a batch of due or expired messages ready or dead.
/// @return how many.
std::size_t promote_some(const queue_state& queue, transaction_state* tx) {
  return claim_step(
      queue, tx, {}, has_consequences(queue), [&](transaction_state* step_tx, claim_effects& done) {
        const auto moved = leases_of(queue).promote(queue, step_tx, promote_batch);
        std::vector<message_id> left;  // their groups have room
        for (const changed_message& each : moved) {
          const bool dead = each.state == message_state::dead;
          if (dead) done.dead.push_back(each.id);
          const bool starts = each.state == message_state::ready && queue.info().group_rates;
          if (starts) done.returned.push_back(each.id);
          if (dead || starts || each.state == message_state::held) left.push_back(each.id);
        }
        if (queue.info().groups && !left.empty()) lock_groups_of(queue, *step_tx, left, done);
        done.left = !moved.empty();  // Some messages may be dead now.
        return moved.size();
      });
}

/// The last read of a take: its answer beside the messages.
struct last_read {
  bool refused = false;
  bool due = false;  ///< A message is due, or may be.
  bool told = false;
  std::optional<std::chrono::milliseconds> due_in = {};
  bool more = true;  ///< Ready messages may be left.
  /// A limit has stopped it, until then; empty: until leases have ended.
  bool limited = false;
  std::optional<std::chrono::milliseconds> retry_in = {};
};

/// Takes messages until some can be delivered, or none is left. Makes the others dead.
std::vector<delivery> take_fit(const queue_state& queue, transaction_state* tx,
                               const take_terms& terms, read_gate& gate, last_read& last) {
  for (;;) {
    const bool committed = tx == nullptr || tx->in_none();
    taken_messages got = leases_of(queue).take(queue, tx, terms);
    const bool due = got.due || (terms.how == reading::guarded && got.none() && !got.limited);
    const bool full = !got.unfit.empty() || got.good.size() >= terms.max;
    last = {.refused = got.refused,
            .due = due,
            .told = got.told,
            .due_in = got.due_in,
            .more = due || got.refused || got.limited || full,
            .limited = got.limited && got.none(),
            .retry_in = got.retry_in};
    if (!got.unfit.empty()) {
      try {
        make_dead(queue, tx, got.unfit);
      } catch (const error& failure) {
        // The deliverable messages are leased, so they are delivered. The others return when their
        // leases end. In a transaction of tableq's the error undoes everything.
        if (!committed && !tx->keeps_changes()) throw;
        if (got.good.empty() && !may_concern_one_row(failure)) throw;
      }
      gate.keep();
    }
    if (!got.good.empty() || got.unfit.empty()) return std::move(got.good);
  }
}

}  // namespace

void promote(const queue_state& queue, transaction_state* tx) {
  for (int done = 1; promote_some(queue, tx) == promote_batch; ++done) {
    if (queue.mapped() != nullptr && done == most_batches_of_foreign_rows) break;
  }
}

std::vector<delivery> take(const queue_state& queue, transaction_state* tx, std::size_t max,
                           const take_options& options, take_course* course) {
  check_batch_size(max);
  check_wait(options.wait, tx != nullptr);
  check_timestamp(options.claimed_at, "claimed_at");
  if (options.lease) check_lease(*options.lease);
  read_gate gate(queue, tx, options.wait, options.stop);
  watched_queue& watched = queue.shared().watched;
  last_read last;
  std::uint64_t mark = 0;  // what `readers` had counted when the last read began
  const auto once = [&](reading how) {
    last = {};
    const auto began = std::chrono::steady_clock::now();
    // A long wait sees other options of the queue meanwhile.
    const queue_state& now = queue.current(tx == nullptr);
    const std::chrono::milliseconds lease = options.lease.value_or(now.info().lease);
    const auto take_now = [&](transaction_state* read_tx, std::size_t most,
                              bool within_limits = false) {
      if (course != nullptr) course->read_began = std::chrono::steady_clock::now();
      return take_fit(now, read_tx,
                      {.max = most,
                       .lease = lease,
                       .claimed_at = options.claimed_at,
                       .how = how,
                       .within_limits = within_limits},
                      gate, last);
    };
    std::vector<delivery> got;
    if (gate.unlimited(how == reading::look && looks_at_limits(queue))) {
      got = take_now(tx, max);
      if (last.refused) queue.limits().forget();
    } else {
      if (how == reading::look) how = reading::guarded;
      if (tx != nullptr || !takes_within_limits(now)) {
        got = gate.limited(max, take_now);
      } else if (!gate.held_back()) {
        got = take_now(tx, max, true);
        if (last.limited) gate.hold_back(last.retry_in);
      }
    }
    if (last.told) {
      watched.due.told(began, last.due_in);
    } else if (how == reading::guarded && !got.empty()) {
      watched.due.none_due(began);
    }
    watched.due.took(last.more && !got.empty());
    if (!got.empty()) watched.due.expect(began, lease);
    return got;
  };
  const auto read = [&](woken reason) {
    mark = watched.readers.mark();
    const auto now = std::chrono::steady_clock::now();
    // With a clock that a test sets, and in transactions, each take asks.
    const bool asks = tx != nullptr || queue.database().now() || queue.mapped() != nullptr ||
                      watched.due.asks(now, reason == woken::message);
    if (!asks) {
      std::vector<delivery> got = once(reading::plain);
      if (!got.empty() || gate.held_back()) return got;
    }
    const reading how = tx == nullptr ? reading::look : reading::guarded;
    std::vector<delivery> got = once(how);
    if (last.refused) got = once(how);  // the limits are asked for first
    if (!got.empty() || gate.held_back() || !last.due) return got;
    promote(queue.current(tx == nullptr), tx);
    return once(reading::plain);
  };
  if (options.wait.count() == 0) return read(woken::no);
  const auto due_in = [&] {
    // The answer of the read just before, unless something has changed since.
    const bool usable = std::exchange(last.told, false) && mark == watched.readers.mark();
    return usable ? last.due_in : leases_of(queue).next_due(queue);
  };
  const bool of_worker = course != nullptr;
  std::vector<delivery> taken = wait_for(
      queue,
      {.longest = options.wait,
       .stop = options.stop,
       .refuses = !of_worker,
       .read_at = of_worker ? std::exchange(course->drained_at, std::nullopt) : std::nullopt},
      due_in, [&](woken reason) { return gate.patiently([&] { return read(reason); }); },
      [&] { return last.more; });
  if (of_worker && !taken.empty() && !last.more) course->drained_at = mark;
  return taken;
}

}  // namespace tableq::inline v0::core
