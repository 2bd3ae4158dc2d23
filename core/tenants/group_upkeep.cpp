#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/step.hpp"
#include "core/queue/waiting.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"
#include "core/session/paced_work.hpp"
#include "core/tenants/group_limits.hpp"

namespace tableq::inline v0::core {
namespace {

/// Their locks are held together.
constexpr std::size_t groups_at_once = 50;

}  // namespace

void move_some_groups(const queue_state& queue, const group_set& groups, bool briefly) {
  in_one_transaction(queue.database(), nullptr, [&](transaction_state& tx) {
    if (briefly) {
      run(tx.session(), queue.names(), statements::queue_alter, {.only_writers = true});
    }
    lock_groups(queue, tx, groups);
    apply(queue, &tx, {.readable = move_groups(queue, tx, groups)});
    return true;
  });
}

std::optional<std::string> move_all_groups(const queue_state& queue, std::string after,
                                           std::chrono::steady_clock::time_point until) {
  for (;;) {
    const auto found = queue.execute(nullptr, statements::claim_next_groups,
                                     {.after = after, .max = groups_at_once});
    group_set groups;
    for (const group_row& row : found) groups.insert(row.group_key);
    if (groups.empty()) return std::nullopt;
    move_some_groups(queue, groups, until != std::chrono::steady_clock::time_point::max());
    if (found.size() < groups_at_once) return std::nullopt;
    after = *groups.rbegin();
    if (std::chrono::steady_clock::now() >= until) return after;
  }
}

namespace {

/// Lets groups start again that wait for a time before which the clock was set back.
void move_late_groups(const queue_state& queue, std::chrono::steady_clock::time_point until) {
  std::string after;
  do {
    const auto found =
        queue.execute(nullptr, statements::group_late,
                      {.queue = queue.name(), .first = after, .max = groups_at_once});
    group_set groups;
    for (const group_row& row : found) groups.insert(row.group_key);
    if (groups.empty()) return;
    after = *groups.rbegin();
    in_one_transaction(queue.database(), nullptr, [&](transaction_state& tx) {
      if (passes_groups(queue)) groups = lock_free_groups(queue, tx, std::move(groups));
      if (!groups.empty()) apply(queue, &tx, {.readable = move_groups(queue, tx, groups)});
      return true;
    });
  } while (std::chrono::steady_clock::now() < until);
}

/// The limits of all queues, as this process knows them.
class group_upkeep {
 public:
  std::chrono::steady_clock::time_point attend(const queue_state& queue,
                                               const queue_info& stored) noexcept {
    if (!stored.group_limits) return clock::time_point::max();
    course& mine = course_of(stored.identity);
    // With a clock that a test sets, each call looks.
    return mine.pace.run(queue.database().set_clock(), [&](clock::time_point now) {
      look(queue.current(false), mine, now);
      return paced_work::usual_pause;
    });
  }

 private:
  using clock = paced_work::clock;
  static constexpr std::chrono::milliseconds longest_look{100};
  /// From then on all processes have heard of the limits.
  static constexpr std::chrono::milliseconds all_heard{1500};

  struct course {
    paced_work pace = {};
    clock::time_point next_sweep = {};
    std::int64_t heard = 0;  ///< The last change.
    clock::time_point heard_at = {};
    clock::time_point round_began = {};
    std::string after = {};  ///< The last group of this round.
  };

  course& course_of(std::int64_t identity) {
    const std::scoped_lock hold(mutex_);
    return courses_[identity];  // elements of a map stay where they are
  }

  static void look(const queue_state& queue, course& mine, clock::time_point now) {
    const bool set_clock = queue.database().set_clock();
    const clock::time_point until = set_clock ? now : now + longest_look;
    const auto rows =
        queue.execute(nullptr, statements::group_list, {.queue = queue.name(), .max = 1});
    if (!rows.empty() && rows.front().name.empty() &&
        rows.front().changes != rows.front().applied) {
      if (std::exchange(mine.heard, rows.front().changes) != rows.front().changes)
        mine.heard_at = now;
      // A round goes on although more changes come: one that begins later is for them.
      if (mine.after.empty()) mine.round_began = now;
      mine.after = move_all_groups(queue, mine.after, until).value_or("");
      const bool all = mine.after.empty();
      const auto heard_by_all = mine.heard_at + (set_clock ? clock::duration() : all_heard);
      if (all && mine.round_began >= heard_by_all) {
        queue.execute(nullptr, statements::group_apply,
                      {.queue = queue.name(), .changes = mine.heard});
      }
    }
    if (now < mine.next_sweep && !set_clock) return;
    if (queue.info().group_rates) move_late_groups(queue, now + longest_look);
    constexpr std::size_t most_at_once = 1000;
    std::size_t gone = most_at_once;
    while (gone == most_at_once && (set_clock || clock::now() < now + longest_look)) {
      gone = queue
                 .execute(nullptr, statements::group_forget,
                          {.queue = queue.name(), .max = most_at_once})
                 .size();
    }
    if (gone < most_at_once) mine.next_sweep = now + queue.database().options().poll_interval;
  }

  std::mutex mutex_;
  std::map<std::int64_t, course> courses_;  // by the queue's identity; guarded by mutex_
};

}  // namespace

upkeep make_group_upkeep() {
  const auto all = std::make_shared<group_upkeep>();
  return [all](const queue_state& queue, const queue_info& stored) {
    return all->attend(queue, stored);
  };
}

}  // namespace tableq::inline v0::core
