#include <gtest/gtest.h>

#include <algorithm>

#include "locks/known.hpp"
#include "locks/operations.hpp"
#include "locks/search.hpp"

namespace {

using namespace tableq_test::locks;  // NOLINT(google-build-using-namespace): the tests' own
                                     // vocabulary

/// The statements with one mistake each, which the search must find.
class mistakes_in_locks : public testing::Test {
 protected:
  /// The lines of a statement that have this hint.
  std::vector<data_line*> lines_with(const std::string& name, const std::string& hint) {
    std::vector<data_line*> out;
    for (data_line& each : texts_.at(name).lines) {
      if (each.hinted(hint)) out.push_back(&each);
    }
    if (out.empty()) throw std::runtime_error(name + " has no " + hint);
    return out;
  }
  /// From the last of them: the read that is followed by the change.
  void remove_hint(const std::string& name, const std::string& hint) {
    std::erase(lines_with(name, hint).back()->hints, hint);
  }

  /// The search finds it now, and not without the mistake.
  void expect_found(const std::string& what, const std::vector<transaction>& work,
                    const conditions_of_run& more = {}) {
    expect_found_by(work, work, what, more);
  }
  void expect_found_by(const std::vector<transaction>& wrong, const std::vector<transaction>& right,
                       const std::string& what, const conditions_of_run& more = {}) {
    search sound(statements());
    search broken(texts_);
    for (const bool versions : {false, true}) {
      conditions_of_run is = more;
      is.versions = versions;
      sound.all(right, is, 2);
      broken.all(wrong, is, 2);
    }
    EXPECT_TRUE(broken.found().contains(what)) << testing::PrintToString(broken.found());
    EXPECT_FALSE(sound.found().contains(what)) << sound.found().at(what);
  }

  all_statements texts_ = statements();
};

TEST_F(mistakes_in_locks, a_take_without_update_locks_reads_a_message_twice) {
  remove_hint("claim.take", "UPDLOCK");
  expect_found("stale change: claim.take",
               {operation("take what is ready"), operation("take what is ready")});
}

TEST_F(mistakes_in_locks, a_settlement_without_update_locks_loses_a_message) {
  remove_hint("claim.complete", "UPDLOCK");
  expect_found("stale change: claim.complete",
               {operation("complete an expired one"), operation("promote")});
}

TEST_F(mistakes_in_locks, a_promotion_that_waits_for_rows_deadlocks) {
  remove_hint("claim.promote", "READPAST");
  expect_found("deadlock: claim.complete, claim.promote",
               {operation("complete an expired one"), operation("promote")});
}

TEST_F(mistakes_in_locks, batches_in_the_order_of_their_items_deadlock) {
  lines_with("claim.complete", "UPDLOCK").back()->how = {"items", "as", "given"};
  expect_found("deadlock: claim.complete",
               {operation("complete a batch"), operation("complete a batch turned")});
}

TEST_F(mistakes_in_locks, limits_that_are_read_without_a_lock_are_exceeded) {
  remove_hint("limits.lock", "UPDLOCK");
  expect_found("broken limit: too many leases",
               {operation("take with limits"), operation("take with limits")}, {.concurrency = 4});
}

TEST_F(mistakes_in_locks, groups_without_their_lock_are_out_of_order) {
  texts_.at("queue.lock").lines.clear();
  texts_.at("claim.advance")
      .lines.erase(texts_.at("claim.advance").lines.begin() + 1,
                   texts_.at("claim.advance").lines.begin() + 3);
  expect_found("broken group: two of its messages are out",
               {operation("enqueue into a group"), operation("enqueue into a group")});
}

TEST_F(mistakes_in_locks, groups_that_are_locked_after_the_settlement_deadlock) {
  transaction late = operation("complete in a group");
  std::rotate(late.calls.begin() + 1, late.calls.begin() + 2, late.calls.begin() + 3);
  const transaction& other = operation("enqueue into a group");
  expect_found_by({late, other}, {operation("complete in a group"), other},
                  "deadlock: claim.advance, queue.lock");
}

TEST_F(mistakes_in_locks, groups_that_are_locked_after_a_cancellation_deadlock) {
  transaction late = operation("cancel in a group");
  std::rotate(late.calls.begin() + 1, late.calls.begin() + 2, late.calls.begin() + 3);
  const transaction& other = operation("complete in a group");
  expect_found_by({late, other}, {operation("cancel in a group"), other},
                  "deadlock: claim.advance, queue.lock");
}

TEST_F(mistakes_in_locks, two_writers_of_limits_need_the_lock_of_the_gap) {
  remove_hint("limits.set", "HOLDLOCK");
  const transaction first{"the first limits", {{"limits.set", {{"queue", 2}}}}};
  expect_found("duplicate key: limits.set", {first, first});
}

TEST_F(mistakes_in_locks, strict_queues_without_their_lock_break_the_order) {
  texts_.at("queue.lock").lines.clear();
  const auto all = strict_operations(order::first_in_first_out);
  expect_found("broken order: a message comes after a later one was read", {all[0], all[0], all[2]},
               {.strict = order::first_in_first_out});
}

TEST_F(mistakes_in_locks, a_replacement_that_keeps_the_lock_of_its_key_deadlocks) {
  lines_with("claim.replace", "READCOMMITTEDLOCK").back()->hints.emplace_back("UPDLOCK");
  expect_found("deadlock: claim.complete, claim.replace",
               {operation("complete"), operation("replace a leased one")});
}

TEST_F(mistakes_in_locks, keys_that_are_forgotten_with_a_wait_for_rows_deadlock) {
  remove_hint("claim.forget", "READPAST");
  expect_found("deadlock: claim.forget",
               {operation("enqueue with a window"), operation("enqueue with a window")});
}

TEST_F(mistakes_in_locks, a_look_that_reads_a_row_under_the_lock_of_its_key_deadlocks) {
  std::erase(lines_with("claim.find", "INDEX").back()->how, "covered");
  expect_found("deadlock: claim.complete, claim.find", {operation("complete"), operation("find")});
}

TEST_F(mistakes_in_locks, a_count_of_leases_that_waits_holds_all_readers_back) {
  std::erase(lines_with("claim.leased", "READCOMMITTED").back()->how, "briefly");
  expect_found("waits with the limits: claim.leased",
               {operation("complete"), operation("take with limits")});
  expect_found("deadlock: claim.leased, limits.lock",
               {operation("complete and take with limits"), operation("take with limits")});
}

TEST_F(mistakes_in_locks, a_count_of_leases_that_skips_settlements_exceeds_the_limit) {
  lines_with("claim.leased", "READCOMMITTED").back()->hints = {"READPAST", "READCOMMITTEDLOCK"};
  expect_found("broken limit: too many leases",
               {operation("extend"), operation("take with limits")}, {.concurrency = 3});
}

}  // namespace
