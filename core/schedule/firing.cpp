#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/input/codec.hpp"
#include "core/input/identifier.hpp"
#include "core/schedule/rules.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"
#include "core/session/paced_work.hpp"

namespace tableq::inline v0::core {
namespace {

using namespace std::chrono_literals;

/// In characters of the narrowest column.
constexpr std::size_t longest_problem = 400;
/// A time that gets no message later may be so late.
constexpr std::chrono::milliseconds on_time = 1min;

void note_problem(database_state& database, const due_rule_row& rule, std::string_view why,
                  bool disable = false) {
  fire_request request{rule};
  request.next = rule.due;
  request.problem = to_plain_utf8(why, longest_problem);
  request.disable = disable;
  if (rule.problem == request.problem && !disable) return;
  database.on_session([&](connection& session) {
    return run(session, names_for(database.options(), {}), statements::schedules_fire, request);
  });
}

/// The times since the due one for which messages are added, and the last of all of them.
std::pair<std::vector<timestamp>, timestamp> missed(const due_rule_row& rule, const timing& when) {
  const auto most = static_cast<std::size_t>(std::clamp(rule.catch_up, 1, 1000));
  std::vector<timestamp> times = when.rule.last(*rule.due, rule.clock, most, when.zone);
  const timestamp last = times.back();
  auto longest = rule.latest;
  if (rule.catch_up < 1) longest = std::min(longest.value_or(on_time), on_time);
  std::erase_if(times, [&](timestamp time) { return longest && rule.clock - time > *longest; });
  return {std::move(times), last};
}

/// Why no message was added, for a person; empty: it was, or an earlier one is running.
std::string why_none(const queue_state& queue, transaction_state& tx, bool skip,
                     std::span<const enqueued> added) {
  if (!skip || added.front().created()) return {};
  const auto found =
      queue.execute(&tx, statements::claim_state_of, {}, std::span(&added.front().id, 1));
  return !found.empty() && found.front().state == message_state::dead
             ? "its last message is dead and holds the key: redrive or purge it"
             : "";
}

/// Adds the messages and goes on to the next time, or leaves it to a process that was faster.
/// @return as why_none.
std::string go_on(database_state& database, const due_rule_row& rule, const fire_request& request,
                  const queue_state* target, std::span<const timestamp> times) {
  const auto tx = begin_transaction(database.shared_from_this(), 0ms);
  const auto won =
      run(tx->session(), names_for(database.options(), {}), statements::schedules_fire, request);
  if (won.empty()) return {};
  std::string problem;
  if (target != nullptr) {
    const periodic_row& message = won.front();
    problem =
        why_none(*target, *tx, message.skip, add_messages(*target, *tx, rule.name, message, times));
  }
  tx->commit();
  return problem;
}

void fire(database_state& database, const due_rule_row& rule) {
  std::optional<timing> when;
  try {
    when.emplace(rule.cron, rule.every, rule.zone);
  } catch (const error& failure) {
    // A rule that another process has accepted may fail here: its zone is missing in older files,
    // say.
    const bool wrong = failure.code() == errc::invalid_argument;
    if (wrong && !rule.due) return note_problem(database, rule, failure.what(), true);
    throw;
  }
  fire_request request{rule};
  request.problem.reset();
  std::vector<timestamp> times;
  if (rule.due) {
    timestamp last;
    std::tie(times, last) = missed(rule, *when);
    request.last = last;
    request.next = when->after(last);
  } else {
    request.next = when->after(rule.clock);
  }
  const auto target = times.empty() ? nullptr : target_of(database, rule.queue);
  const std::string problem = go_on(database, rule, request, target.get(), times);
  if (problem.empty()) return;
  request.due = request.next;
  note_problem(database, request, problem);
}

/// Looks for due rules.
///
/// @par Thread safety
/// Shared objects: safe.
class follower {
 public:
  using moment = paced_work::clock::time_point;

  moment attend(database_state& database) noexcept {
    return pace_.run(database.set_clock(), [&](moment now) -> paced_work::clock::duration {
      std::size_t followed = 0;
      const std::chrono::milliseconds pause = look(database, now, followed);
      if (database.set_clock()) return shortest;
      // More may be due. Half of the time is for the reads.
      if (followed >= most_rules) return paced_work::clock::now() - now;
      return std::max(pause, at_most_each);
    });
  }

 private:
  static constexpr std::size_t most_rules = 50;
  static constexpr std::chrono::milliseconds at_most_each = 1s;
  static constexpr std::chrono::milliseconds shortest = 20ms;  // with a clock that a test sets
  static constexpr std::chrono::milliseconds refused_pause = 30s;
  static constexpr std::chrono::milliseconds failed_pause = 10s;
  static constexpr std::chrono::milliseconds forgotten = 10min;  // a rule was removed meanwhile

  /// @return how long until the next look.
  std::chrono::milliseconds look(database_state& database, moment now, std::size_t& followed) {
    std::erase_if(left_, [&](const auto& each) { return each.second + forgotten <= now; });
    // Those that were left stay due, and must not hide the ones behind them.
    const std::size_t most = most_rules + left_.size();
    const auto rules = database.on_session([&](connection& session) {
      return run(session, names_for(database.options(), {}), statements::schedules_due,
                 {.max = most});
    });
    std::size_t again = 0;
    std::set<std::string> locked;  // queues that cost time, in this look
    std::chrono::milliseconds pause =
        rules.size() == most ? at_most_each : database.options().poll_interval;
    if (database.set_clock()) pause = shortest;
    for (const due_rule_row& rule : rules) {
      if (rule.due && *rule.due > rule.clock) return std::min(pause, *rule.due - rule.clock);
      if (const auto left = left_.find(rule.name); left != left_.end()) {
        pause = std::min(pause, until(left->second, now));
        if (left->second > now || again == most_rules) continue;
        ++again;
      }
      if (locked.contains(rule.queue)) continue;
      try {
        fire(database, rule);
        ++followed;
        left_.erase(rule.name);
        pause = at_most_each;
      } catch (const error& failure) {
        pause = std::min(pause, leave(database, rule, failure, now));
        if (failure.code() == errc::busy) locked.insert(rule.queue);
      }
    }
    return pause;
  }

  static std::chrono::milliseconds until(moment then, moment now) {
    return std::chrono::ceil<std::chrono::milliseconds>(then - now);
  }

  /// Tries it again later. Others are followed meanwhile.
  /// @return after how long.
  std::chrono::milliseconds leave(database_state& database, const due_rule_row& rule,
                                  const error& failure, moment now) {
    // An open transaction may lock the rule's queue for hours.
    const bool locked = failure.code() == errc::busy && !failure.sqlstate().empty();
    if (!locked && (may_pass(failure) || failure.code() == errc::outcome_unknown))
      return at_most_each;
    const bool refused = failure.code() == errc::permission_denied;
    const auto pause = refused ? refused_pause : failed_pause;
    left_[rule.name] = database.set_clock() ? now : now + pause;
    // A process with the rights may follow it, or one with newer time zone files.
    if (!refused) note_problem(database, rule, failure.what());
    return pause;
  }

  paced_work pace_;
  // Rules that failed, and when to try them again. Only the thread that works uses it.
  std::map<std::string, moment> left_;
};

}  // namespace

upkeep make_rule_upkeep() {
  return
      [rules = std::make_shared<follower>()](const queue_state& queue, const queue_info& stored) {
        return stored.schedules ? rules->attend(queue.database()) : follower::moment::max();
      };
}

}  // namespace tableq::inline v0::core
