#include <fcntl.h>
#include <unistd.h>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class tool_lines : public tool_test {
 protected:
  tableq::fifo_queue mail() { return db().fifo("mail"); }
  words stored() {
    words payloads;
    for (const auto& one : mail().peek(10'000)) payloads.push_back(one.payload);
    return payloads;
  }
};
TABLEQ_ON_BACKENDS(tool_lines, distinct_backends);

TEST_P(tool_lines, an_empty_line_is_an_empty_message_and_the_last_needs_no_newline) {
  mail();
  done({"enqueue", "mail", "--lines"}, {.input = "a\n\n\r\nz"});
  EXPECT_EQ(stored(), (words{"a", "", "\r", "z"}));
}

TEST_P(tool_lines, lines_are_bytes_of_any_length) {
  mail();
  std::string binary("\0\xff\x80", 3);
  binary.append(1'000'000, 'x');
  done({"enqueue", "mail", "--lines"}, {.input = binary + "\nshort\n"});
  EXPECT_EQ(stored(), (words{binary, "short"}));
}

TEST_P(tool_lines, no_line_is_no_message) {
  mail();
  EXPECT_EQ(done({"enqueue", "mail", "--lines"}), "");
  EXPECT_TRUE(stored().empty());
}

TEST_P(tool_lines, ids_are_printed_when_asked_for) {
  mail();
  const auto ids = lines_of(done({"enqueue", "mail", "--lines", "--ids"}, {.input = "a\nb\nc\n"}));
  ASSERT_EQ(ids.size(), 3U);
  EXPECT_EQ(ids.front(), std::to_string(mail().peek().front().id.value));
}

TEST_P(tool_lines, options_hold_for_each_line) {
  auto jobs = db().claim("jobs");
  done({"enqueue", "jobs", "--lines", "--priority", "3", "--header", "h=v"}, {.input = "a\nb\n"});
  const auto taken = jobs.take(5);
  ASSERT_EQ(taken.size(), 2U);
  for (const auto& one : taken) {
    EXPECT_EQ(one.priority, 3);
    EXPECT_EQ(one.headers.at("h"), "v");
  }
}

TEST_P(tool_lines, a_slow_writers_line_does_not_wait_for_the_next) {
  mail();
  pipe_ends input = make_pipe();
  const auto running = start({"enqueue", "mail", "--lines"}, {.in = input.reader.value()});
  input.reader.close();
  ASSERT_EQ(::write(input.writer.value(), "first\nhalf", 10), 10);
  const auto first = mail().dequeue({.wait = 60s});
  ASSERT_TRUE(first);
  EXPECT_EQ(first->payload, "first");
  ASSERT_EQ(::write(input.writer.value(), " of it\n", 7), 7);
  const auto second = mail().dequeue({.wait = 60s});
  ASSERT_TRUE(second);
  EXPECT_EQ(second->payload, "half of it");
  input.writer.close();
  EXPECT_EQ(running->wait().status, 0);
}

TEST_P(tool_lines, progress_is_for_terminals) {
  mail();
  const owned_descriptor terminal(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
  ASSERT_EQ(::grantpt(terminal.value()), 0);
  ASSERT_EQ(::unlockpt(terminal.value()), 0);
  const owned_descriptor screen(::open(::ptsname(terminal.value()), O_RDWR | O_NOCTTY | O_CLOEXEC));
  const auto running =
      start({"enqueue", "mail", "--lines"}, {.input = "a\nb\n", .err = screen.value()});
  line_reader shown(terminal.value());
  EXPECT_TRUE(contains(shown.next_with("2 lines enqueued in"), "tableq: "));
  EXPECT_EQ(running->wait().status, 0);
}

}  // namespace
