#include <algorithm>
#include <regex>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// Arguments that are wrong with any database: exit status 2, one line, no change.
class tool_usage : public tool_test {
 protected:
  void SetUp() override {
    tool_test::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    for (const tableq::kind kind : all_kinds()) {
      const std::string name{tableq::to_string(kind)};
      done({"create", name, name});
      done({"enqueue", name, "one", "two"});
    }
    before_ = figures();
  }
  void TearDown() override {
    if (!before_.empty()) {
      EXPECT_EQ(figures(), before_);
    }
    tool_test::TearDown();
  }
  /// Without the time of the query.
  std::string figures() {
    static const std::regex now(R"("as_of":"[^"]*")");
    return std::regex_replace(done({"stats", "--json"}), now, "");
  }
  void expect_refused(const std::vector<words>& all) {
    for (const words& arguments : all) {
      std::string shown;
      for (const std::string& one : arguments) shown += " " + one;
      SCOPED_TRACE(shown);
      TABLEQ_EXPECT_REFUSAL(2, run(arguments));
    }
  }
  /// Each of the values in the first of these, and one of them in all: % stands for it.
  void expect_none(const words& values, std::vector<words> all) {
    for (const std::string& value : values) {
      std::vector<words> with = all;
      for (words& arguments : with) std::ranges::replace(arguments, "%", value);
      expect_refused(with);
      all.resize(1);
    }
  }

 private:
  std::string before_;
};
TABLEQ_ON_BACKENDS(tool_usage, distinct_backends);

TEST_P(tool_usage, commands_and_options_that_do_not_exist) {
  expect_refused({{},
                  {"fifo"},
                  {"enque", "fifo", "x"},
                  {"benchmark"},
                  {"--nonsense"},
                  {"list", "--nonsense"},
                  {"list", "fifo"},
                  {"dead"},
                  {"dead", "bury", "claim"},
                  {"enqueue", "fifo", "x", "--nonsense"},
                  {"enqueue", "fifo", "-x"},
                  {"dequeue", "fifo", "extra"},
                  {"dequeue", "fifo", "--", "x"},
                  {"peek"},
                  {"create", "fifo"},
                  {"create", "filo", "queue"},
                  {"create", "FIFO", "queue"}});
}

TEST_P(tool_usage, an_argument_that_is_one_too_many_is_told_by_its_place) {
  for (const words& arguments :
       {words{"dequeue", "fifo", "fifo"}, words{"list", "--json", "--Secret=1"}}) {
    const ended end = run(arguments);
    TABLEQ_EXPECT_REFUSAL(2, end);
    EXPECT_TRUE(contains(end.err, "argument 3 is")) << end.err;
  }
  EXPECT_TRUE(contains(run({"dequeue", "fifo", "fifo"}).err, "one too many: quotes"));
}

TEST_P(tool_usage, a_mistyped_option_is_named) {
  for (const words& arguments :
       {words{"take", "claim", "--leese", "5m"}, words{"take", "claim", "--leese=5m"}}) {
    const ended end = run(arguments);
    TABLEQ_EXPECT_REFUSAL(2, end);
    EXPECT_TRUE(contains(end.err, "--leese is no option of this command; see")) << end.err;
    EXPECT_FALSE(contains(end.err, "5m")) << end.err;
  }
}

TEST_P(tool_usage, a_mistyped_command_is_named) {
  for (const words& arguments : {words{"enque", "fifo", "x"}, words{"dead", "enque"}}) {
    const ended end = run(arguments);
    TABLEQ_EXPECT_REFUSAL(2, end);
    EXPECT_TRUE(contains(end.err, "there is no command enque; --help lists")) << end.err;
  }
}

TEST_P(tool_usage, a_queue_of_another_kind_is_told_with_what_to_do) {
  const ended end = run({"create", "claim", "fifo"});
  TABLEQ_EXPECT_REFUSAL(2, end);
  EXPECT_TRUE(contains(end.err, "choose another name")) << end.err;
}

TEST_P(tool_usage, values_that_are_missing) {
  expect_refused({{"dequeue", "fifo", "--count"},
                  {"dequeue", "fifo", "--count="},
                  {"enqueue", "claim", "--key=", "x"},
                  {"enqueue", "claim", "x", "--key", ""},
                  {"list", "--db"},
                  {"list", "--db", ""},
                  {"move", "claim", "--to", ""},
                  {"move", "claim", "--from", "", "--to", here().url()},
                  {"create", "claim", "new", "--retry", "1s,"},
                  {"create", "claim", "new", "--dead-letters", ""},
                  {"dequeue", "fifo", "--count", "1", "--count", "2"}});
}

TEST_P(tool_usage, times_that_are_none) {
  expect_none({"5sec", "5", "s", "-1s", "1.5s", "5 s", "", "0x5s", "3651d", "99999999999999999999s",
               "9223372036854775807d", "1s ", "+1s", "1S", "nan"},
              {{"dequeue", "fifo", "--wait", "%"},
               {"enqueue", "pending", "x", "--delay", "%"},
               {"enqueue", "claim", "x", "--delay", "%"},
               {"create", "claim", "new", "--lease", "%"},
               {"work", "claim", "--lease", "%", "--", "true"},
               {"work", "claim", "--retry-delay", "%", "--", "true"},
               {"dead", "purge", "claim", "--older-than", "%"},
               {"purge", "claim", "--older-than", "%"}});
}

TEST_P(tool_usage, leases_out_of_range) {
  expect_refused({{"create", "claim", "new", "--lease", "0s"},
                  {"create", "claim", "new", "--lease", "366d"},
                  {"work", "claim", "--lease", "0s", "--", "true"},
                  {"work", "claim", "--lease", "366d", "--", "true"}});
}

TEST_P(tool_usage, numbers_that_are_none) {
  expect_none({"0", "", "-1", "1.5", "x", "1x", " 1", "99999999999999999999", "+1", "1e3"},
              {{"dequeue", "fifo", "--count", "%"},
               {"peek", "fifo", "--count", "%"},
               {"dead", "list", "claim", "--count", "%"},
               {"dead", "redrive", "claim", "%"},
               {"work", "claim", "--concurrency", "%", "--", "true"},
               {"create", "claim", "new", "--max-attempts", "%"}});
  expect_refused({{"peek", "fifo", "--count", "10001"},
                  {"work", "claim", "--concurrency", "257", "--", "true"},
                  {"create", "claim", "new", "--max-attempts", "1000001"},
                  {"enqueue", "claim", "x", "--priority", "2147483648"},
                  {"enqueue", "claim", "x", "--priority", "high"}});
}

TEST_P(tool_usage, points_in_time_that_are_none) {
  for (const std::string& time :
       words{"", "yesterday", "-1", "2025-13-01T00:00:00Z", "2025-02-29T00:00:00Z",
             "2025-01-01T24:00:00Z", "2025-01-01T00:00:00", "2025-01-01", "2025-01-01T00:00:00.Z",
             "2025-01-01T00:00:00.1234Z", "253402300800000", "99999999999999999999"}) {
    expect_refused({{"enqueue", "fifo", "x", "--created-at", time}});
  }
}

TEST_P(tool_usage, options_of_another_kind) {
  expect_none({"fifo", "heap", "lifo", "pending"}, {{"enqueue", "%", "x", "--priority", "1"},
                                                    {"enqueue", "%", "x", "--key", "k"},
                                                    {"enqueue", "%", "x", "--header", "a=b"},
                                                    {"create", "%", "new", "--lease", "5s"},
                                                    {"create", "%", "new", "--max-attempts", "5"},
                                                    {"create", "%", "new", "--keep"},
                                                    {"purge", "%", "--yes", "--done"},
                                                    {"purge", "%", "--yes", "--dead"},
                                                    {"purge", "%", "--yes", "--older-than", "1s"},
                                                    {"work", "%", "--", "true"},
                                                    {"dead", "list", "%"},
                                                    {"dead", "redrive", "%", "--all"},
                                                    {"dead", "purge", "%"}});
  expect_none({"heap", "fifo", "lifo"}, {{"enqueue", "%", "x", "--delay", "1s"}});
  expect_none({"heap", "pending", "claim"}, {{"create", "%", "new", "--strict"}});
  expect_refused({{"dequeue", "claim"}, {"dequeue", "claim", "--all"}});
}

TEST_P(tool_usage, options_that_exclude_each_other) {
  expect_refused({{"enqueue", "fifo"},
                  {"enqueue", "fifo", "x", "--lines"},
                  {"enqueue", "fifo", "x", "--stdin"},
                  {"enqueue", "fifo", "--lines", "--stdin"},
                  {"enqueue", "fifo", "--lines", "--", "x"},
                  {"enqueue", "fifo", "--ids", "x"},
                  {"enqueue", "claim", "x", "y", "--key", "k"},
                  {"enqueue", "claim", "--lines", "--key", "k"},
                  {"dequeue", "fifo", "--all", "--count", "2"},
                  {"dequeue", "fifo", "--raw", "--count", "2"},
                  {"dequeue", "fifo", "--raw", "--all"},
                  {"dequeue", "fifo", "--raw", "--json"},
                  {"dead", "redrive", "claim"},
                  {"dead", "redrive", "claim", "1", "--all"},
                  {"purge", "claim", "--done", "--dead"}});
}

TEST_P(tool_usage, headers_that_are_none) {
  const std::string long_name(101, 'n');
  expect_refused({{"enqueue", "claim", "x", "--header", "novalue"},
                  {"enqueue", "claim", "x", "--header", "=v"},
                  {"enqueue", "claim", "x", "--header", long_name + "=v"},
                  {"enqueue", "claim", "x", "--header", "a=\xff"},
                  {"enqueue", "claim", "x", "--header", "a=1", "--header", "a=2"},
                  {"enqueue", "claim", "x", "--header", "a=" + std::string(70'000, 'v')},
                  {"enqueue", "claim", "x", "--key", std::string(201, 'k')},
                  {"enqueue", "claim", "x", "--key", "\xff"}});
}

TEST_P(tool_usage, names_that_are_none) {
  expect_none({"x'; DROP TABLE fifo; --", "", " ", "Mail", "a b", "a;b", "a\"b", "a'b", "a\nb",
               "tableq_queues", "sqlite_master", "-", "1a", "\xC3\xA4", std::string(41, 'a')},
              {{"create", "fifo", "%"},
               {"enqueue", "%", "x"},
               {"dequeue", "%"},
               {"peek", "%"},
               {"stats", "%"},
               {"drop", "%", "--yes"},
               {"purge", "%", "--yes"},
               {"work", "%", "--", "true"},
               {"ddl", db().backend(), "fifo", "%"}});
  expect_refused({{"list", "--prefix", "Bad Prefix"}, {"list", "--schema", "a;b"}});
}

TEST_P(tool_usage, commands_that_cannot_be_run) {
  const std::string plain = (scratch / "plain").string();
  named_pipe nothing_to_run(plain);
  expect_refused({{"work", "claim"},
                  {"work", "claim", "--"},
                  {"work", "claim", "true"},
                  {"work", "claim", "--", ""},
                  {"work", "claim", "--", "no-such-command-anywhere"},
                  {"work", "claim", "--", "/no/such/file"},
                  {"work", "claim", "--", plain},
                  {"work", "claim", "--", "/"}});
}

TEST_P(tool_usage, addresses_that_are_none) {
  expect_refused({{"list", "--db", "nowhere://host/db"},
                  {"list", "--db", "just-a-word"},
                  {"list", "--db", here().url_with("nonsense_key", "1")}});
  for (const auto& [key, value] : here().bad_settings()) {
    // Only the database's own library can check some values, when it connects.
    const ended end = run({"list", "--db", here().url_with(key, value)});
    EXPECT_TRUE(end.status == 2 || end.status == 3) << end.err;
    EXPECT_EQ(end.complaints(), 1U) << end.err;
    EXPECT_TRUE(contains(end.err, key)) << end.err;
  }
  TABLEQ_EXPECT_REFUSAL(2, run_alone({"list"}));
  TABLEQ_EXPECT_REFUSAL(2, run_alone({"list"}, {.environment = {"TABLEQ_DB="}}));
}

TEST_P(tool_usage, databases_that_refuse_are_exit_status_3_and_show_no_password) {
  for (const bad_address which : {bad_address::unreachable_host, bad_address::wrong_password,
                                  bad_address::missing_database, bad_address::missing_directory,
                                  bad_address::foreign_file, bad_address::directory_as_file}) {
    const auto url = here().bad_url(which);
    if (!url) continue;
    const ended end = run({"list", "--db", *url});
    EXPECT_EQ(end.status, 3) << end.err;
    EXPECT_EQ(end.complaints(), 1U) << end.err;
    EXPECT_FALSE(contains(end.err, "canary")) << end.err;
    if (which != bad_address::missing_directory || can().second_way) continue;
    EXPECT_TRUE(contains(end.err, "nowhere does not exist; create it first")) << end.err;
  }
}

TEST_P(tool_usage, queues_that_do_not_exist_are_exit_status_3) {
  for (const words& arguments : {words{"enqueue", "nope", "x"},
                                 words{"dequeue", "nope"},
                                 words{"take", "nope"},
                                 words{"complete", "nope", "1.1.1"},
                                 words{"peek", "nope"},
                                 words{"stats", "nope"},
                                 words{"list", "nope"},
                                 words{"get", "nope", "1"},
                                 words{"wait", "nope", "1"},
                                 words{"cancel", "nope", "1"},
                                 words{"redrive", "nope", "--all"},
                                 words{"purge", "nope", "--yes"},
                                 words{"pause", "nope"},
                                 words{"limit", "nope"},
                                 words{"limit", "nope", "--group", "g"},
                                 words{"limit", "nope", "--group", "g", "--running", "1"},
                                 words{"drop", "nope"},
                                 words{"drop", "nope", "--yes"},
                                 words{"dead", "list", "nope"},
                                 words{"work", "nope", "--", "true"},
                                 words{"bench", "--queue", "nope"}}) {
    const ended end = run(arguments);
    TABLEQ_EXPECT_REFUSAL(3, end);
    EXPECT_TRUE(contains(end.err, "there is no queue \"nope\"")) << end.err;
    EXPECT_TRUE(contains(end.err, "tableq create")) << end.err;
  }
  for (const words& arguments :
       {words{"alter", "nope", "--lease", "1s"}, words{"every", "nope", "r", "1s"},
        words{"migrate", "nope"}, words{"batch", "begin", "--then", "nope"}}) {
    TABLEQ_EXPECT_REFUSAL(3, run(arguments));
  }
}

TEST_P(tool_usage, what_else_is_not_there_is_exit_status_1) {
  for (const words& arguments :
       {words{"get", "claim", "99"}, words{"get", "claim", "--key", "k"},
        words{"wait", "claim", "99"}, words{"cancel", "claim", "99"}, words{"ready", "claim", "99"},
        words{"priority", "claim", "99", "--to", "1"}, words{"redrive", "claim", "99"},
        words{"list", "claim", "--state", "dead"}, words{"batch", "get", "99"},
        words{"batch", "seal", "99"}, words{"batch", "cancel", "99"}, words{"batch", "list"},
        words{"schedules", "list"}, words{"schedules", "run", "r"},
        words{"schedules", "pause", "r"}, words{"schedules", "change", "r", "--zone", "UTC"}}) {
    EXPECT_EQ(run(arguments).status, 1) << arguments[0] << " " << arguments[1];
  }
}

TEST_P(tool_usage, a_misspelt_schema_or_prefix_is_told) {
  std::vector<words> misspelt{{"--prefix", "other_"}};
  if (here().other_schema()) misspelt.push_back({"--schema", "nosuch"});
  for (const words& wrong : misspelt) {
    for (const words& arguments :
         {words{"list"}, words{"stats"}, words{"schedules", "list"}, words{"top", "--once"},
          words{"doctor"}, words{"migrate"}, words{"batch", "list"}}) {
      const ended end = run(joined(arguments, wrong));
      EXPECT_TRUE(contains(end.err, "there are no queues")) << arguments[0] << ": " << end.err;
      EXPECT_TRUE(contains(end.err, wrong[1])) << arguments[0] << ": " << end.err;
    }
    EXPECT_EQ(run({"schedules", "run", "r", wrong[0], wrong[1]}).status, 1);
    const ended end = run({"peek", "fifo", wrong[0], wrong[1]});
    TABLEQ_EXPECT_REFUSAL(3, end);
    EXPECT_TRUE(contains(end.err, wrong[0])) << end.err;
  }
}

TEST_P(tool_usage, no_complaint_repeats_a_payload_a_key_or_a_header) {
  for (const words& arguments :
       {words{"enqueue", "nope", "canary"}, words{"enqueue", "fifo", "--canary"},
        words{"enqueue", "fifo", "-canary"}, words{"enqueue", "fifo", "canary", "--stdin"},
        words{"dequeue", "fifo", "canary"}, words{"list", "fifo", "canary"},
        words{"enqueue", "claim", "x", "--key", "canary\xff"},
        words{"enqueue", "claim", "x", "--header", "canary"},
        words{"enqueue", "claim", "x", "--header", "canary=1", "--header", "canary=2"},
        words{"list", "--bd", "x://user:canary@host/db"},
        words{"list", "--db", "x://user:canary@host/db"},
        words{"list", "x://user:canary@host/db"}}) {
    const ended end = run(arguments);
    EXPECT_NE(end.status, 0);
    EXPECT_FALSE(contains(end.err, "canary")) << end.err;
  }
}

}  // namespace
