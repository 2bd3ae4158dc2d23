#include <set>

#include "drivers/sqlserver_fixture.hpp"
#include "support/expect.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// The requests without errors.
class sqlserver_wire : public on_scripted_sqlserver {
 protected:
  /// The one statement that `work` sends.
  template <class F>
  tds_request single(F&& work) {
    const auto came = sent_by(work);
    EXPECT_EQ(came.size(), 1U) << names_of(came);
    return came.empty() ? tds_request() : came.front();
  }
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_wire, all_ways, name_of_way);

/// The drivers write the same types in letters of their own.
std::string lowered(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

TEST_P(sqlserver_wire, begins_a_session_with_one_batch_of_settings_and_no_recovery) {
  const auto came = sent_by([&] { (void)open(0ms); });
  const std::string once = "login setup catalog.exists catalog.find";
  // A separate session finds the product behind ODBC's own string.
  EXPECT_EQ(names_of(came), GetParam().by_odbc ? "login " + once : once);
  const auto& login = came.front().login;
  EXPECT_EQ(login.user + " " + login.password + " " + login.database, "tester pwd-canary-7 app");
  EXPECT_FALSE(login.features.contains(1));  // ConnectRetryCount=0
  for (const tds_request& each : came) {
    EXPECT_EQ(contains(each.text, "SET XACT_ABORT ON;"), read_call(each).name == "setup");
  }
}

TEST_P(sqlserver_wire, keeps_one_plan_for_all_lengths_of_a_value) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  auto claim = db.claim("claim");
  std::set<std::string> declared;
  for (const std::size_t size : {0U, 1U, 8000U, 8001U, 100'000U}) {
    const std::string payload(size, 'x');
    declared.insert(lowered(single([&] { fifo.enqueue(payload); }).declaration));
  }
  EXPECT_EQ(declared, std::set<std::string>{"@p1 bigint,@p2 varbinary(max),@p3 bigint"});
  declared.clear();
  for (const std::size_t size : {0U, 1U, 200U}) {
    tableq::claim_enqueue_options with{.headers = {{"h", std::string(size, 'v')}}};
    if (size > 0) with.key = std::string(size, 'k');
    const tds_request sent = single([&] { claim.enqueue("p", with); });
    EXPECT_EQ(sent.procedure, "sp_executesql");
    declared.insert(lowered(sent.declaration));
    for (const auto& each : sent.parameters) {
      EXPECT_TRUE(each.type == "bigint" || each.type == "nvarchar(4000)" ||
                  each.type == "varbinary(max)")
          << each.type;
    }
  }
  EXPECT_EQ(declared.size(), 1U);
  const auto longer = single([&] {
    claim.enqueue("p", {.headers = {{"h", std::string(5000, 'v')}}});
  });
  EXPECT_TRUE(contains(lowered(longer.declaration), "nvarchar(max)")) << longer.declaration;
}

TEST_P(sqlserver_wire, gives_each_parameter_the_value_of_its_name) {
  auto db = open(0ms);
  auto claim = db.claim("claim");
  const auto call = [&](auto work) { return read_call(single(work)); };
  const auto added = call([&] {
    claim.enqueue("p", {.priority = -7,
                        .delay = 2s,
                        .headers = {{"a", "b"}},
                        .key = "k",
                        .time_to_live = 9s,
                        .max_attempts = 3});
  });
  EXPECT_EQ(added.items.at(0), (named_values{{"payload", "p"},
                                             {"priority", -7},
                                             {"delay", 2000},
                                             {"due_at", nullptr},
                                             {"key", "k"},
                                             {"headers", R"({"a":"b"})"},
                                             {"created_at", nullptr},
                                             {"ttl", 9000},
                                             {"max_attempts", 3},
                                             {"retry", nullptr},
                                             {"group", nullptr}}));
  const auto failed =
      call([&] { (void)claim.fail(receipt_of("claim", 3), "it's broken", {.delay = 3s}); });
  EXPECT_EQ(failed.items.at(0).at("error"), tds_value("it's broken"));
  EXPECT_EQ(failed.items.at(0).at("fence"), tds_value(5));
  EXPECT_EQ(names_of(sent_by([&] { (void)claim.take(1); })),
            "claim.next_due claim.promote claim.take");
}

/// A table of the application, in a schema of its own.
class sqlserver_names : public on_scripted_sqlserver {
 protected:
  static inline const std::string umlaut = "Auftr\xC3\xA4ge \xF0\x9F\x98\x80";
  tds_script scripted() {
    auto out = script_.handlers();
    out.statement = [inner = out.statement](const tds_request& asked) {
      return contains(asked.text, umlaut + "\"") ? with_columns("place tableq_0").row({0, 7})
                                                 : inner(asked);
    };
    return out;
  }
  void describe(int has_triggers) {
    script_.always("table.find", with_columns("schema:n name:n is_table:i has_triggers:i trouble:n")
                                     .row({"Gesch\xC3\xA4"
                                           "ft",
                                           umlaut, 1, has_triggers, ""}));
    script_.always("table.columns",
                   with_columns("name:n declared:n form:n required:i has_value:i computed:i "
                                "room:i labels:n")
                       .row({"N\xC3\xBAmero", "bigint", "integer", 0, 0, 0, 0, ""}));
    script_.always("table.keys", with_columns("index_name:n name:n"));
  }
  tds_server wide_{scripted()};
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_names, all_ways, name_of_way);

TEST_P(sqlserver_names, of_tables_columns_and_schemas_arrive_as_they_are_in_every_locale) {
  describe(0);
  auto db = tableq::database::open(address_at(wide_), {.retry_for = 0ms});
  auto table = db.table(umlaut, {.order = {{.column = "N\xC3\xBAmero"}}});
  ASSERT_TRUE(table.take_one());
  const std::string text = wide_.requests().back().text;
  for (const std::string& part : {"\"Gesch\xC3\xA4"
                                  "ft\".\"" +
                                      umlaut + "\"",
                                  std::string("msg.\"N\xC3\xBAmero\"")}) {
    EXPECT_TRUE(contains(text, part)) << text;
  }
}

TEST_P(sqlserver_names, of_a_table_with_triggers_are_told) {
  describe(1);
  auto db = open(0ms);
  EXPECT_CODE(unsupported, (void)db.table(umlaut, {}));
}

}  // namespace
