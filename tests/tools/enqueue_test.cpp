#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using nlohmann::json;

class tool_enqueue : public tool_test {
 protected:
  tableq::claim_queue jobs() { return db().claim("jobs"); }
  tableq::delivery take_one() {
    auto taken = jobs().take(1);
    if (taken.empty()) throw std::runtime_error("nothing to take");
    return taken.front();
  }
};
TABLEQ_ON_BACKENDS(tool_enqueue, distinct_backends);

TEST_P(tool_enqueue, prints_the_ids_one_on_each_line) {
  auto mail = db().fifo("mail");
  const auto ids = lines_of(done({"enqueue", "mail", "one", "two"}));
  const auto stored = mail.peek(10);
  ASSERT_EQ(stored.size(), 2U);
  EXPECT_EQ(ids, (words{std::to_string(stored[0].id.value), std::to_string(stored[1].id.value)}));
  EXPECT_EQ(stored[0].payload, "one");
  EXPECT_EQ(stored[1].payload, "two");
}

TEST_P(tool_enqueue, prints_objects_with_the_outcome) {
  jobs();
  const auto two = lines_of(done({"enqueue", "jobs", "one", "two", "--json"}));
  ASSERT_EQ(two.size(), 2U);
  EXPECT_EQ(json::parse(two[1]), (json{{"id", 2}, {"outcome", "added"}}));
  const json first = json::parse(done({"enqueue", "jobs", "three", "--key", "k", "--json"}));
  const ended kept = run({"enqueue", "jobs", "four", "--key", "k", "--json"});
  EXPECT_EQ(json::parse(kept.out), (json{{"id", first.at("id")}, {"outcome", "kept_first"}}));
  EXPECT_EQ(kept.err, "");
  const auto lines =
      lines_of(run({"enqueue", "jobs", "--lines", "--json"}, {.input = "five\nsix\n"}).out);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(json::parse(lines[0]).at("outcome"), "added");
}

TEST_P(tool_enqueue, takes_payloads_as_they_were_typed) {
  auto mail = db().fifo("mail");
  const words typed{"[1,2]", "{}",       "",         "%%",  "list", "a=b", " blanks ",
                    "-",     "\xff\xfe", "q\"uote'", "a;b", "\n",   "--"};
  words arguments{"enqueue", "mail"};
  // The last one would end the options, so it follows another `--`.
  arguments.insert(arguments.end(), typed.begin(), typed.end() - 1);
  arguments.insert(arguments.end(), {"--", "--", "--lines", "-x"});
  EXPECT_EQ(lines_of(done(arguments)).size(), typed.size() + 2);
  words stored;
  for (const auto& one : mail.peek(100)) stored.push_back(one.payload);
  words expected = typed;
  expected.insert(expected.end(), {"--lines", "-x"});
  EXPECT_EQ(stored, expected);
}

TEST_P(tool_enqueue, a_longer_payload_than_allowed_is_refused) {
  done({"create", "fifo", "mail"});
  TABLEQ_EXPECT_REFUSAL(3, run({"enqueue", "mail", "--max-payload", "3", "four"}));
  EXPECT_EQ(done({"enqueue", "mail", "--max-payload", "4", "four"}), "1\n");
  EXPECT_EQ(done({"dequeue", "mail"}), "four\n");
}

TEST_P(tool_enqueue, priority_headers_and_times_go_along) {
  jobs();
  done({"enqueue", "jobs", "plain"});
  done({"enqueue", "jobs", "urgent", "--priority", "7", "--header", "type=a=b", "--header",
        "empty=", "--key", "invoice 42", "--created-at", "2001-02-03T04:05:06.789Z"});
  const auto first = take_one();
  EXPECT_EQ(first.payload, "urgent");
  EXPECT_EQ(first.priority, 7);
  EXPECT_EQ(first.headers, (tableq::headers{{"type", "a=b"}, {"empty", ""}}));
  EXPECT_EQ(first.key, "invoice 42");
  EXPECT_EQ(first.created_at,
            std::chrono::sys_days(std::chrono::year(2001) / 2 / 3) + 4h + 5min + 6s + 789ms);
  done({"enqueue", "jobs", "low", "--priority", "-7"});
  EXPECT_EQ(take_one().payload, "plain");
  EXPECT_EQ(take_one().priority, -7);
}

TEST_P(tool_enqueue, created_at_may_be_milliseconds_on_every_kind) {
  for (const tableq::kind kind : all_kinds()) {
    const std::string name{tableq::to_string(kind)};
    done({"create", name, name});
    done({"enqueue", name, "old", "--created-at", "1234567890123"});
    const auto shown = json::parse(done({"peek", name, "--json"}));
    EXPECT_EQ(shown.at("created_at"), "2009-02-13T23:31:30.123Z");
  }
}

TEST_P(tool_enqueue, delayed_messages_wait) {
  done({"create", "pending", "later"});
  jobs();
  done({"enqueue", "later", "soon", "--delay", "1h"});
  done({"enqueue", "jobs", "soon", "--delay", "1h"});
  EXPECT_EQ(db().pending("later").stats().delayed, 1U);
  EXPECT_EQ(jobs().stats().delayed, 1U);
}

TEST_P(tool_enqueue, a_key_that_exists_gives_the_id_of_its_message_and_says_so) {
  jobs();
  const std::string first = done({"enqueue", "jobs", "one", "--key", "canary-key"});
  const ended second = run({"enqueue", "jobs", "two", "--key", "canary-key"});
  EXPECT_EQ(second.status, 0);
  EXPECT_EQ(second.out, first);
  EXPECT_EQ(second.complaints(), 1U);
  EXPECT_TRUE(contains(second.err, "exists"));
  EXPECT_FALSE(contains(second.err, "canary"));
  EXPECT_EQ(jobs().stats().ready, 1U);
}

TEST_P(tool_enqueue, never_creates_a_queue) {
  static_cast<void>(db());  // makes the file of a database that is one
  const ended end = run({"enqueue", "mail", "hello"});
  EXPECT_EQ(end.status, 3);
  EXPECT_TRUE(contains(end.err, "tableq create"));
  EXPECT_TRUE(db().queues().empty());
}

TEST_P(tool_enqueue, does_what_it_is_told_about_a_key_that_is_held) {
  jobs();
  const std::string id = done({"enqueue", "jobs", "first", "--key", "k"});
  const auto replaced =
      run({"enqueue", "jobs", "second", "--key", "k", "--on-duplicate", "replace"});
  EXPECT_EQ(replaced.out, id);
  EXPECT_EQ(replaced.err.rfind("tableq: replaced", 0), 0U) << replaced.err;
  EXPECT_EQ(done({"peek", "jobs"}), "second\n");
  TABLEQ_EXPECT_REFUSAL(
      3, run({"enqueue", "jobs", "third", "--key", "k", "--on-duplicate", "reject"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"enqueue", "jobs", "x", "--on-duplicate", "replace"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"enqueue", "jobs", "x", "--key", "k", "--on-duplicate", "what"}));
  EXPECT_EQ(done({"peek", "jobs"}), "second\n");
}

TEST_P(tool_enqueue, gives_messages_a_group_and_a_time_to_live) {
  done({"create", "claim", "jobs", "--groups", "1"});
  done({"enqueue", "jobs", "a", "b", "--group", "g", "--ttl", "1h"});
  const auto taken = jobs().take(10);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].group, "g");
  EXPECT_TRUE(jobs().stats().ready == 0);
  done({"create", "fifo", "mail"});
  TABLEQ_EXPECT_REFUSAL(2, run({"enqueue", "mail", "x", "--group", "g"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"enqueue", "mail", "x", "--ttl", "1s"}));
  done({"create", "claim", "plain"});
  TABLEQ_EXPECT_REFUSAL(2, run({"enqueue", "plain", "x", "--group", "g"}));
}

}  // namespace
