#include <gtest/gtest.h>

#include <algorithm>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using namespace std::string_literals;
using tableq::message_state;
using tableq::settle_result;

/// A text that is invalid in headers on any database: half of a surrogate pair of UTF-16.
const std::string unreadable = R"({"a": "\ud800"})";

/// Rows of plain SQL that tableq never writes.
class foreign_rows : public claim_test {
 protected:
  [[nodiscard]] std::string insert(const std::string& payload, const std::string& column,
                                   const std::string& literal) {
    return "INSERT INTO jobs (payload, " + column + ") VALUES (" + here().bytes_literal(payload) +
           ", " + literal + ")";
  }
  void change(const std::string& payload, const std::string& assignment) {
    here().sql("UPDATE jobs SET " + assignment +
               " WHERE payload = " + here().bytes_literal(payload));
  }
  /// A message with unreadable headers.
  void spoil(const std::string& payload) {
    here().lift_checks("jobs");
    change(payload, "headers = '" + unreadable + "'");
  }
  static void expect_unreadable(const tableq::stored_message& found) {
    EXPECT_EQ(found.unread_headers, unreadable);
    EXPECT_TRUE(found.headers.empty());
  }
};
TABLEQ_ON_BACKENDS(foreign_rows, shared_backends);

TEST_P(foreign_rows, numbers_in_headers_are_handed_out_as_they_were_written) {
  jobs();
  here().sql(insert("sent", "headers",
                    R"('{"huge": 1e400, "same": -0.50, "long": 123456789012345678901234567890,)"
                    R"( "within": {"z": [1e400, 1.50], "a": null}, "no": false}')"));
  const tableq::headers expected = {{"huge", "1e400"},
                                    {"same", "-0.50"},
                                    {"long", "123456789012345678901234567890"},
                                    {"within", R"({"z":[1e400,1.50],"a":null})"},
                                    {"no", "false"}};
  EXPECT_EQ(jobs().peek().at(0).headers, expected);
  EXPECT_EQ(take_one(jobs()).headers, expected);
}

TEST_P(foreign_rows, headers_may_nest_deep) {
  jobs();
  const std::string deep = std::string(110, '[') + std::string(110, ']');
  here().sql(insert("deep", "headers", R"('{"n": )" + deep + "}'"));
  EXPECT_EQ(take_one(jobs()).headers.at("n"), deep);
}

TEST_P(foreign_rows, one_that_cannot_be_read_dies_alone) {
  for (const char* payload : {"p0", "bad", "p1"}) jobs({.max_attempts = 2}).enqueue(payload);
  spoil("bad");
  const auto got = jobs().take(10);
  EXPECT_EQ(payloads_of(got), numbered(2));
  EXPECT_EQ(jobs().complete_batch(got), std::vector(2, settle_result::applied));
  const auto dead = jobs().list(message_state::dead);
  ASSERT_EQ(dead.size(), 1U);
  EXPECT_EQ(dead[0].payload, "bad");
  EXPECT_EQ(dead[0].attempts, 1);
  EXPECT_EQ(dead[0].finished_at, clock.now());
  ASSERT_EQ(dead[0].errors.size(), 1U);
  EXPECT_EQ(dead[0].errors[0].error, "the headers cannot be read: no JSON object in UTF-8");
  EXPECT_EQ(dead[0].errors[0].at, clock.now());
  EXPECT_EQ(jobs().stats().ready + jobs().stats().leased, 0U);
}

TEST_P(foreign_rows, one_that_cannot_be_read_holds_nobody_up) {
  jobs().enqueue("bad", {.priority = 1});
  jobs().enqueue("good");
  spoil("bad");
  EXPECT_EQ(take_one(jobs()).payload, "good") << "asked for one, it is the next";
  EXPECT_TRUE(jobs().take(1).empty());
}

TEST_P(foreign_rows, one_that_cannot_be_read_comes_back_when_the_take_is_rolled_back) {
  const tableq::message_id bad = jobs().enqueue("bad").id;
  jobs().enqueue("good");
  spoil("bad");
  {
    tableq::transaction tx = db_with_clock().begin();
    EXPECT_EQ(payloads_of(jobs().in(tx).take(10)), std::vector{"good"s});
    EXPECT_EQ(jobs().in(tx).get(bad)->state, message_state::dead);
    tx.rollback();
  }
  EXPECT_EQ(jobs().stats().ready, 2U);
  db_with_clock().transact([&](tableq::transaction& tx) {
    const auto got = jobs().in(tx).take(10);
    EXPECT_EQ(payloads_of(got), std::vector{"good"s});
    EXPECT_EQ(jobs().in(tx).complete_batch(got), std::vector{settle_result::applied});
  });
  EXPECT_EQ(jobs().stats().dead, 1U);
  EXPECT_EQ(jobs().stats().ready, 0U);
}

TEST_P(foreign_rows, one_that_cannot_be_read_lets_its_group_go_on) {
  jobs({.groups = tableq::group_options{}});
  for (const char* payload : {"bad", "next"}) jobs().enqueue(payload, {.group = "g"});
  spoil("bad");
  EXPECT_EQ(take_one(jobs()).payload, "next");
}

TEST_P(foreign_rows, one_that_cannot_be_read_is_seen_by_all_looks) {
  const tableq::message_id bad = jobs().enqueue("bad").id;
  jobs().enqueue("good");
  spoil("bad");
  const auto seen = jobs().peek(10);
  ASSERT_EQ(seen.size(), 2U);
  expect_unreadable(seen[0]);
  EXPECT_EQ(seen[0].payload, "bad");
  EXPECT_FALSE(seen[1].unread_headers);
  const auto listed = jobs().list(message_state::ready);
  ASSERT_EQ(listed.size(), 2U);
  expect_unreadable(listed[0]);
  expect_unreadable(*jobs().get(bad));
  EXPECT_EQ(jobs().take(10).size(), 1U);
  expect_unreadable(jobs().list(message_state::dead).at(0));
}

TEST_P(foreign_rows, one_that_cannot_be_read_is_found_by_its_key_and_cancelled) {
  const tableq::message_id bad = jobs().enqueue("bad", {.key = "k"}).id;
  spoil("bad");
  expect_unreadable(*jobs().find("k"));
  EXPECT_EQ(jobs().set_priority(bad, 3), tableq::change_result::applied);
  EXPECT_EQ(jobs().cancel(bad), tableq::change_result::applied);
  EXPECT_TRUE(jobs().enqueue("next", {.key = "k"}).created());
}

TEST_P(foreign_rows, one_that_cannot_be_read_stops_no_action_by_filter) {
  for (const char* payload : {"bad", "good"}) jobs().enqueue(payload, {.headers = {{"a", "b"}}});
  spoil("bad");
  const tableq::message_filter with_header{.header = tableq::header_value{"a", "b"}};
  EXPECT_EQ(jobs().list(with_header).messages.size(), 1U);
  EXPECT_EQ(jobs().cancel(with_header).count, 1U);
  EXPECT_EQ(jobs().cancel({.all = true}).count, 1U);
}

TEST_P(foreign_rows, one_that_cannot_be_read_is_handed_out_when_it_was_mended_and_redriven) {
  for (const char* payload : {"bad", "worse"}) jobs().enqueue(payload);
  spoil("bad");
  spoil("worse");
  EXPECT_TRUE(jobs().take(10).empty());
  EXPECT_EQ(jobs().stats().dead, 2U);
  change("bad", R"(headers = '{"a": "mended"}')");
  EXPECT_EQ(
      jobs().redrive_all({.filter = [](const auto& one) { return !one.unread_headers; }}).count,
      1U);
  EXPECT_EQ(take_one(jobs()).headers.at("a"), "mended");
  EXPECT_EQ(jobs().redrive_all().count, 1U);
  EXPECT_TRUE(jobs().take(1).empty()) << "it is dead again";
}

TEST_P(foreign_rows, one_that_cannot_be_read_becomes_a_letter_with_its_headers_as_text) {
  jobs({.max_attempts = 1, .dead_letters = "morgue"});
  jobs().enqueue("bad", {.priority = 3});
  jobs().enqueue("good");
  spoil("bad");
  const auto good = take_one(jobs());
  EXPECT_EQ(good.payload, "good");
  EXPECT_EQ(jobs().fail(good.receipt, "no"), settle_result::applied);
  EXPECT_EQ(jobs().stats().dead, 0U);
  auto morgue = db_with_clock().claim("morgue");
  const auto letters = morgue.list(message_state::ready);
  ASSERT_EQ(letters.size(), 2U);
  EXPECT_EQ(letters[0].payload, "bad");
  EXPECT_EQ(letters[0].priority, 3);
  EXPECT_EQ(letters[0].headers,
            (tableq::headers{{"tableq-source", "jobs"}, {"tableq-unread-headers", unreadable}}));
  EXPECT_EQ(letters[0].errors.size(), 1U);
  EXPECT_EQ(jobs().redrive_all().count, 1U) << "it stays a letter: what it said is not known";
  EXPECT_EQ(take_one(jobs()).payload, "good");
  EXPECT_EQ(take_one(morgue).payload, "bad");
}

TEST_P(foreign_rows, one_that_was_spoilt_under_its_lease_is_settled_like_any_other) {
  jobs({.max_attempts = 1, .dead_letters = "morgue"});
  for (const char* payload : {"done", "failed", "left"}) jobs().enqueue(payload);
  const auto got = jobs().take(10);
  ASSERT_EQ(got.size(), 3U);
  for (const auto& each : got) spoil(each.payload);
  EXPECT_EQ(jobs().complete(got[0].receipt), settle_result::applied);
  EXPECT_EQ(jobs().fail(got[1].receipt, "no"), settle_result::applied);
  clock.advance(31s);
  EXPECT_TRUE(jobs().take(1).empty());
  EXPECT_EQ(db_with_clock().claim("morgue").stats().ready, 2U);
}

TEST_P(foreign_rows, letters_that_cannot_be_read_are_left_by_redrive) {
  jobs({.max_attempts = 1, .dead_letters = "morgue"});
  for (const char* payload : {"spoilt", "good"}) {
    jobs().enqueue(payload);
    EXPECT_EQ(jobs().fail(take_one(jobs()).receipt, "no"), settle_result::applied);
  }
  here().lift_checks("morgue");
  here().sql("UPDATE morgue SET headers = '" + unreadable +
             "' WHERE payload = " + here().bytes_literal("spoilt"));
  EXPECT_EQ(jobs().redrive_all().count, 1U);
  EXPECT_EQ(take_one(jobs()).payload, "good");
  EXPECT_EQ(db_with_clock().claim("morgue").stats().ready, 1U);
}

TEST_P(foreign_rows, headers_of_every_form_that_the_table_takes_leave_the_others_alone) {
  const std::vector<std::string> literals = {
      "'{}'",
      R"('{"": ""}')",
      R"('{"a": 1, "a": 2}')",
      R"('  {"a"  :  [ ]  }  ')",
      R"('{"a": "\u0000"}')",
      R"('{"\ud800": 1}')",
      R"('{"a": {"b": "\udc00\ud800"}}')",
      R"('{"a": "\ud83d\ude00"}')",
      R"('{a: 0x10, b: Infinity, /* JSON5 */ "c": +1.,}')",
      R"('{"a": 1e999999}')",
      "'[]'",
      "'5'",
      "'{'",
      "''",
      "'null'",
      R"('{"a": "\ud800"}')",
      R"('{"a": 1} x')",
      "'{}' || char(0) || 'x'",
      R"(CAST(x'7b2261223a2261ff227d' AS TEXT))",
      R"(CAST(x'7b22c3223a317d' AS TEXT))",
      R"(CAST(x'00ff' AS TEXT))",
      R"(jsonb('{"a": 1}'))",
      "x'7b7d'",
      "'{\"a\": " + std::string(900, '[') + std::string(900, ']') + "}'"};
  jobs();
  std::size_t sent = 0;
  for (const std::string& literal : literals) {
    SCOPED_TRACE(literal);
    if (here().takes(insert("odd", "headers", literal))) ++sent;
    jobs().enqueue("good");
  }
  EXPECT_GT(sent, 4U);
  EXPECT_EQ(jobs().peek(100).size(), sent + literals.size());
  EXPECT_EQ(jobs().list(message_state::ready).size(), sent + literals.size());
  const auto got = payloads_of(jobs().take(100));
  EXPECT_EQ(static_cast<std::size_t>(std::count(got.begin(), got.end(), "good")), literals.size());
  EXPECT_EQ(jobs().list(message_state::dead).size(), sent + literals.size() - got.size());
}

TEST_P(foreign_rows, histories_of_every_form_are_seen_and_grow) {
  const std::vector<std::string> literals = {
      R"('["x", 5, null, [1e400], {"at": 1}]')",
      R"('[{"at": "5", "error": "text"}]')",
      R"('[{"at": 1e300, "error": "late"}]')",
      R"('[{"at": 5, "error": 7}]')",
      "'[1,2,3,4,5,6,7,8,9,10,11,12]'",
      "'[] ' || char(0) || 'x'",
      R"(CAST(x'5b22ff225d' AS TEXT))",
      "'" + std::string(110, '[') + std::string(110, ']') + "'"};
  jobs();
  std::size_t sent = 0;
  for (const std::string& literal : literals) {
    if (here().takes(insert("odd", "errors", literal))) ++sent;
  }
  EXPECT_GT(sent, 4U);
  EXPECT_EQ(jobs().peek(100).size(), sent);
  const auto first = jobs().get(jobs().peek().at(0).id);
  ASSERT_EQ(first->errors.size(), 5U);
  EXPECT_EQ(first->errors[0].error, R"("x")");
  EXPECT_EQ(first->errors[3].error, "[1e400]");
  EXPECT_EQ(first->errors[3].at, tableq::timestamp());
  std::vector<tableq::failure> failures;
  const auto got = jobs().take(100);
  ASSERT_EQ(got.size(), sent);
  for (const auto& each : got) failures.push_back({.receipt = each.receipt, .error = "new"});
  EXPECT_EQ(jobs().fail_batch(failures), std::vector(sent, settle_result::applied));
  ASSERT_EQ(jobs().take(100).size(), sent);
  clock.advance(31s);
  ASSERT_EQ(jobs().take(100).size(), sent) << "leases that expired";
  for (const auto& each : jobs().list(message_state::leased)) {
    ASSERT_GE(each.errors.size(), 2U);
    EXPECT_EQ(each.errors.back().error, "lease expired");
    EXPECT_EQ(each.errors[each.errors.size() - 2].error, "new");
  }
}

TEST_P(foreign_rows, histories_and_rules_that_are_no_json_stop_no_batch) {
  jobs({.retry = tableq::retry_delays{.after = {0ms}}});
  for (const char* payload : {"broken", "object", "good"}) jobs().enqueue(payload);
  here().lift_checks("jobs");
  const auto spoil_all = [&] {
    change("broken", "errors = '[broken', retry = '{no'");
    change("object", R"(errors = '{"a": 1}', retry = '[5]')");
  };
  spoil_all();
  std::vector<tableq::failure> failures;
  for (const auto& each : jobs().take(10)) {
    failures.push_back({.receipt = each.receipt, .error = "new"});
  }
  EXPECT_EQ(jobs().fail_batch(failures), std::vector(3, settle_result::applied));
  EXPECT_EQ(jobs().list({.error = "new"}).messages.size(), 3U);
  EXPECT_EQ(jobs().take(10).size(), 3U) << "the queue's rule holds";
  spoil_all();
  EXPECT_NO_THROW(static_cast<void>(jobs().list({.error = "new"})));
  clock.advance(31s);
  const auto again = jobs().take(10);
  EXPECT_EQ(again.size(), 3U);
  for (const auto& each : jobs().list(message_state::leased)) {
    SCOPED_TRACE(each.payload);
    ASSERT_FALSE(each.errors.empty());
    EXPECT_EQ(each.errors.back().error, "lease expired");
  }
}

TEST_P(foreign_rows, a_history_longer_than_any_of_tableqs_begins_anew) {
  jobs();
  here().sql(insert("odd", "errors",
                    R"('[{"at": 5, "error": ")" + std::string(2'000'000, 'x') + R"("}]')"));
  const auto seen = jobs().peek().at(0);
  ASSERT_EQ(seen.errors.size(), 1U);
  EXPECT_EQ(seen.errors[0].error.size(), 2000U);
  EXPECT_EQ(jobs().fail(take_one(jobs()).receipt, "new"), settle_result::applied);
  ASSERT_EQ(jobs().get(seen.id)->errors.size(), 1U);
  EXPECT_EQ(jobs().get(seen.id)->errors[0].error, "new");
}

}  // namespace
