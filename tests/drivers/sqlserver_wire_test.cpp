#include <algorithm>
#include <set>
#include <utility>

#include "drivers/sqlserver_fixture.hpp"
#include "drivers/sqlserver_operations.hpp"

namespace {

using namespace std::chrono_literals;
using tableq_test::named_values;
using tableq_test::names_of;
using tableq_test::read_call;
using tableq_test::sqlserver_operations;
using tableq_test::tds_answer;
using tableq_test::tds_kind;
using tableq_test::tds_request;
using tableq_test::tds_type;
using tableq_test::tds_value;

namespace answers = tableq_test::sqlserver_rows;

/// The client's requests without errors.
class sqlserver_wire : public tableq_test::on_each_address {
 protected:
  /// The one statement that `work` sends.
  template <class F>
  tds_request single(F&& work) {
    const auto came = sent_by(work);
    EXPECT_EQ(came.size(), 1U) << names_of(came);
    return came.empty() ? tds_request() : came.front();
  }

  tableq::database db_ = open(0ms);
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_wire, testing::Bool(), tableq_test::address_name);

TEST_P(sqlserver_wire, begins_a_session_with_one_batch_of_settings) {
  const auto came = sent_by([&] { (void)open(0ms); });
  const std::string once = "login setup catalog.exists catalog.find";
  // A separate session finds the product behind ODBC's own string.
  EXPECT_EQ(names_of(came), GetParam() ? "login " + once : once);
  const auto setup = std::find_if(came.begin(), came.end(),
                                  [](const auto& each) { return read_call(each).name == "setup"; });
  ASSERT_NE(setup, came.end());
  EXPECT_EQ(setup->kind, tds_kind::batch);
  for (const char* part :
       {"SET NOCOUNT ON;", "SET XACT_ABORT ON;", "SET TRANSACTION ISOLATION LEVEL READ COMMITTED;",
        "SET LOCK_TIMEOUT ", "SET TEXTSIZE 2147483647;", "SET ANSI_NULLS ON;",
        "SET ANSI_PADDING ON;", "SET ANSI_WARNINGS ON;", "SET ARITHABORT ON;",
        "SET CONCAT_NULL_YIELDS_NULL ON;", "SET QUOTED_IDENTIFIER ON;",
        "SET NUMERIC_ROUNDABORT OFF;"}) {
    EXPECT_NE(setup->text.find(part), std::string::npos) << part;
  }
}

TEST_P(sqlserver_wire, sends_the_dialects_text_in_one_round_trip_for_each_operation) {
  for (const auto& each : sqlserver_operations(db_)) {
    // Their names are found by the whole text.
    const std::string sent = names_of(sent_by(each.run));
    EXPECT_EQ(sent, each.strict ? "begin queue.lock " + each.sends + " commit" : each.sends);
  }
}

TEST_P(sqlserver_wire, takes_with_one_round_trip_when_a_message_is_there) {
  auto claim = db_.claim("claim");
  tds_answer one = answers::deliveries();
  script_.once("claim.take",
               one.row({9, 1, 1, 0, 1000, nullptr, 31000, nullptr, nullptr, 0, nullptr, "p"}));
  EXPECT_EQ(names_of(sent_by([&] { EXPECT_EQ(claim.take(1).size(), 1U); })), "claim.take");
  EXPECT_EQ(names_of(sent_by([&] { EXPECT_TRUE(claim.take(1).empty()); })),
            "claim.take claim.promote claim.take");
}

TEST_P(sqlserver_wire, declares_parameters_as_three_kinds_of_types_only) {
  std::set<std::string> declared;
  std::set<std::string> sent;
  for (const auto& each : sqlserver_operations(db_)) {
    for (const tds_request& came : sent_by(each.run)) {
      std::string_view rest = came.declaration;
      while (!rest.empty()) {
        const auto end = std::min(rest.find(','), rest.size());
        const std::string_view one = rest.substr(0, end);
        declared.emplace(one.substr(one.find(' ') + 1));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      for (const auto& parameter : came.parameters) sent.insert(parameter.type);
    }
  }
  EXPECT_EQ(declared, (std::set<std::string>{"BIGINT", "NVARCHAR(4000)", "VARBINARY(MAX)"}));
  EXPECT_EQ(sent, (std::set<std::string>{"bigint", "nvarchar(4000)", "varbinary(max)"}));
}

TEST_P(sqlserver_wire, sends_statements_as_calls_without_preparing_them) {
  for (int i = 0; i < 2; ++i) {
    for (const auto& each : sqlserver_operations(db_)) {
      for (const tds_request& came : sent_by(each.run)) {
        EXPECT_TRUE(came.parameters.empty() ? came.kind == tds_kind::batch
                                            : came.procedure == "sp_executesql")
            << described(came);
      }
    }
  }
}

TEST_P(sqlserver_wire, declares_a_payload_the_same_way_whatever_its_length) {
  auto fifo = db_.fifo("fifo");
  std::set<std::string> declared;
  for (const std::size_t size : {0U, 1U, 8000U, 8001U, 100000U}) {
    const std::string payload(size, 'x');
    declared.insert(single([&] { fifo.enqueue(payload); }).declaration);
  }
  EXPECT_EQ(declared, std::set<std::string>{"@P1 BIGINT,@P2 VARBINARY(MAX),@P3 BIGINT"});
}

TEST_P(sqlserver_wire, declares_a_short_text_the_same_way_whatever_its_length) {
  auto claim = db_.claim("claim");
  std::set<std::string> declared;
  for (const std::size_t size : {1U, 10U, 200U}) {
    declared.insert(single([&] {
                      claim.enqueue("p", {.headers = {{"h", std::string(size, 'v')}},
                                          .key = std::string(size, 'k')});
                    }).declaration);
  }
  declared.insert(single([&] { claim.enqueue("p"); }).declaration);
  EXPECT_EQ(declared.size(), 1U);
  const auto longer = single([&] {
    claim.enqueue("p", {.headers = {{"h", std::string(5000, 'v')}}});
  });
  EXPECT_NE(longer.declaration.find("NVARCHAR(MAX)"), std::string::npos) << longer.declaration;
}

TEST_P(sqlserver_wire, passes_locked_rows_unless_a_queue_is_strict) {
  for (const auto& each : sqlserver_operations(db_)) {
    const bool strict = each.sends.ends_with("_strict");
    const bool reads = each.sends.ends_with(".dequeue") || each.sends.ends_with(".peek") ||
                       each.sends.ends_with(".stats") || each.sends == "claim.letters" ||
                       each.sends.ends_with("purge") || each.sends.starts_with("claim.list") ||
                       each.sends.ends_with(".redrive_all");
    const bool settles = each.sends == "claim.complete" || each.sends == "claim.keep" ||
                         each.sends == "claim.fail" || each.sends == "claim.release" ||
                         each.sends == "claim.extend" || each.sends == "claim.redrive" ||
                         each.sends == "claim.remove" || each.sends == "claim.cancel" ||
                         each.sends == "claim.set_priority";
    const auto came = sent_by(each.run);
    const auto sent = std::find_if(came.begin(), came.end(), [&](const tds_request& one) {
      return read_call(one).name == each.sends;
    });
    ASSERT_NE(sent, came.end()) << each.sends;
    const std::string& text = sent->text;
    const bool passes = text.find("READPAST") != std::string::npos;
    if (reads) {
      EXPECT_TRUE(passes) << each.sends;
    }
    if (strict || settles) {
      EXPECT_FALSE(passes) << each.sends;
    }
    const bool takes = strict || settles || each.sends.ends_with(".dequeue");
    if (takes) {
      EXPECT_NE(text.find("WITH (UPDLOCK, ROWLOCK"), std::string::npos) << each.sends;
    }
  }
}

TEST_P(sqlserver_wire, gives_each_parameter_the_value_of_its_name) {
  const auto call = [&](auto work) { return read_call(single(work)); };
  const auto at = [](std::int64_t ms) { return tableq::timestamp(std::chrono::milliseconds(ms)); };
  auto fifo = db_.fifo("fifo");
  const auto added = call([&] { fifo.enqueue("p", {.created_at = at(77)}); });
  EXPECT_EQ(added.items.at(0), (named_values{{"payload", "p"}, {"created_at", 77}}));
  EXPECT_EQ(added.shared, named_values{});
  EXPECT_EQ(call([&] { (void)fifo.dequeue_batch(40); }).shared, (named_values{{"max", 40}}));

  auto pending = db_.pending("pending");
  EXPECT_EQ(
      call([&] { pending.enqueue("p", {.due_at = at(99)}); }).items.at(0),
      (named_values{{"payload", "p"}, {"created_at", nullptr}, {"due_at", 99}, {"delay", 0}}));
  EXPECT_EQ(call([&] { (void)pending.dequeue(); }).shared, (named_values{{"max", 1}}));

  auto claim = db_.claim("claim");
  const auto claimed = call([&] {
    claim.enqueue("p", {.priority = -7,
                        .delay = 2s,
                        .headers = {{"a", "b"}},
                        .key = "k",
                        .time_to_live = 9s,
                        .max_attempts = 3,
                        .retry = tableq::retry_delays{.after = {1s}, .jitter = 5}});
  });
  EXPECT_EQ(claimed.items.at(0), (named_values{{"payload", "p"},
                                               {"priority", -7},
                                               {"delay", 2000},
                                               {"due_at", nullptr},
                                               {"key", "k"},
                                               {"headers", R"({"a":"b"})"},
                                               {"created_at", nullptr},
                                               {"ttl", 9000},
                                               {"max_attempts", 3},
                                               {"retry", R"({"after":[1000],"jitter":5})"},
                                               {"group", nullptr}}));
  const auto mine = receipt_of("claim", 3, (std::int64_t{1} << 40) + 5);
  const auto failed = call([&] { (void)claim.fail(mine, "it's broken", {.delay = 3s}); });
  for (const auto& [name, value] : named_values{{"id", 3},
                                                {"fence", (std::int64_t{1} << 40) + 5},
                                                {"error", "it's broken"},
                                                {"delay", 3000},
                                                {"final", 0}}) {
    EXPECT_EQ(failed.items.at(0).at(name), value) << name;
  }
  EXPECT_EQ(failed.shared.at("max_attempts"), tds_value(5));
  const auto given_up = call([&] { (void)claim.fail(mine, "no", {.give_up = true}); });
  EXPECT_EQ(given_up.items.at(0).at("final"), tds_value(1));
  EXPECT_EQ(call([&] { (void)claim.extend(mine, 9s); }).shared, (named_values{{"lease", 9000}}));
  EXPECT_EQ(call([&] {
              claim.purge(tableq::message_state::done, {.older_than = 1h, .batch = 10});
            }).shared,
            (named_values{{"state", 3}, {"older_than", 3600000}, {"max", 10}}));
}

TEST_P(sqlserver_wire, gives_a_take_a_new_token_each_time) {
  auto claim = db_.claim("claim");
  std::set<std::int64_t> tokens;
  for (int i = 0; i < 4; ++i) {
    const auto came = sent_by([&] {
      EXPECT_TRUE(claim.take(6, {.lease = 4s, .claimed_at = tableq::timestamp(5ms)}).empty());
    });
    ASSERT_EQ(names_of(came), "claim.take claim.promote claim.take");
    for (const std::size_t place : {0U, 2U}) {
      named_values given = read_call(came[place]).shared;
      const auto token = std::get<std::int64_t>(given.extract("token").mapped());
      EXPECT_TRUE(token >= 0 && token < std::int64_t{1} << 32);
      tokens.insert(token);
      EXPECT_EQ(given, (named_values{{"max", 6},
                                     {"lease", 4000},
                                     {"claimed_at", 5},
                                     {"guard", place == 0 ? 1 : 0},
                                     {"unkey", 0}}));
    }
  }
  EXPECT_GT(tokens.size(), 4U);
}

TEST_P(sqlserver_wire, sends_the_clock_of_a_test) {
  auto db = tableq::database::open(
      address(), {.clock = [] { return tableq::timestamp(std::chrono::milliseconds(123)); }});
  auto pending = db.pending("pending");
  EXPECT_EQ(read_call(single([&] { pending.enqueue("p"); })).shared, (named_values{{"now", 123}}));
  EXPECT_EQ(read_call(single([&] { (void)pending.stats(); })).shared,
            (named_values{{"max", 10'000}, {"now", 123}}));
}

TEST_P(sqlserver_wire, makes_a_queue_under_the_catalogues_lock_in_one_transaction) {
  tds_answer empty_catalog;
  empty_catalog.columns({{"name", tds_type::nvarchar, 60},
                         {"identity", tds_type::bigint},
                         {"kind", tds_type::nvarchar, 20},
                         {"layout", tds_type::integer},
                         {"options", tds_type::nvarchar, 1000},
                         {"created_at", tds_type::bigint}});
  const tds_answer absent = tds_answer().columns({{"present", tds_type::bigint}}).row({0});
  script_.always("catalog.find", empty_catalog);
  script_.always("table.exists", absent);
  for (const char* name : {"heap", "fifo", "lifo", "pending", "claim"}) {
    const auto came = sent_by([&] {
      const std::string kind = name;
      if (kind == "heap") (void)db_.heap(name);
      if (kind == "fifo") (void)db_.fifo(name);
      if (kind == "lifo") (void)db_.lifo(name);
      if (kind == "pending") (void)db_.pending(name);
      if (kind == "claim") (void)db_.claim(name);
    });
    std::string all = names_of(came);
    const std::string ddl = " ddl." + std::string(name);
    const std::size_t first = all.find(ddl);
    ASSERT_NE(first, std::string::npos) << all;
    for (std::size_t at = first; at != std::string::npos; at = all.find(ddl)) {
      all.erase(at, ddl.size());
    }
    EXPECT_EQ(all,
              "catalog.exists catalog.find begin catalog.lock catalog.exists catalog.find "
              "table.exists limits.remove catalog.insert commit");
    const named_values row = read_call(came[came.size() - 2]).shared;
    EXPECT_EQ(row.at("name"), tds_value(name));
    EXPECT_EQ(row.at("kind"), tds_value(name));
    EXPECT_EQ(row.at("layout"), tds_value(2));
  }
}

TEST_P(sqlserver_wire, takes_a_step_under_two_locks_in_one_transaction) {
  const tds_answer held = tds_answer().columns({{"held", tds_type::bigint}}).row({1});
  const tds_answer changed = tds_answer().columns({{"present", tds_type::bigint}}).row({1});
  script_.always("catalog.migrator", held);
  script_.always("catalog.set_layout", changed);
  const auto came = sent_by([&] {
    const auto steps = db_.migrate({.queues = {"pending"}});
    ASSERT_EQ(steps.size(), 1U);
    EXPECT_NE(steps.front().sql.find("SET layout = CAST(2 AS bigint)"), std::string::npos);
  });
  const std::string all = names_of(came);
  // Under the lock the layout is read again: sent_by leaves out such a look.
  const std::string step = "catalog.migrator begin catalog.lock catalog.set_layout commit";
  EXPECT_TRUE(all.ends_with(step)) << all;
  const named_values row = read_call(came[came.size() - 2]).shared;
  EXPECT_EQ(row,
            (named_values{{"name", "pending"}, {"identity", 7004}, {"before", 1}, {"layout", 2}}));
}

TEST_P(sqlserver_wire, takes_no_step_while_another_session_migrates) {
  script_.always("catalog.migrator", tds_answer().columns({{"held", tds_type::bigint}}).row({0}));
  EXPECT_CODE(busy, db_.migrate({.wait = std::chrono::milliseconds(0)}));
}

}  // namespace
