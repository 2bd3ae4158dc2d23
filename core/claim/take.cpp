#include "core/claim/operations.hpp"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/claim/lease_table.hpp"
#include "core/claim/step.hpp"
#include "core/input/validate.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/queue/waiting.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// The number of messages that one statement makes ready.
constexpr std::size_t promote_batch = 1000;
/// The number that a take makes ready before it looks again.
constexpr std::size_t most_promoted = 2000;
/// A take looks behind so many messages of locked groups.
constexpr std::size_t most_passed = 100'000;
/// The batches for one take from a table of the application: a trigger there may undo each of them.
constexpr int most_batches_of_foreign_rows = 100;

/// Due or expired messages that one statement has looked at.
struct promoted {
  std::size_t moved = 0;
  std::size_t passed = 0;  ///< Their groups are locked by others.
};

/// The due or expired messages of a batch that would move groups.
struct due_in_groups {
  std::string locked = {};  ///< The ids of those whose groups are locked now, commas between them.
  std::size_t passed = 0;
};

/// Locks the groups that a batch of due or expired messages moves, as far as nobody else has them:
/// a transaction may have one for hours.
due_in_groups lock_due(const queue_state& queue, transaction_state& tx, std::size_t max,
                       claim_effects& done) {
  const auto due = queue.execute(&tx, statements::claim_due, due_now(queue, max));
  group_set groups;
  for (const grouped_row& each : due) groups.insert(each.group_key);
  done.groups = lock_free_groups(queue, tx, std::move(groups));
  due_in_groups out;
  for (const grouped_row& each : due) {
    if (!done.groups.contains(each.group_key)) {
      ++out.passed;
      continue;
    }
    out.locked.append(out.locked.empty() ? "" : ",").append(std::to_string(each.id.value));
  }
  return out;
}

/// Makes those of the first `max` due or expired messages ready or dead whose groups are free.
promoted promote_some(const queue_state& queue, transaction_state* tx, std::size_t max) {
  return claim_step(
      queue, tx, {}, has_consequences(queue), [&](transaction_state* step_tx, claim_effects& done) {
        std::optional<due_in_groups> due;
        if (passes_groups(queue)) due = lock_due(queue, *step_tx, max, done);
        std::optional<std::string_view> locked;
        if (due) locked = due->locked;
        const auto moved = leases_of(queue).promote(queue, step_tx, max, locked);
        std::vector<message_id> left;  // their groups have room
        for (const changed_message& each : moved) {
          const bool dead = each.state == message_state::dead;
          if (dead) done.dead.push_back(each.id);
          const bool starts = each.state == message_state::ready && queue.info().group_rates;
          if (starts) done.returned.push_back(each.id);
          if (dead || starts || each.state == message_state::held) left.push_back(each.id);
        }
        if (queue.info().groups && !locked && !left.empty())
          lock_groups_of(queue, *step_tx, left, done);
        done.left = !moved.empty();  // Some messages may be dead now.
        return promoted{.moved = moved.size(), .passed = due ? due->passed : 0};
      });
}

/// One take.
class taking {
 public:
  taking(const queue_state& queue, transaction_state* tx, std::size_t max,
         const take_options& options, take_course* course)
      : queue_(queue),
        tx_(tx),
        max_(max),
        options_(options),
        course_(course),
        gate_(queue, tx, options.wait, options.stop) {}

  std::vector<delivery> read(woken reason) {
    mark_ = watched_.readers.mark();
    const auto now = std::chrono::steady_clock::now();
    // With a clock that a test sets, and in transactions, each take asks.
    const bool asks = tx_ != nullptr || queue_.database().set_clock() ||
                      queue_.mapped() != nullptr ||
                      watched_.due.asks(now, reason == woken::message);
    std::vector<delivery> got;
    if (!asks) got = once(reading::plain);
    if (!asks && (!got.empty() || gate_.held_back())) return got;
    const reading how = tx_ == nullptr ? reading::look : reading::guarded;
    got = once(how);
    if (last_.refused) got = once(how);  // the limits are asked for first
    if (!got.empty() || gate_.held_back() || !last_.due) return got;
    bool more_due = true;
    while (got.empty() && more_due && !gate_.held_back()) {
      more_due = promote(queue_.current(tx_ == nullptr), tx_);
      got = once(reading::plain);
    }
    return got;
  }

  /// The same, until the time ends.
  std::vector<delivery> wait() {
    const auto due_in = [&] {
      // The answer of the read just before, unless something has changed since.
      const bool usable = std::exchange(last_.told, false) && mark_ == watched_.readers.mark();
      return usable ? last_.due_in : leases_of(queue_).next_due(queue_);
    };
    wait_terms terms{
        .longest = options_.wait, .stop = options_.stop, .refuses = course_ == nullptr};
    if (course_ != nullptr) terms.read_at = std::exchange(course_->drained_at, std::nullopt);
    std::vector<delivery> taken = wait_for(
        queue_, terms, due_in,
        [&](woken reason) { return gate_.patiently([&] { return read(reason); }); },
        [&] { return more_; });
    if (course_ != nullptr && !taken.empty() && !more_) course_->drained_at = mark_;
    return taken;
  }

 private:
  std::vector<delivery> once(reading how) {
    last_ = {};
    more_ = true;
    const auto began = std::chrono::steady_clock::now();
    // A long wait sees other options of the queue meanwhile.
    const queue_state& now = queue_.current(tx_ == nullptr);
    take_terms terms{.max = max_,
                     .lease = options_.lease.value_or(now.info().lease),
                     .claimed_at = options_.claimed_at,
                     .how = how};
    std::vector<delivery> got;
    if (gate_.unlimited(how == reading::look && looks_at_limits(queue_))) {
      got = take_fit(now, tx_, terms);
      if (last_.refused) queue_.limits().forget();
    } else {
      if (how == reading::look) terms.how = reading::guarded;
      terms.within_limits = tx_ == nullptr && takes_within_limits(now);
      if (!terms.within_limits) {
        got = gate_.limited(max_, [&](transaction_state* read_tx, std::size_t most) {
          terms.max = most;
          return take_fit(now, read_tx, terms);
        });
      } else if (!gate_.held_back()) {
        got = take_fit(now, tx_, terms);
        if (last_.limited) gate_.hold_back(last_.retry_in);
      }
    }
    if (last_.told) {
      watched_.due.told(began, last_.due_in);
    } else if (terms.how == reading::guarded && !got.empty()) {
      watched_.due.none_due(began);
    }
    watched_.due.took(more_ && !got.empty());
    if (!got.empty()) watched_.due.expect(began, terms.lease);
    return got;
  }

  /// Takes messages until some can be delivered, or none is left. Makes the others dead.
  std::vector<delivery> take_fit(const queue_state& queue, transaction_state* tx,
                                 const take_terms& terms) {
    if (course_ != nullptr) course_->read_began = std::chrono::steady_clock::now();
    for (;;) {
      const bool committed = tx == nullptr || tx->in_none();
      last_ = leases_of(queue).take(queue, tx, terms);
      std::vector<delivery> good = std::exchange(last_.good, {});
      const std::vector<ended_attempt> unfit = std::exchange(last_.unfit, {});
      const bool none = good.empty() && unfit.empty();
      last_.due = last_.due || (terms.how == reading::guarded && none && !last_.limited);
      more_ =
          last_.due || last_.refused || last_.limited || !unfit.empty() || good.size() >= terms.max;
      last_.limited = last_.limited && none;
      if (unfit.empty()) return good;
      try {
        end_unfit(queue, tx, unfit);
      } catch (const error& failure) {
        // The deliverable messages are leased, so they are delivered. The others return when their
        // leases end. In a transaction of tableq's the error undoes everything.
        if (!committed && !tx->keeps_changes()) throw;
        if (good.empty() && !may_concern_one_row(failure)) throw;
      }
      gate_.keep();
      if (!good.empty()) return good;
    }
  }

  const queue_state& queue_;
  transaction_state* tx_;
  const std::size_t max_;
  const take_options& options_;
  take_course* const course_;
  read_gate gate_;
  watched_queue& watched_ = queue_.shared().watched;
  std::uint64_t mark_ = 0;  // what `readers` had counted when the last read began
  taken_messages last_;     // the answer of the last read, without its messages
  bool more_ = true;        // ready messages may be left
};

}  // namespace

bool promote(const queue_state& queue, transaction_state* tx) {
  const bool foreign = queue.mapped() != nullptr;
  std::size_t max = promote_batch;
  std::size_t moved = 0;
  for (int done = 1;; ++done) {
    const promoted now = promote_some(queue, tx, max);
    if (now.moved + now.passed < max || now.passed > most_passed) return false;
    if (foreign && done == most_batches_of_foreign_rows) return false;
    moved += now.moved;
    if (!foreign && moved >= most_promoted) return true;
    max = promote_batch + 2 * now.passed;  // the next ones stand behind these
  }
}

std::vector<delivery> take(const queue_state& queue, transaction_state* tx, std::size_t max,
                           const take_options& options, take_course* course) {
  check_batch_size(max);
  check_wait(options.wait, tx != nullptr);
  check_timestamp(options.claimed_at, "claimed_at");
  if (options.lease) check_lease(*options.lease);
  taking one(queue, tx, max, options, course);
  return options.wait.count() == 0 ? one.read(woken::no) : one.wait();
}

}  // namespace tableq::inline v0::core
