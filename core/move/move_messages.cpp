#include <tableq/move.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <tableq/claim_queue.hpp>
#include <tableq/database.hpp>
#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/claim/dead_letters.hpp"
#include "core/claim/messages.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/transfer.hpp"
#include "core/database/access.hpp"
#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/queue_options.hpp"
#include "core/input/validate.hpp"
#include "core/move/leftover.hpp"
#include "core/queue/queue_state.hpp"
#include "core/schema/catalog.hpp"
#include "core/seam/statements.hpp"
#include "core/waking/change_signal.hpp"

namespace tableq::inline v0 {
namespace core {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

constexpr std::string_view out_ending = ".out";
constexpr std::string_view in_ending = ".in";
constexpr std::string_view target_key = "target";
constexpr std::size_t longest_moved_name = 36;  // 40 with an ending
/// Between looks at a source whose messages are leased.
constexpr auto pause_between_looks = 250ms;
/// The delay of the marks of arrived messages, longer than a move: no take finds them.
constexpr auto mark_delay = std::chrono::hours{24} * 3650;
constexpr int moving_states = cancelled_states & ~bit_of(message_state::held);

queue_info find_side(database_state& database, std::string_view name, std::string_view side) {
  auto found = find_queue(database, name);
  if (!found) {
    refuse(errc::not_found,
           "there is no queue " + std::string(name) + " in the " + std::string(side) +
               "; check its name, or make it there with the options of the other one");
  }
  if (found->kind == kind::claim) return *std::move(found);
  refuse(errc::kind_mismatch, "the queue " + std::string(name) + " in the " + std::string(side) +
                                  " is of the kind " + std::string(to_string(found->kind)) +
                                  ", and only claim queues move");
}

/// Without what other rooms have set: schedules, ends of batches and limits of groups stay with
/// their database.
queue_info as_created(queue_info info) {
  info.schedules = false;
  info.key_windows = info.key_window.count() > 0;
  info.batch_ends = false;
  info.group_limits = false;
  info.group_rates = false;
  return info;
}

/// @throws error unless messages can move from one to the other.
void check_sides(database_state& from, database_state& to, std::string_view name) {
  if (name.size() > longest_moved_name) {
    refuse("the name of a queue that moves has at most " + std::to_string(longest_moved_name) +
           " bytes, because the move makes queues of that name with an ending");
  }
  const queue_info source = find_side(from, name, "source");
  const queue_info target = find_side(to, name, "target");
  if (source.identity == target.identity) {
    refuse(
        "both addresses lead to the same queue, or one of them to a copy of the other's tables: "
        "drop the queue of the copy and create it anew");
  }
  if (source.batches || target.batches) {
    refuse(errc::unsupported,
           "messages of batches stay in the database of their batch: a queue with batches "
           "does not move");
  }
  std::string differ;
  for (const option_change& each : differences(as_created(source), as_created(target))) {
    const auto shown = [](const std::string& value) { return value.empty() ? "none" : value; };
    differ += (differ.empty() ? "" : "; ") + each.option + ": " + shown(each.before) +
              " in the source, " + shown(each.after) + " in the target";
  }
  if (differ.empty()) return;
  refuse(errc::options_mismatch, "the queue " + std::string(name) +
                                     " has other options in the target (" + differ +
                                     "): make them equal by tableq alter, or create it anew there");
}

/// A text for the identity of a queue, as keys have it.
std::string text_of(std::int64_t identity) {
  std::array<char, 20> out{};
  std::snprintf(out.data(), out.size(), "%016llx", static_cast<unsigned long long>(identity));
  return out.data();
}

/// Where a look at messages has come. Empty: at the end.
using scan_place = std::optional<filter_place>;

/// The next messages in these states, by their ids.
std::vector<message_id> next(const queue_state& queue, transaction_state* tx, int states,
                             scan_place& at, std::size_t max) {
  found_messages found = find_fitting(queue, tx, {}, states, *at, longest_scan, max);
  at = found.next;
  return std::move(found.ids);
}

/// One call of move_messages.
///
/// A message goes from the queue into `out_` of the source, in one transaction, where no program
/// reads. From there it goes to the target, in one transaction there with its mark in `in_`, and
/// only then leaves `out_`. A mark that is there already tells that the message is. Marks go when
/// their messages have left `out_`, by the same process: each transaction in the target extends the
/// lease of one message of `in_`, the right to move, so that a process that lost it changes nothing
/// there any more. A done message in `out_` names the target: messages there may be in it already,
/// so that no other target gets them.
///
/// @par Thread safety
/// Shared objects: unsafe.
class mover {
 public:
  mover(database& from, database& to, std::string_view name, const move_options& options)
      : options_(options),
        source_(from.claim(name)),
        out_(from.claim(std::string(name).append(out_ending))),
        target_(to.claim(name)),
        in_(to.claim(std::string(name).append(in_ending))),
        prefix_(text_of(out().info().identity) + "."),
        right_key_(text_of(out().info().identity) + " move"),
        target_name_(text_of(target().info().identity)) {}

  message_move run() {
    choose_target();
    if (!take_right()) return told_;
    deliver_all();  // what an earlier call has left
    forget_marks();
    while (!stopped()) {
      while (!stopped() && promote(source(), nullptr)) {
      }
      const std::size_t before = told_.moved;
      pass();
      const std::size_t left = look();
      if (told_.moved != before) continue;
      // A lease that ended after the pass leaves its message to another pass.
      const bool missed = left > told_.key_held && !told_.full;
      if (!missed && (options_.once || (told_.leased == 0 && !told_.full))) break;
      rest();
    }
    give_right_back();
    forget_target();
    return told_;
  }

 private:
  [[nodiscard]] const queue_state& source() const { return access::state_of(source_).current(); }
  [[nodiscard]] const queue_state& out() const { return access::state_of(out_).current(); }
  [[nodiscard]] const queue_state& target() const { return access::state_of(target_).current(); }
  [[nodiscard]] const queue_state& in() const { return access::state_of(in_).current(); }
  [[nodiscard]] bool stopped() const { return options_.stop.stop_requested(); }

  void rest() const {
    change_signal silent;
    silent.wait(silent.mark(), pause_between_looks, options_.stop);
  }

  [[nodiscard]] bool none_on_the_way(transaction_state& tx) const {
    scan_place at = filter_place();
    return next(out(), &tx, cancelled_states, at, 1).empty();
  }

  /// Removes the message that names a target. @return that target; empty: there is none.
  [[nodiscard]] std::string remove_target(transaction_state& tx) const {
    for (;;) {
      const auto found =
          out().execute(&tx, statements::claim_find_key, {}, std::array{key_item{target_key}});
      if (found.empty()) return {};
      const std::array ids{found.front().id};
      const auto removed = out().execute(&tx, statements::claim_remove,
                                         {.states = bit_of(message_state::done)}, ids);
      // Else another process has just put another one in its place.
      if (!removed.empty()) return removed.front().payload;
    }
  }

  void add_target(transaction_state& tx, const std::string& target) const {
    removed_row named;
    named.state = message_state::done;
    named.finished_at = timestamp();
    named.key = target_key;
    named.holds_key = true;
    named.payload.assign(target);
    restore(out(), tx, std::span(&named, 1), true);
  }

  void choose_target() const {
    in_one_transaction(source().database(), nullptr, [&](transaction_state& tx) {
      const std::string other = remove_target(tx);
      if (!other.empty() && other != target_name_ && !none_on_the_way(tx)) {
        refuse("messages of the queue " + source_.name() +
               " are on their way to another target: go on with that move until it ends, and then "
               "move to this one");
      }
      add_target(tx, target_name_);
      return true;
    });
  }

  /// Of the transaction with messages of `out_`: it waits for others that choose a target.
  void keep_target(transaction_state& tx) const {
    if (remove_target(tx) == target_name_) return add_target(tx, target_name_);
    refuse(errc::conflict,
           "another process moves the queue " + source_.name() + " to another target");
  }

  void forget_target() const {
    in_one_transaction(source().database(), nullptr, [&](transaction_state& tx) {
      const std::string named = remove_target(tx);
      const bool over = named.empty() || (named == target_name_ && none_on_the_way(tx));
      if (!over) add_target(tx, named);
      return true;
    });
  }

  /// @return false if a stop was requested.
  bool take_right() {
    const auto give_up = steady_clock::now() + options_.lease + 1s;
    constexpr int always = 1'000'000;
    for (;;) {
      in_.enqueue("", {.key = right_key_, .max_attempts = always});
      std::vector<receipt> others;
      for (const delivery& each : in_.take(1000, {.lease = options_.lease})) {
        if (each.key == right_key_) {
          right_ = each.receipt;
        } else {
          others.push_back(each.receipt);
        }
      }
      if (!others.empty()) static_cast<void>(in_.release_batch(others));
      if (right_.id.value != 0) return true;
      if (stopped()) return false;
      if (steady_clock::now() >= give_up) {
        refuse(errc::busy, "another process moves the queue " + source_.name() +
                               " to this target; if it was killed, its --lease must end first");
      }
      rest();
    }
  }

  /// In each transaction of the target.
  void keep_right(transaction_state* tx) const {
    if (extend(in(), tx, std::span(&right_, 1), options_.lease).front() == settle_result::applied) {
      return;
    }
    refuse(errc::conflict,
           "another process has gone on with the move of the queue " + source_.name());
  }

  /// Removes marks whose messages have left the source.
  void forget(transaction_state& tx, std::span<const message_id> marks) const {
    if (!marks.empty()) static_cast<void>(cancel(in(), &tx, marks));
  }

  /// The marks of an earlier call. Nothing that they stand for is in `out_` any more.
  void forget_marks() {
    marks_.clear();
    for (;;) {
      const auto found = in_.list({.key_prefix = prefix_},
                                  {.max = 1000, .with = {.detail = message_detail::outline}});
      std::vector<message_id> marks;
      for (const stored_message& each : found.messages) marks.push_back(each.id);
      if (!marks.empty()) {
        in_one_transaction(in().database(), nullptr, [&](transaction_state& tx) {
          keep_right(&tx);
          forget(tx, marks);
          return true;
        });
      }
      if (!found.next) return;
    }
  }

  void give_right_back() {
    in_one_transaction(in().database(), nullptr, [&](transaction_state& tx) {
      keep_right(&tx);
      forget(tx, marks_);
      return complete(in(), &tx, std::span(&right_, 1));
    });
  }

  /// How many more messages the target takes.
  [[nodiscard]] std::size_t space() const {
    const std::optional<std::size_t> capacity = target_.limits().capacity;
    if (!capacity) return options_.batch;
    constexpr std::size_t most = 1'000'000;  // that a count stops at
    const claim_stats now =
        target_.stats({.exact = *capacity > most, .count_to = std::min(*capacity, most)});
    const std::size_t used = now.ready + now.delayed + now.leased + now.held;
    return used >= *capacity ? 0 : std::min(options_.batch, *capacity - used);
  }

  /// Moves what can move, from the beginning of the queue to its end.
  void pass() {
    told_.key_held = 0;
    told_.full = false;
    for (scan_place at = filter_place(); at && !stopped();) {
      const std::size_t most = space();
      told_.full = most == 0;
      if (told_.full) return;
      if (withdraw(at, most) == 0) continue;
      deliver_all();
    }
  }

  /// Of these messages those whose keys no message of the target holds.
  /// @param in_order no message after one of its group that stays.
  std::vector<message_id> movable(transaction_state* tx, std::span<const message_id> ids,
                                  bool in_order, std::size_t& key_held) const {
    std::vector<message_id> out;
    std::set<std::string_view> keys;
    const auto messages = get(source(), tx, ids, {.detail = message_detail::outline});
    for (const auto& each : messages) {
      if (each && holds_key(*each)) keys.insert(*each->key);
    }
    std::set<std::string_view> held;
    if (!keys.empty()) {
      held = in_one_transaction(target().database(), nullptr, [&](transaction_state& there) {
        return held_keys(target(), there, keys);
      });
    }
    std::set<std::optional<std::string>> stopped;
    for (const auto& each : messages) {
      if (!each || (in_order && stopped.contains(each->group))) continue;
      if (holds_key(*each) && held.contains(*each->key)) {
        ++key_held;
        stopped.insert(each->group);
      } else {
        out.push_back(each->id);
      }
    }
    return out;
  }

  /// A taken message has lost its key for good in key_scope::waiting.
  [[nodiscard]] bool holds_key(const stored_message& message) const {
    const bool taken = message.attempts > 0;
    return message.key && (source().info().keys == key_scope::active || !taken);
  }

  void check_size(const removed_row& message) const {
    const std::size_t most = target().database().payloads().most;
    if (message.payload.size() <= most) return;
    refuse(errc::too_large, "the message " + std::to_string(message.id.value) +
                                " of the source has " + std::to_string(message.payload.size()) +
                                " bytes, and the target takes " + std::to_string(most) +
                                ": raise its max_payload, or cancel the message");
  }

  /// Takes messages out of the queue and puts them into `out_`.
  /// @return how many.
  std::size_t withdraw(scan_place& from, std::size_t most) {
    const auto [count, at, key_held] =
        in_one_transaction(source().database(), nullptr, [&](transaction_state& tx) {
          scan_place here = from;
          std::size_t held = 0;
          std::vector<removed_row> rows;
          // One page: the groups of another would be locked out of their order.
          while (here && rows.empty()) {
            const auto found = next(source(), &tx, moving_states, here, most);
            // One of them that stays is ready afterwards, and counted when it is found.
            const auto followers = [&](std::span<const message_id> waiting) {
              std::size_t uncounted = 0;
              return movable(&tx, waiting, true, uncounted);
            };
            for (removed_row& each : extract(source(), tx, movable(&tx, found, false, held),
                                             moving_states, most, followers)) {
              check_size(each);
              rows.push_back(std::move(each));
            }
          }
          restore(out(), tx, rows, true);
          return std::tuple(rows.size(), here, held);
        });
    from = at;
    told_.key_held += key_held;
    return count;
  }

  /// Moves all of `out_` to the target.
  void deliver_all() {
    for (scan_place at = filter_place(); at;) {
      deliver(at);
      if (options_.progress) options_.progress(told_);
    }
  }

  /// The mark of each message. @return those that were not there yet.
  std::vector<enqueued> mark(transaction_state& tx, std::span<const removed_row> rows) const {
    std::vector<claim_enqueue_options> options;
    options.reserve(rows.size());
    for (const removed_row& each : rows) {
      options.push_back({.delay = mark_delay, .key = prefix_ + std::to_string(each.id.value)});
    }
    std::vector<claim_message> marks;
    marks.reserve(rows.size());
    for (const claim_enqueue_options& each : options) marks.push_back({{}, &each});
    return add_claims(in(), &tx, marks, {});
  }

  /// The result of a transaction in the target with messages of `out_`.
  struct arrival {
    std::size_t count = 0;               ///< Added by it.
    std::vector<message_id> marks = {};  ///< Of those that are there.
    std::vector<removed_row> refused = {};
  };

  [[nodiscard]] arrival arrive(std::span<const removed_row> rows) const {
    return in_one_transaction(target().database(), nullptr, [&](transaction_state& tx) {
      keep_right(&tx);
      forget(tx, marks_);
      std::set<std::string_view> keys;
      for (const removed_row& each : rows) {
        if (each.holds_key && each.key) keys.insert(*each.key);
      }
      const std::vector<enqueued> marks = mark(tx, rows);
      const std::set<std::string_view> held = held_keys(target(), tx, keys);
      arrival out;
      std::vector<removed_row> accepted;
      std::vector<message_id> unused;
      for (std::size_t i = 0; i < rows.size(); ++i) {
        const bool fresh = marks[i].created();
        if (fresh && rows[i].holds_key && rows[i].key && held.contains(*rows[i].key)) {
          out.refused.push_back(rows[i]);
          unused.push_back(marks[i].id);
          continue;
        }
        out.marks.push_back(marks[i].id);
        if (fresh) accepted.push_back(rows[i]);
      }
      forget(tx, unused);
      restore(target(), tx, accepted, false);
      out.count = accepted.size();
      return out;
    });
  }

  /// Moves the next messages of `out_` to the target.
  void deliver(scan_place& from) {
    const auto away = begin_transaction(source().database().shared_from_this());
    const auto rows =
        extract(out(), *away, next(out(), away.get(), cancelled_states, from, options_.batch),
                cancelled_states, 0, {});
    if (rows.empty()) return;
    keep_target(*away);
    arrival there = arrive(rows);
    marks_.clear();
    return_refused(*away, there.refused);
    away->commit();
    // Only now nothing is left that a mark stands for.
    marks_ = std::move(there.marks);
    told_.moved += rows.size() - there.refused.size();
    told_.key_held += there.refused.size();
  }

  /// Messages whose keys were taken in the target meanwhile.
  void return_refused(transaction_state& tx, std::span<const removed_row> refused) const {
    std::set<std::string_view> keys;
    for (const removed_row& each : refused) keys.insert(*each.key);
    const std::set<std::string_view> held = held_keys(source(), tx, keys);
    std::vector<removed_row> back;
    std::vector<removed_row> waiting;
    for (const removed_row& each : refused) {
      (held.contains(*each.key) ? waiting : back).push_back(each);
    }
    restore(source(), tx, back, true);
    restore(out(), tx, waiting, true);
  }

  /// @return how many messages of the source are in a state in which messages move.
  std::size_t look() {
    const claim_stats now = source_.stats();
    told_.leased = now.leased;
    told_.held = now.held;
    keep_right(nullptr);
    return now.ready + now.delayed;
  }

  const move_options& options_;
  claim_queue source_;
  claim_queue out_;
  claim_queue target_;
  claim_queue in_;
  const std::string prefix_;  // of the keys of marks
  const std::string right_key_;
  const std::string target_name_;
  receipt right_ = {};
  std::vector<message_id> marks_ = {};  // of messages that have left `out_`
  message_move told_ = {};
};

/// A dry run.
message_move count_waiting(database& from, database& to, std::string_view name) {
  const claim_queue source = from.claim(name);
  const claim_queue target = to.claim(name);
  message_move out;
  std::optional<filter_place> at = filter_place();
  while (at) {
    const auto page = source.list(
        {.all = true}, {.max = 1000, .after = at, .with = {.detail = message_detail::outline}});
    for (const stored_message& each : page.messages) {
      if (each.state == message_state::leased) ++out.leased;
      if ((bit_of(each.state) & cancelled_states) == 0) continue;
      if (each.key && target.find(*each.key, {.detail = message_detail::outline})) {
        ++out.key_held;
      } else {
        ++out.moved;
      }
    }
    at = page.next;
  }
  return out;
}

}  // namespace

std::vector<finding> inspect_move(const std::shared_ptr<database_state>& database,
                                  const queue_info& queue, const std::vector<queue_info>& all) {
  const std::string_view name = queue.name;
  if (queue.kind != kind::claim || !name.ends_with(out_ending)) return {};
  const std::string_view moving = name.substr(0, name.size() - out_ending.size());
  if (std::ranges::find(all, moving, &queue_info::name) == all.end()) return {};
  scan_place at = filter_place();
  if (next(queue_state(database, queue), nullptr, cancelled_states, at, 1).empty()) return {};
  return {
      {finding::level::warning, queue.name,
       "has messages of " + std::string(moving) +
           " that are on their way to another database, where no program reads them",
       "unless the move is running, go on with it: tableq move --to URL " + std::string(moving)}};
}

}  // namespace core

message_move move_messages(database& from, database& to, text_view queue,
                           const move_options& options) {
  core::database_state& here = core::access::state_of(from);
  core::database_state& there = core::access::state_of(to);
  return core::named(here.name(), "move", [&] {
    for (core::database_state* each : {&here, &there}) {
      each->check_here();
      core::check_beside(*each, core::beside::of_database, false);
    }
    core::check_batch_size(options.batch, 1000);
    core::check_lease(options.lease);
    const std::string name(queue.view());
    core::check_sides(here, there, name);
    if (options.dry_run) return core::count_waiting(from, to, name);
    return core::mover(from, to, name, options).run();
  });
}

}  // namespace tableq::inline v0
