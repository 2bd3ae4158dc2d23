#include <algorithm>

#include <nlohmann/json.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class tool_dequeue : public tool_test {
 protected:
  tableq::fifo_queue mail() { return db().fifo("mail"); }
  void fill(int count) {
    for (int i = 0; i < count; ++i) mail().enqueue("m" + std::to_string(i));
  }
};
TABLEQ_ON_BACKENDS(tool_dequeue, distinct_backends);

TEST_P(tool_dequeue, takes_one_and_prints_it_with_a_newline) {
  fill(2);
  EXPECT_EQ(done({"dequeue", "mail"}), "m0\n");
  EXPECT_EQ(done({"dequeue", "mail"}), "m1\n");
}

TEST_P(tool_dequeue, an_empty_queue_is_exit_status_1) {
  mail();
  const ended end = run({"dequeue", "mail"});
  EXPECT_EQ(end.status, 1);
  EXPECT_EQ(end.out + end.err, "");
  EXPECT_EQ(run({"dequeue", "mail", "--all"}).status, 1);
}

TEST_P(tool_dequeue, takes_as_many_as_it_was_told) {
  fill(5);
  EXPECT_EQ(done({"dequeue", "mail", "--count", "3"}), "m0\nm1\nm2\n");
  EXPECT_EQ(done({"dequeue", "mail", "--count", "3"}), "m3\nm4\n");
}

TEST_P(tool_dequeue, takes_all_in_order) {
  mail();
  std::string input;
  for (int i = 0; i < 2500; ++i) input += std::to_string(i) + "\n";
  done({"enqueue", "mail", "--lines"}, {.input = input});
  EXPECT_EQ(done({"dequeue", "mail", "--all"}), input);
  EXPECT_EQ(mail().stats().waiting, 0U);
}

TEST_P(tool_dequeue, each_kind_gives_its_order) {
  done({"create", "lifo", "stack"});
  done({"enqueue", "stack", "a", "b", "c"});
  EXPECT_EQ(done({"dequeue", "stack", "--all"}), "c\nb\na\n");
  done({"create", "heap", "pile"});
  done({"enqueue", "pile", "a", "b"});
  EXPECT_EQ(lines_of(done({"dequeue", "pile", "--all"})).size(), 2U);
  done({"create", "pending", "later"});
  done({"enqueue", "later", "far", "--delay", "1h"});
  done({"enqueue", "later", "now"});
  EXPECT_EQ(done({"dequeue", "later", "--all"}), "now\n");
}

TEST_P(tool_dequeue, json_says_all_there_is) {
  done({"create", "pending", "later"});
  done({"enqueue", "later", "caf\xC3\xA9 \"x\"", "--created-at", "0"});
  const auto shown = nlohmann::json::parse(done({"dequeue", "later", "--json"}));
  EXPECT_EQ(shown.at("payload"), "caf\xC3\xA9 \"x\"");
  EXPECT_EQ(shown.at("created_at"), "1970-01-01T00:00:00.000Z");
  EXPECT_TRUE(shown.at("id").is_number_integer());
  EXPECT_TRUE(shown.at("due_at").is_string());
}

TEST_P(tool_dequeue, json_shows_bytes_that_are_no_text_in_base64) {
  const words payloads{std::string("\0", 1), "\xff\xfe", "\xff\xfe\xfd", "\x80",
                       "\xff\xfe\xfd\xfc"};
  for (const std::string& one : payloads) mail().enqueue(one);
  const auto lines = lines_of(done({"dequeue", "mail", "--all", "--json"}));
  ASSERT_EQ(lines.size(), payloads.size());
  // NUL is an ordinary character.
  EXPECT_EQ(nlohmann::json::parse(lines[0]).at("payload"), payloads[0]);
  EXPECT_EQ(nlohmann::json::parse(lines[1]).at("payload_base64"), "//4=");
  EXPECT_EQ(nlohmann::json::parse(lines[2]).at("payload_base64"), "//79");
  EXPECT_EQ(nlohmann::json::parse(lines[3]).at("payload_base64"), "gA==");
  EXPECT_EQ(nlohmann::json::parse(lines[4]).at("payload_base64"), "//79/A==");
}

TEST_P(tool_dequeue, waits_for_the_first_message) {
  mail();
  const auto running = start({"dequeue", "mail", "--wait", "60s"});
  mail().enqueue("at last");
  const ended end = running->wait();
  EXPECT_EQ(end.status, 0);
  EXPECT_EQ(end.out, "at last\n");
}

TEST_P(tool_dequeue, waits_for_each_of_several) {
  mail();
  pipe_ends output = make_pipe();
  const auto running =
      start({"dequeue", "mail", "--count", "2", "--wait", "60s"}, {.out = output.writer.value()});
  line_reader printed(output.reader.value());
  mail().enqueue("first");
  EXPECT_EQ(printed.next(), "first");
  mail().enqueue("second");
  EXPECT_EQ(printed.next(), "second");
  EXPECT_EQ(running->wait().status, 0);
}

TEST_P(tool_dequeue, stops_early_when_the_time_has_passed_without_any) {
  fill(1);
  EXPECT_EQ(done({"dequeue", "mail", "--count", "5", "--wait", "50ms"}), "m0\n");
  EXPECT_EQ(run({"dequeue", "mail", "--wait", "50ms"}).status, 1);
}

}  // namespace
