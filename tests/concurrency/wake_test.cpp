#include <gtest/gtest.h>

#include "concurrency/actor.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class wake_between_processes : public on_each_kind {};
TABLEQ_ON_KINDS(wake_between_processes, distinct_backends);

TEST_P(wake_between_processes, comes_when_another_process_enqueues) {
  // No reader polls within the waited time.
  auto near = open({.poll_interval = 24h});
  any_queue mail(near, kind(), "mail");
  // Until the database notifies, readers poll.
  ASSERT_TRUE(mail.take_up_to(1, 600ms).empty());
  actor producer({{"do", "produce"},
                  {"url", here().url()},
                  {"kind", tableq::to_string(kind())},
                  {"queue", "mail"},
                  {"name", "far"},
                  {"singles", 20},
                  {"count", 20}});
  std::size_t got = 0;
  while (got < 20) {
    const auto begin = std::chrono::steady_clock::now();
    got += mail.take_up_to(1, 120s).size();
    // At the end of its time a reader would find the message anyway.
    ASSERT_LT(std::chrono::steady_clock::now() - begin, 60s) << "after " << got;
  }
  EXPECT_EQ(producer.wait(), 0);
}

}  // namespace
