#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <utility>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// Standard output that accepts nothing, or not everything.
class tool_output : public tool_test {
 protected:
  tableq::fifo_queue mail() { return db().fifo("mail"); }
  void fill(int count) {
    for (int i = 0; i < count; ++i) mail().enqueue("m" + std::to_string(i));
  }
  ended run_into(const words& arguments, int out) { return run(arguments, {.out = out}); }
  static owned_descriptor broken_pipe() { return std::move(make_pipe().writer); }
};
TABLEQ_ON_BACKENDS(tool_output, distinct_backends);

TEST_P(tool_output, a_broken_pipe_loses_nothing) {
  fill(10);
  const owned_descriptor nobody = broken_pipe();
  for (const words& how : {words{}, words{"--all"}, words{"--raw"}, words{"--json"}}) {
    TABLEQ_EXPECT_REFUSAL(3, run_into(joined({"dequeue", "mail"}, how), nobody.value()));
    EXPECT_EQ(mail().stats().waiting, 10U);
  }
  EXPECT_TRUE(contains(done({"dequeue", "mail", "--all"}), "m0\nm1\nm2"));
}

TEST_P(tool_output, a_full_disk_loses_nothing) {
  fill(10);
  const owned_descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  TABLEQ_EXPECT_REFUSAL(3, run_into({"dequeue", "mail", "--all"}, full.value()));
  EXPECT_EQ(mail().stats().waiting, 10U);
}

TEST_P(tool_output, a_closed_stream_loses_nothing) {
  fill(10);
  TABLEQ_EXPECT_REFUSAL(3, run_into({"dequeue", "mail", "--all"}, closed_stream));
  EXPECT_EQ(mail().stats().waiting, 10U);
  EXPECT_EQ(run({"enqueue", "mail", "one more"}, {.in = closed_stream}).status, 0);
  EXPECT_EQ(run({"dequeue", "mail"}, {.err = closed_stream}).out, "m0\n");
}

TEST_P(tool_output, a_reader_that_goes_half_way_gets_nothing_out_of_the_queue) {
  mail().enqueue(std::string(2UL * 1024 * 1024, 'x'));
  pipe_ends output = make_pipe();
  const auto running = start({"dequeue", "mail", "--raw"}, {.out = output.writer.value()});
  output.writer.close();
  std::array<char, 10> some;
  ASSERT_EQ(::read(output.reader.value(), some.data(), some.size()), 10);
  output.reader.close();
  EXPECT_EQ(running->wait().status, 3);
  EXPECT_EQ(mail().stats().waiting, 1U);
}

TEST_P(tool_output, what_was_delivered_before_the_pipe_broke_is_gone_and_the_rest_is_not) {
  // More than a pipe holds, so that the writer depends on the reader.
  for (int i = 0; i < 100; ++i) mail().enqueue(std::string(10'000, 'x'));
  pipe_ends output = make_pipe();
  const auto running = start({"dequeue", "mail", "--all"}, {.out = output.writer.value()});
  output.writer.close();
  std::string got(10'001, '\0');
  for (std::size_t done = 0; done < got.size();) {
    const ssize_t more = ::read(output.reader.value(), got.data() + done, got.size() - done);
    ASSERT_GT(more, 0);
    done += static_cast<std::size_t>(more);
  }
  output.reader.close();
  EXPECT_EQ(running->wait().status, 3);
  EXPECT_GT(mail().stats().waiting, 80U);
}

TEST_P(tool_output, every_command_that_prints_notices) {
  fill(1);
  auto jobs = db().claim("jobs", {.max_attempts = 1});
  jobs.enqueue("work");
  ASSERT_EQ(jobs.fail(jobs.take(1).at(0).receipt, "no"), tableq::settle_result::applied);
  const owned_descriptor nobody = broken_pipe();
  for (const words& arguments : {words{"list"}, words{"stats"}, words{"peek", "mail"},
                                 words{"doctor"}, words{"ddl", db().backend(), "fifo", "other"},
                                 words{"dead", "list", "jobs"}, words{"enqueue", "mail", "more"},
                                 words{"--help"}, words{"enqueue", "--help"}, words{"--version"}}) {
    TABLEQ_EXPECT_REFUSAL(3, run_into(arguments, nobody.value()));
  }
}

}  // namespace
