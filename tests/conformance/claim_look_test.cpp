#include <gtest/gtest.h>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::change_result;
using tableq::message_id;
using tableq::message_state;
using tableq::settle_result;

class claim_look : public claim_test {
 protected:
  /// Everything in one state, page by page.
  std::vector<std::string> all(message_state which, std::size_t page_size,
                               const tableq::claim_queue& in) {
    std::vector<std::string> out;
    tableq::page page{.max = page_size};
    for (int pages = 0; pages < 1000; ++pages) {
      auto part = in.list(which, page);
      EXPECT_LE(part.size(), page_size);
      for (const auto& each : part) {
        EXPECT_EQ(each.state, which);
        out.push_back(each.payload);
      }
      if (part.empty()) return out;
      page.after = std::move(part.back());
      page.after->payload.clear();
    }
    ADD_FAILURE() << "the pages do not end";
    return out;
  }
  std::vector<std::string> all(message_state which, std::size_t page_size) {
    return all(which, page_size, jobs());
  }
};
TABLEQ_ON_BACKENDS(claim_look, all_backends);

TEST_P(claim_look, lists_ready_messages_in_the_order_of_takes_whatever_the_page) {
  for (int i = 0; i < 30; ++i) {
    static_cast<void>(jobs().enqueue("p" + std::to_string(i), {.priority = i % 3 - 1}));
  }
  for (const int edge : {INT32_MIN, INT32_MAX}) {
    static_cast<void>(jobs().enqueue("edge" + std::to_string(edge), {.priority = edge}));
  }
  const auto expected = payloads_of(jobs().peek(100));
  ASSERT_EQ(expected.size(), 32U);
  for (const std::size_t size : {1U, 3U, 7U, 10U, 100U}) {
    EXPECT_EQ(all(message_state::ready, size), expected) << size;
  }
  EXPECT_EQ(payloads_of(jobs().take(100)), expected);
}

TEST_P(claim_look, peeks_at_the_first_due_messages_by_time_and_id_whatever_their_priority) {
  using texts = std::vector<std::string>;
  for (int i = 0; i < 3; ++i) {
    jobs().enqueue("leased" + std::to_string(i), {.priority = i});
  }
  ASSERT_EQ(jobs().take(3, {.lease = 1min}).size(), 3U);
  for (int i = 0; i < 3; ++i) {
    jobs().enqueue("delayed" + std::to_string(i), {.priority = 10 * i, .delay = 1min});
  }
  jobs().enqueue("sooner", {.priority = -1, .delay = 59s});
  clock.advance(2min);
  jobs().enqueue("ready", {.priority = 1});
  // Sooner, then all of one time, which have the order of their ids.
  EXPECT_EQ(payloads_of(jobs().peek(1)), texts{"ready"});
  EXPECT_EQ(payloads_of(jobs().peek(2)), (texts{"ready", "leased0"}));
  EXPECT_EQ(payloads_of(jobs().peek(3)), (texts{"leased1", "ready", "leased0"}));
  EXPECT_EQ(payloads_of(jobs().peek(5)),
            (texts{"leased2", "leased1", "ready", "leased0", "delayed0"}));
  EXPECT_EQ(payloads_of(jobs().peek(6)),
            (texts{"delayed1", "leased2", "leased1", "ready", "leased0", "delayed0"}));
}

TEST_P(claim_look, lists_delayed_and_leased_messages_apart_by_their_times) {
  for (int i = 0; i < 10; ++i) {
    static_cast<void>(
        jobs().enqueue("d" + std::to_string(i), {.delay = std::chrono::seconds(100 - i / 2)}));
  }
  for (int i = 0; i < 10; ++i) jobs().enqueue("l" + std::to_string(i));
  for (int i = 0; i < 10; ++i) {
    ASSERT_EQ(jobs().take(1, {.lease = std::chrono::seconds(120 - i * 10)}).size(), 1U);
  }
  const std::vector<std::string> delayed = {"d8", "d9", "d6", "d7", "d4",
                                            "d5", "d2", "d3", "d0", "d1"};
  const std::vector<std::string> leased = {"l9", "l8", "l7", "l6", "l5",
                                           "l4", "l3", "l2", "l1", "l0"};
  for (const std::size_t size : {1U, 3U, 10U, 100U}) {
    EXPECT_EQ(all(message_state::delayed, size), delayed) << size;
    EXPECT_EQ(all(message_state::leased, size), leased) << size;
  }
  const auto first = jobs().list(message_state::leased, {.max = 1}).at(0);
  EXPECT_EQ(first.due_at, clock.now() + 30s);
  EXPECT_EQ(first.attempts, 1);
}

TEST_P(claim_look, lists_what_is_done) {
  auto kept = db_with_clock().claim("kept", {.keep_completed = true});
  for (const std::string& each : numbered(5)) {
    kept.enqueue(each);
    ASSERT_EQ(kept.complete(take_one(kept).receipt), settle_result::applied);
  }
  EXPECT_EQ(all(message_state::done, 2, kept), numbered(5));
  EXPECT_TRUE(all(message_state::dead, 2, kept).empty());
  EXPECT_TRUE(all(message_state::ready, 2, kept).empty());
}

TEST_P(claim_look, gets_a_message_in_whatever_state) {
  auto kept = db_with_clock().claim("kept", {.max_attempts = 1, .keep_completed = true});
  const auto ready = kept.enqueue("ready", {.priority = 1, .headers = {{"a", "b"}}, .key = "k"}).id;
  const auto seen = kept.get(ready);
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->payload, "ready");
  EXPECT_EQ(seen->state, message_state::ready);
  EXPECT_EQ(seen->priority, 1);
  EXPECT_EQ(seen->key, "k");
  EXPECT_EQ(seen->headers, (tableq::headers{{"a", "b"}}));
  const auto delayed = kept.enqueue("delayed", {.delay = 1h}).id;
  const auto taken = take_one(kept);
  EXPECT_EQ(kept.get(taken.receipt.id)->state, message_state::leased);
  ASSERT_EQ(kept.complete(taken.receipt), settle_result::applied);
  EXPECT_EQ(kept.get(taken.receipt.id)->state, message_state::done);
  const auto bad = kept.enqueue("bad").id;
  ASSERT_EQ(kept.fail(take_one(kept).receipt, "no"), settle_result::applied);
  const std::vector<message_id> ids = {bad, {999'999}, delayed, bad, {0}, {-1}};
  const auto several = kept.get_batch(ids);
  ASSERT_EQ(several.size(), ids.size());
  EXPECT_EQ(several[0]->state, message_state::dead);
  EXPECT_EQ(several[0]->errors.at(0).error, "no");
  EXPECT_FALSE(several[1]);
  EXPECT_EQ(several[2]->due_at, clock.now() + 1h);
  EXPECT_EQ(several[3]->payload, "bad");
  EXPECT_FALSE(several[4]);
  EXPECT_FALSE(several[5]);
  EXPECT_TRUE(kept.get_batch(std::vector<message_id>{}).empty());
}

TEST_P(claim_look, finds_the_message_that_holds_a_key) {
  auto kept = db_with_clock().claim("kept", {.keep_completed = true});
  const auto first = kept.enqueue("first", {.key = "invoice-42 "}).id;
  EXPECT_FALSE(kept.find("invoice-42"));
  EXPECT_FALSE(kept.find("INVOICE-42 "));
  EXPECT_EQ(kept.find("invoice-42 ")->id, first);
  ASSERT_EQ(kept.complete(take_one(kept).receipt), settle_result::applied);
  EXPECT_FALSE(kept.find("invoice-42 "));
  const auto second = kept.enqueue("second", {.key = "invoice-42 "}).id;
  EXPECT_EQ(kept.find("invoice-42 ")->id, second);
  EXPECT_CODE(invalid_argument, static_cast<void>(kept.find("")));
  EXPECT_CODE(invalid_argument, static_cast<void>(kept.find("\xFF")));
}

TEST_P(claim_look, lets_the_next_of_a_group_go) {
  auto grouped = db_with_clock().claim("grouped", {.groups = tableq::group_options{}});
  std::vector<message_id> ids;
  for (int i = 0; i < 4; ++i) {
    ids.push_back(grouped.enqueue("p" + std::to_string(i), {.priority = i, .group = "g"}).id);
  }
  EXPECT_EQ(all(message_state::held, 2, grouped), (std::vector<std::string>{"p3", "p2", "p1"}));
  EXPECT_EQ(grouped.stats().held, 3U);
  EXPECT_EQ(grouped.get(ids[1])->group, "g");
  EXPECT_EQ(grouped.cancel_batch(std::vector<message_id>{ids[0], ids[2]}),
            (std::vector<change_result>{change_result::applied, change_result::applied}));
  EXPECT_EQ(grouped.get(ids[1])->state, message_state::ready);
  EXPECT_EQ(grouped.get(ids[3])->state, message_state::held);
  auto tx = db_with_clock().begin();
  EXPECT_EQ(grouped.in(tx).cancel(ids[1]), change_result::applied);
  tx.commit();
  EXPECT_EQ(take_one(grouped).payload, "p3");
}

TEST_P(claim_look, takes_part_in_a_transaction) {
  const auto first = jobs().enqueue("first", {.key = "k"}).id;
  const auto second = jobs().enqueue("second").id;
  {
    auto tx = db_with_clock().begin();
    EXPECT_EQ(jobs().in(tx).cancel(first), change_result::applied);
    EXPECT_EQ(jobs().in(tx).cancel(first), change_result::not_found);
    EXPECT_EQ(jobs().in(tx).set_priority(second, 3), change_result::applied);
    EXPECT_EQ(jobs().in(tx).get(second)->priority, 3);
    EXPECT_FALSE(jobs().in(tx).get(first));
    EXPECT_FALSE(jobs().in(tx).find("k"));
    tx.rollback();
  }
  EXPECT_EQ(jobs().get(second)->priority, 0);
  EXPECT_EQ(jobs().find("k")->id, first);
  auto tx = db_with_clock().begin();
  EXPECT_EQ(jobs().in(tx).cancel_batch(std::vector<message_id>{second, first}),
            (std::vector<change_result>{change_result::applied, change_result::applied}));
  tx.commit();
  EXPECT_EQ(jobs().stats().ready, 0U);
}

TEST_P(claim_look, answers_each_item_of_a_large_batch) {
  std::vector<message_id> ids;
  for (const auto& each :
       jobs().enqueue_batch(std::vector<tableq::new_claim_message>(2500, {.payload = "x"}))) {
    ids.push_back(each.id);
  }
  ids.insert(ids.begin() + 1200, {999'999});
  const auto results = jobs().cancel_batch(ids);
  ASSERT_EQ(results.size(), 2501U);
  for (std::size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(results[i], i == 1200 ? change_result::not_found : change_result::applied) << i;
  }
}

/// One message in each state; the dead one has an error.
void fill_states(tableq::claim_queue& queue, bool groups) {
  const tableq::headers some{{"h", "v"}};
  const auto take = [&] { return queue.take(1).at(0); };
  queue.enqueue("gone", {.headers = some, .key = "1"});
  EXPECT_EQ(queue.complete(take()), settle_result::applied);
  queue.enqueue("died", {.headers = some, .key = "2"});
  EXPECT_EQ(queue.fail(take().receipt, "why", {.give_up = true}), settle_result::applied);
  queue.enqueue("runs", {.headers = some, .key = "3"});
  static_cast<void>(take());
  queue.enqueue("later", {.delay = 1h, .headers = some, .key = "4"});
  if (groups) {
    queue.enqueue("first", {.priority = 7, .headers = some, .key = "5", .group = "g"});
    queue.enqueue("second", {.headers = some, .key = "6", .group = "g"});
  }
  queue.enqueue("waits", {.headers = some, .key = "7"});
}

void expect_part(const tableq::stored_message& part, const tableq::stored_message& whole,
                 tableq::message_detail detail) {
  EXPECT_TRUE(part.payload.empty() && part.headers.empty() && !part.unread_headers);
  EXPECT_EQ(part.id, whole.id);
  EXPECT_EQ(part.state, whole.state);
  EXPECT_EQ(part.priority, whole.priority);
  EXPECT_EQ(part.created_at, whole.created_at);
  EXPECT_EQ(part.due_at, whole.due_at);
  EXPECT_EQ(part.finished_at, whole.finished_at);
  const bool outline = detail == tableq::message_detail::outline;
  EXPECT_EQ(part.attempts, outline ? whole.attempts : 0);
  EXPECT_EQ(part.key, outline ? whole.key : std::nullopt);
  EXPECT_EQ(part.group, outline ? whole.group : std::nullopt);
  EXPECT_EQ(part.errors.size(), outline ? whole.errors.size() : 0U);
  EXPECT_TRUE(outline || !part.expires_at);
}

TEST_P(claim_look, an_outline_has_all_but_payload_and_headers_what_is_seen_state_and_times_only) {
  using tableq::message_detail;
  for (const bool turns : {false, true}) {
    auto queue =
        db_with_clock().claim(turns ? "turns" : "ids", {.keep_completed = true,
                                                        .retry = tableq::retry_delays::none(),
                                                        .groups = {.by_turns = turns}});
    fill_states(queue, true);
    for (const auto state : {message_state::ready, message_state::leased, message_state::delayed,
                             message_state::held, message_state::done, message_state::dead}) {
      const auto whole = queue.list(state);
      ASSERT_FALSE(whole.empty()) << to_string(state);
      for (const auto detail : {message_detail::outline, message_detail::seen}) {
        const auto part = queue.list(state, {.with = {.detail = detail}});
        ASSERT_EQ(part.size(), whole.size());
        for (std::size_t i = 0; i < whole.size(); ++i) {
          expect_part(part[i], whole[i], detail);
          expect_part(queue.get(whole[i].id, {.detail = detail}).value(), whole[i], detail);
        }
      }
    }
    const auto filtered =
        queue.list({.error = "why"}, {.with = {.detail = message_detail::outline}});
    ASSERT_EQ(filtered.messages.size(), 1U);
    EXPECT_TRUE(filtered.messages[0].payload.empty());
    EXPECT_EQ(filtered.messages[0].errors.at(0).error, "why");
  }
}

TEST_P(claim_look, pages_are_the_same_whatever_is_read_of_each_message) {
  for (const std::string& each : numbered(5))
    jobs().enqueue(each, {.priority = each == "3" ? 1 : 0});
  std::vector<message_id> ids;
  tableq::page page{.max = 2, .with = {.detail = tableq::message_detail::seen}};
  for (auto part = jobs().list(message_state::ready, page); !part.empty();
       part = jobs().list(message_state::ready, page)) {
    for (const auto& each : part) ids.push_back(each.id);
    page.after = part.back();
  }
  std::vector<message_id> whole;
  for (const auto& each : jobs().list(message_state::ready)) whole.push_back(each.id);
  EXPECT_EQ(ids, whole);
}

TEST_P(claim_look, the_groups_that_wait_longest_come_first) {
  for (const bool turns : {false, true}) {
    auto queue = db_with_clock().claim(turns ? "turns" : "ids", {.groups = {.by_turns = turns}});
    EXPECT_TRUE(queue.groups().empty());
    queue.enqueue("x");
    const auto begin = clock.now();
    for (const std::string group : {"b", "a", "c", "b", "b"}) {
      queue.enqueue(group, {.group = group});
      clock.advance(1s);
    }
    const auto found = queue.groups();
    ASSERT_EQ(found.size(), 3U);
    EXPECT_EQ(found[0].group, "b");
    EXPECT_EQ(found[0].waiting, 3U);
    EXPECT_EQ(found[0].oldest, begin);
    EXPECT_EQ(found[1].group, "a");
    EXPECT_EQ(found[2].group, "c");
    EXPECT_EQ(queue.groups(1).size(), 1U);
    EXPECT_CODE(invalid_argument, static_cast<void>(queue.groups(0)));
  }
}

}  // namespace
