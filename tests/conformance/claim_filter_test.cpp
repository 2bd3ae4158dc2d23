#include <gtest/gtest.h>

#include <algorithm>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "conformance/claim_fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::bulk_result;
using tableq::change_result;
using tableq::message_filter;
using tableq::message_id;
using tableq::message_state;
using tableq::settle_result;

class claim_filter : public claim_test {
 protected:
  using texts = std::vector<std::string>;
  /// The payloads of all that fit, page by page.
  texts fitting(const message_filter& filter, std::size_t page = 100) {
    texts out;
    tableq::filter_page where{.max = page};
    do {
      const auto found = jobs().list(filter, where);
      EXPECT_LE(found.messages.size(), page);
      for (const auto& each : found.messages) out.push_back(each.payload);
      where.after = found.next;
    } while (where.after);
    return out;
  }
  void bury(const std::string& payload, const std::string& error,
            const tableq::claim_enqueue_options& options = {}) {
    const auto id = jobs().enqueue(payload, options).id;
    for (const auto& each : jobs().take(100)) {
      const bool mine = each.receipt.id == id;
      EXPECT_EQ(
          mine ? jobs().fail(each.receipt, error, {.give_up = true}) : jobs().release(each.receipt),
          settle_result::applied);
    }
  }
};
TABLEQ_ON_BACKENDS(claim_filter, all_backends);

TEST_P(claim_filter, finds_by_state) {
  bury("dead", "no");
  jobs().enqueue("later", {.delay = 1h});
  jobs().enqueue("leased");
  static_cast<void>(take_one());
  jobs().enqueue("ready");
  EXPECT_EQ(fitting({.state = message_state::ready}), texts{"ready"});
  EXPECT_EQ(fitting({.state = message_state::leased}), texts{"leased"});
  EXPECT_EQ(fitting({.state = message_state::delayed}), texts{"later"});
  EXPECT_EQ(fitting({.state = message_state::dead}), texts{"dead"});
  EXPECT_EQ(fitting({}), (texts{"dead", "later", "leased", "ready"}));
}

TEST_P(claim_filter, finds_by_age_since_the_enqueue_or_the_end) {
  bury("old", "no");
  jobs().enqueue("early");
  clock.advance(1h);
  bury("new", "no");
  clock.advance(1h);
  jobs().enqueue("late");
  EXPECT_EQ(fitting({.state = message_state::dead, .older_than = 90min}), texts{"old"});
  EXPECT_EQ(fitting({.state = message_state::dead, .older_than = 1h}), (texts{"old", "new"}));
  EXPECT_EQ(fitting({.older_than = 1h}), (texts{"old", "early", "new"}));
  EXPECT_EQ(fitting({.older_than = 0ms}).size(), 4U);
}

TEST_P(claim_filter, finds_by_a_header_and_its_exact_value) {
  const std::string odd = R"(a "b" \c, {d}: 'e' %_*[f] )";
  jobs().enqueue("plain", {.headers = {{"tenant", "a"}, {"other", "b"}}});
  jobs().enqueue("longer", {.headers = {{"tenant", "ab"}}});
  jobs().enqueue("blank", {.headers = {{"tenant", "a "}}});
  jobs().enqueue("other", {.headers = {{"other", "a"}}});
  jobs().enqueue("inside", {.headers = {{"x", R"("tenant":"a")"}, {R"(x"tenant)", "a"}}});
  jobs().enqueue("odd", {.headers = {{odd, odd}}});
  jobs().enqueue("empty", {.headers = {{"tenant", ""}}});
  jobs().enqueue("umlaut", {.headers = {{"tenant", "\xC3\xA4"}}});
  jobs().enqueue("none");
  const auto with = [&](const std::string& name, const std::string& value) {
    return fitting({.header = tableq::header_value{name, value}});
  };
  EXPECT_EQ(with("tenant", "a"), texts{"plain"});
  EXPECT_EQ(with("tenant", "A"), texts{});
  EXPECT_EQ(with("Tenant", "a"), texts{});
  EXPECT_EQ(with("tenant", "a "), texts{"blank"});
  EXPECT_EQ(with("tenant", ""), texts{"empty"});
  EXPECT_EQ(with("tenant", "\xC3\xA4"), texts{"umlaut"});
  EXPECT_EQ(with("other", "b"), texts{"plain"});
  EXPECT_EQ(with(odd, odd), texts{"odd"});
  EXPECT_EQ(with("other", ".*"), texts{});
}

TEST_P(claim_filter, finds_a_header_that_plain_sql_has_written_with_blanks) {
  if (!can().shared) return;
  jobs().enqueue("mine", {.headers = {{"tenant", "a"}}});
  jobs().enqueue("its", {.priority = 7, .headers = {{"tenant", "a"}}});
  here().sql(R"(UPDATE jobs SET headers = '{ "x" : "1",  "tenant" : "a" }' WHERE priority = 7)");
  EXPECT_EQ(fitting({.header = tableq::header_value{"tenant", "a"}}), (texts{"mine", "its"}));
}

TEST_P(claim_filter, finds_by_key_prefix_also_of_past_keys) {
  auto kept = db_with_clock().claim("kept", {.keep_completed = true});
  for (const char* key : {"order-1", "order-2", "Order-3", "ord", "order%4", "xorder-5"}) {
    kept.enqueue(key, {.key = key});
  }
  kept.enqueue("none");
  EXPECT_EQ(kept.complete(kept.take_one()->receipt), settle_result::applied);
  const auto with = [&](const std::string& prefix) {
    texts out;
    for (const auto& each : kept.list({.key_prefix = prefix}).messages) out.push_back(each.payload);
    return out;
  };
  EXPECT_EQ(with("order-"), (texts{"order-1", "order-2"}));
  EXPECT_EQ(with("order%"), texts{"order%4"});
  EXPECT_EQ(with("order_"), texts{});
  EXPECT_EQ(with("O"), texts{"Order-3"});
}

TEST_P(claim_filter, finds_by_the_text_of_the_last_error) {
  bury("once", "time-out of 100% [a]");
  bury("twice", "time-out");
  EXPECT_EQ(jobs().redrive({{2}}), 1U);
  for (const auto& each : jobs().take(10)) {
    EXPECT_EQ(jobs().fail(each.receipt, "Refused 'x' \xC3\xA4 \"y\"", {.give_up = true}),
              settle_result::applied);
  }
  jobs().enqueue("none");
  EXPECT_EQ(fitting({.error = "time-out"}), texts{"once"});
  EXPECT_EQ(fitting({.error = "100% ["}), texts{"once"});
  EXPECT_EQ(fitting({.error = "100_"}), texts{});
  EXPECT_EQ(fitting({.error = "refused"}), texts{});
  EXPECT_EQ(fitting({.error = "'x' \xC3\xA4 \"y\""}), texts{"twice"});
}

TEST_P(claim_filter, passes_errors_that_plain_sql_has_written_in_another_form) {
  if (!can().shared) return;
  bury("mine", "time-out");
  for (const char* const errors :
       {R"(["time-out"])", "[7]", "[[]]", "[null]", "[]", R"([{"error":null}])"}) {
    const auto id = jobs().enqueue(errors).id;
    here().sql("UPDATE jobs SET errors = '" + std::string(errors) +
               "' WHERE id = " + std::to_string(id.value));
  }
  EXPECT_EQ(fitting({.error = "time-out"}), texts{"mine"});
}

TEST_P(claim_filter, finds_by_group) {
  auto with_groups = db_with_clock().claim("teams", {.groups = tableq::group_options{}});
  for (int i = 0; i < 6; ++i) {
    with_groups.enqueue("p" + std::to_string(i), {.group = i % 2 == 0 ? "a" : "A"});
  }
  const auto found = with_groups.list({.group = "a"});
  ASSERT_EQ(found.messages.size(), 3U);
  EXPECT_EQ(found.messages[1].payload, "p2");
  EXPECT_EQ(found.messages[1].state, message_state::held);
  const bulk_result gone = with_groups.cancel({.state = message_state::held, .group = "a"});
  EXPECT_EQ(gone.count, 2U);
  EXPECT_EQ(with_groups.stats().held, 2U);
}

TEST_P(claim_filter, pages_through_what_fits_and_only_what_was_there) {
  for (int i = 0; i < 50; ++i) {
    jobs().enqueue(std::to_string(i), {.headers = {{"even", i % 2 == 0 ? "yes" : "no"}}});
  }
  const message_filter even{.header = tableq::header_value{"even", "yes"}};
  const texts expected = fitting(even, 1000);
  ASSERT_EQ(expected.size(), 25U);
  for (const std::size_t page : {1U, 7U, 24U, 25U, 26U}) EXPECT_EQ(fitting(even, page), expected);
  const auto first = jobs().list(even, {.max = 20});
  ASSERT_TRUE(first.next);
  jobs().enqueue("new", {.headers = {{"even", "yes"}}});
  const auto second = jobs().list(even, {.max = 20, .after = first.next});
  EXPECT_EQ(second.messages.size(), 5U);
  EXPECT_FALSE(second.next);
}

TEST_P(claim_filter, reads_no_more_than_ten_thousand_messages_a_call) {
  if (!can().shared) return;
  jobs();
  here().insert_many("jobs", "payload", here().bytes_literal("x"), 25'000);
  const message_filter none{.key_prefix = "none"};
  tableq::filter_page where;
  for (int call = 0; call < 3; ++call) {
    const auto found = jobs().list(none, where);
    EXPECT_TRUE(found.messages.empty());
    EXPECT_EQ(found.next.has_value(), call < 2);
    where.after = found.next;
  }
}

TEST_P(claim_filter, removes_all_that_fit_step_by_step_and_tells_what_it_skipped) {
  for (int i = 0; i < 25; ++i) jobs().enqueue(std::to_string(i), {.priority = i % 5});
  jobs().enqueue("other", {.key = "k"});
  const auto taken = jobs().take(3);
  std::vector<std::size_t> counts;
  const bulk_result done =
      jobs().cancel({.all = true}, {.batch = 4, .progress = [&](const bulk_result& so_far) {
                                      counts.push_back(so_far.count + so_far.running);
                                    }});
  EXPECT_EQ(done.count, 23U);
  EXPECT_EQ(done.running, 3U);
  EXPECT_FALSE(done.stopped_at);
  EXPECT_TRUE(std::ranges::is_sorted(counts));
  EXPECT_GE(counts.size(), 7U);
  EXPECT_EQ(jobs().stats().ready, 0U);
  EXPECT_TRUE(jobs().enqueue("again", {.key = "k"}).created());
  for (const auto& each : taken) EXPECT_EQ(jobs().complete(each.receipt), settle_result::applied);
}

TEST_P(claim_filter, goes_on_where_it_stopped) {
  for (int i = 0; i < 30; ++i) jobs().enqueue(std::to_string(i), {.delay = 1h});
  std::stop_source stop;
  const bulk_result first = jobs().make_ready(
      {.all = true}, {.batch = 10,
                      .progress = [&](const bulk_result&) { stop.request_stop(); },
                      .stop = stop.get_token()});
  EXPECT_EQ(first.count, 10U);
  ASSERT_TRUE(first.stopped_at);
  EXPECT_EQ(jobs().stats().ready, 10U);
  const bulk_result rest = jobs().make_ready({.all = true}, {.after = first.stopped_at});
  EXPECT_EQ(rest.count, 20U);
  EXPECT_FALSE(rest.stopped_at);
  EXPECT_EQ(jobs().take(100).size(), 30U);
}

TEST_P(claim_filter, counts_without_a_change_in_a_dry_run) {
  for (int i = 0; i < 5; ++i) jobs().enqueue("x", {.delay = i % 2 == 0 ? 0ms : 1h});
  bury("dead", "no");
  EXPECT_EQ(jobs().cancel({.all = true}, {.dry_run = true}).count, 6U);
  EXPECT_EQ(jobs().set_priority({.all = true}, 3, {.dry_run = true}).count, 5U);
  EXPECT_EQ(jobs().make_ready({.all = true}, {.dry_run = true}).count, 2U);
  EXPECT_EQ(jobs().redrive({.all = true}, {.dry_run = true}).count, 1U);
  EXPECT_EQ(jobs().purge({.all = true}, {.dry_run = true}).count, 1U);
  EXPECT_EQ(jobs().stats().ready, 3U);
  EXPECT_EQ(jobs().stats().dead, 1U);
  EXPECT_EQ(jobs().get({1})->priority, 0);
}

TEST_P(claim_filter, refuses_what_selects_everything_by_mistake_and_what_it_cannot_change) {
  EXPECT_CODE(invalid_argument, jobs().cancel(message_filter{}));
  EXPECT_CODE(invalid_argument, jobs().purge(message_filter{}, {.dry_run = true}));
  EXPECT_CODE(invalid_argument, jobs().redrive(message_filter{}));
  EXPECT_CODE(invalid_argument, jobs().cancel({.state = message_state::leased}));
  EXPECT_CODE(invalid_argument, jobs().purge({.state = message_state::ready}));
  EXPECT_CODE(invalid_argument, jobs().make_ready({.state = message_state::ready}));
  EXPECT_CODE(invalid_argument, jobs().redrive({.state = message_state::done}));
  EXPECT_CODE(invalid_argument, jobs().set_priority({.state = message_state::dead}, 1));
  EXPECT_CODE(invalid_argument, jobs().cancel({.older_than = -1ms}));
  EXPECT_CODE(invalid_argument, jobs().cancel({.header = tableq::header_value{"", "x"}}));
  EXPECT_CODE(invalid_argument,
              jobs().cancel({.header = tableq::header_value{"x", std::string(501, 'x')}}));
  EXPECT_CODE(invalid_argument, jobs().cancel({.group = ""}));
  EXPECT_CODE(invalid_argument, jobs().cancel({.key_prefix = std::string(201, 'x')}));
  EXPECT_CODE(invalid_argument, jobs().cancel({.error = "\xFF"}));
  EXPECT_CODE(invalid_argument, jobs().cancel({.all = true}, {.batch = 1001}));
  EXPECT_CODE(invalid_argument, jobs().cancel({.all = true}, {.after = {{.part = 1}}}));
  EXPECT_CODE(invalid_argument, static_cast<void>(jobs().list(message_filter{}, {.max = 0})));
  tableq::transaction tx = db_with_clock().begin();
  EXPECT_CODE(invalid_argument, jobs().in(tx).cancel({.all = true}));
}

TEST_P(claim_filter, never_takes_a_text_of_the_filter_as_sql) {
  jobs().enqueue("x", {.headers = {{"a", "b"}}, .key = "k"});
  for (const std::string evil :
       {"' OR 1=1 --", "'; DROP TABLE jobs; --", "\\", "%", "\"}", "[", ")"}) {
    EXPECT_EQ(jobs().cancel({.header = tableq::header_value{evil, evil}}).count, 0U) << evil;
    EXPECT_EQ(jobs().cancel({.group = evil}).count, 0U) << evil;
    EXPECT_EQ(jobs().cancel({.key_prefix = evil}).count, 0U) << evil;
    EXPECT_EQ(jobs().cancel({.error = evil}).count, 0U) << evil;
  }
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(claim_filter, sets_the_priority_of_what_waits) {
  for (int i = 0; i < 5; ++i) jobs().enqueue("p" + std::to_string(i), {.key = std::to_string(i)});
  EXPECT_EQ(jobs().set_priority({.key_prefix = "3"}, 9).count, 1U);
  EXPECT_EQ(take_one().payload, "p3");
  const bulk_result rest = jobs().set_priority({.all = true}, -1);
  EXPECT_EQ(rest.count, 4U);
  EXPECT_EQ(rest.running, 1U);
}

TEST_P(claim_filter, purges_done_and_dead_ones_that_fit) {
  auto kept = db_with_clock().claim("kept", {.keep_completed = true});
  for (int i = 0; i < 6; ++i) kept.enqueue(std::to_string(i), {.key = std::to_string(i)});
  for (const auto& each : kept.take(5)) {
    EXPECT_EQ(each.payload < "3" ? kept.complete(each.receipt)
                                 : kept.fail(each.receipt, "no", {.give_up = true}),
              settle_result::applied);
  }
  EXPECT_EQ(kept.purge({.key_prefix = "1"}).count, 1U);
  EXPECT_EQ(kept.purge({.state = message_state::dead, .key_prefix = "2"}).count, 0U);
  EXPECT_EQ(kept.purge({.all = true}, {.batch = 1}).count, 4U);
  EXPECT_EQ(kept.stats().ready, 1U);
}

TEST_P(claim_filter, redrives_what_fits_here_and_in_the_dead_letter_queue) {
  auto letters = db_with_clock().claim("letters", at_once());
  auto mail = db_with_clock().claim("mail", {.max_attempts = 1, .dead_letters = "letters"});
  for (const char* each : {"a", "b", "c"}) mail.enqueue(each, {.key = each});
  letters.enqueue("foreign");
  for (const auto& each : mail.take(3)) {
    EXPECT_EQ(mail.fail(each.receipt, each.payload == "b" ? "odd" : "even"),
              settle_result::applied);
  }
  EXPECT_EQ(mail.redrive({.error = "odd"}, {.dry_run = true}).count, 1U);
  EXPECT_EQ(mail.redrive({.error = "odd"}).count, 1U);
  EXPECT_EQ(payloads_of(mail.peek(10)), texts{"b"});
  mail.enqueue("blocks", {.key = "a"});
  const bulk_result rest = mail.redrive({.all = true});
  EXPECT_EQ(rest.count, 1U);
  EXPECT_EQ(rest.key_held, 1U);
  EXPECT_EQ(letters.stats().ready, 2U);
}

TEST_P(claim_filter, leaves_alone_what_dies_again_while_a_redrive_runs) {
  auto brittle = db_with_clock().claim("jobs", {.max_attempts = 1});
  for (int i = 0; i < 6; ++i) brittle.enqueue(std::to_string(i));
  const auto die = [&] {
    for (const auto& each : brittle.take(10)) {
      EXPECT_EQ(brittle.fail(each.receipt, "no"), settle_result::applied);
    }
  };
  die();
  clock.advance(1s);
  const bulk_result done =
      brittle.redrive({.all = true}, {.batch = 2, .progress = [&](const bulk_result&) {
                                        clock.advance(1s);
                                        die();
                                      }});
  EXPECT_EQ(done.count, 6U);
  EXPECT_EQ(brittle.stats().dead, 6U);
}

class claim_make_ready : public claim_test {};
TABLEQ_ON_BACKENDS(claim_make_ready, all_backends);

TEST_P(claim_make_ready, answers_for_messages_in_every_state) {
  auto kept = db_with_clock().claim("kept", {.keep_completed = true});
  const auto later = kept.enqueue("later", {.delay = 1h}).id;
  const auto ready = kept.enqueue("ready").id;
  const auto leased = kept.take_one()->receipt;
  const auto done = kept.enqueue("done").id;
  EXPECT_EQ(kept.complete(kept.take_one()->receipt), settle_result::applied);
  const std::vector<change_result> expected = {change_result::applied, change_result::applied,
                                               change_result::running, change_result::finished,
                                               change_result::not_found};
  EXPECT_EQ(
      kept.make_ready_batch(std::vector<message_id>{later, later, leased.id, done, {999'999}}),
      expected);
  EXPECT_EQ(ready, leased.id);
  EXPECT_TRUE(kept.make_ready_batch(std::vector<message_id>{}).empty());
}

TEST_P(claim_make_ready, puts_a_message_behind_its_group_only_where_the_group_went_on) {
  for (const auto policy : {tableq::group_policy::hold, tableq::group_policy::pass}) {
    const bool pass = policy == tableq::group_policy::pass;
    auto grouped = db_with_clock().claim(pass ? "passing" : "holding",
                                         {.groups = tableq::group_options{.on_failure = policy}});
    for (const char* each : {"first", "second", "third"}) grouped.enqueue(each, {.group = "g"});
    const auto first = grouped.take_one();
    EXPECT_EQ(grouped.fail(first->receipt, "no", {.delay = 1h}), settle_result::applied);
    const auto second = grouped.take_one();
    EXPECT_EQ(second.has_value(), pass);
    EXPECT_EQ(grouped.make_ready(first->receipt.id), change_result::applied);
    EXPECT_EQ(grouped.get(first->receipt.id)->state,
              pass ? message_state::held : message_state::ready);
    if (second) {
      EXPECT_EQ(grouped.complete(second->receipt), settle_result::applied);
    }
    EXPECT_EQ(grouped.take_one()->payload, "first");
  }
}

TEST_P(claim_make_ready, returns_it_to_its_place_before_later_messages) {
  const auto early = jobs().enqueue("early", {.delay = 1h}).id;
  for (const auto& each : numbered(200)) jobs().enqueue(each);
  // Reads have passed the place of the message.
  for (int i = 0; i < 10; ++i) {
    for (const auto& each : jobs().take(10)) {
      EXPECT_EQ(jobs().complete(each.receipt), settle_result::applied);
    }
  }
  EXPECT_EQ(jobs().make_ready(early), change_result::applied);
  EXPECT_EQ(take_one().payload, "early");
}

TEST_P(claim_make_ready, wakes_a_waiting_take) {
  if (!can().shared) return;
  auto waiting = db().claim("real", at_once());
  const auto id = waiting.enqueue("x", {.delay = 1h}).id;
  tableq::database another = open();
  auto other = another.claim("real");
  std::jthread waiter([&] {
    const auto taken = waiting.take_one({.wait = for_ever});
    EXPECT_EQ(taken->payload, "x");
  });
  EXPECT_EQ(other.make_ready(id), change_result::applied);
}

}  // namespace
