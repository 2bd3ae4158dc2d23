#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "support/at_once.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

const std::string sent_trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const std::string another_trace = "00-0af7651916cd43dd8448eb211c80319d-b7ad6b7169203332-00";

class trace : public on_each_backend {
 protected:
  /// A queue of a database whose hook gives `now`.
  tableq::claim_queue jobs(tableq::claim_options options = at_once()) {
    return open({.trace = [this] { return now; }}).claim("jobs", options);
  }
  static tableq::delivery only(tableq::claim_queue& from) { return from.take(1).at(0); }

  tableq::trace_context now = {};
};
TABLEQ_ON_BACKENDS(trace, distinct_backends);

TEST_P(trace, goes_with_the_message) {
  auto queue = jobs();
  now = {.traceparent = sent_trace, .tracestate = "vendor=1"};
  queue.enqueue("a", {.headers = {{"h", "v"}}});
  const auto taken = only(queue);
  const auto found = tableq::trace_of(taken.headers);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->traceparent, sent_trace);
  EXPECT_EQ(found->tracestate, "vendor=1");
  EXPECT_EQ(taken.headers.at("h"), "v");
}

TEST_P(trace, goes_with_each_message_of_a_batch_and_with_asynchronous_ones) {
  auto queue = jobs();
  now = {.traceparent = sent_trace};
  queue.enqueue_batch({{.payload = "a"}, {.payload = "b", .options = {.key = "k"}}});
  auto stored = queue.enqueue_async("c", {});
  now = {.traceparent = another_trace};
  stored.get();
  for (const auto& each : queue.take(10)) {
    EXPECT_EQ(tableq::trace_of(each.headers).value().traceparent, sent_trace) << each.payload;
  }
}

TEST_P(trace, of_the_thread_that_stores_them_is_not_that_of_asynchronous_ones) {
  const auto hook = [caller = std::this_thread::get_id()] {
    const bool called = std::this_thread::get_id() == caller;
    return tableq::trace_context{.traceparent = called ? "" : another_trace};
  };
  auto queue = open({.trace = hook}).claim("jobs", at_once());
  queue.enqueue_async("a", {}).get();
  EXPECT_TRUE(only(queue).headers.empty());
}

TEST_P(trace, of_the_message_itself_stays) {
  auto queue = jobs();
  now = {.traceparent = sent_trace, .tracestate = "vendor=1"};
  queue.enqueue("a", {.headers = {{"traceparent", another_trace}}});
  const auto found = tableq::trace_of(only(queue).headers).value();
  EXPECT_EQ(found.traceparent, another_trace);
  EXPECT_EQ(found.tracestate, "");
}

TEST_P(trace, that_is_not_valid_is_left_out) {
  auto queue = jobs();
  for (const std::string& bad :
       {std::string(), std::string("x"), sent_trace.substr(1), sent_trace + "-x", sent_trace + "0",
        "ff" + sent_trace.substr(2), "00-" + std::string(32, '0') + sent_trace.substr(35),
        sent_trace.substr(0, 36) + std::string(16, '0') + "-01",
        std::string(sent_trace).replace(3, 1, "A"), std::string(sent_trace).replace(2, 1, "_"),
        std::string(sent_trace).replace(54, 1, "\n")}) {
    now = {.traceparent = bad, .tracestate = "vendor=1"};
    queue.enqueue("a");
    const auto taken = only(queue);
    EXPECT_TRUE(taken.headers.empty()) << bad;
    EXPECT_FALSE(tableq::trace_of({{"traceparent", bad}})) << bad;
  }
  now = {.traceparent = sent_trace, .tracestate = std::string("a\nb")};
  queue.enqueue("a");
  EXPECT_EQ(tableq::trace_of(only(queue).headers).value().tracestate, "");
  EXPECT_TRUE(tableq::trace_of({{"traceparent", "01" + sent_trace.substr(2) + "-later"}}));
}

TEST_P(trace, is_left_out_where_headers_have_no_room) {
  auto queue = jobs();
  now = {.traceparent = sent_trace};
  const tableq::headers full{{"h", std::string(65'500, 'x')}};
  queue.enqueue("a", {.headers = full});
  EXPECT_EQ(only(queue).headers, full);
}

TEST_P(trace, stays_over_attempts_and_comes_back_from_dead_letters) {
  auto queue =
      jobs({.max_attempts = 1, .retry = tableq::retry_delays::none(), .dead_letters = "letters"});
  now = {.traceparent = sent_trace};
  queue.enqueue("a");
  now = {};
  EXPECT_EQ(queue.fail(only(queue).receipt, "no"), tableq::settle_result::applied);
  EXPECT_EQ(queue.redrive_all().count, 1U);
  EXPECT_EQ(tableq::trace_of(only(queue).headers).value().traceparent, sent_trace);
}

TEST_P(trace, of_other_kinds_is_not_asked_for) {
  int asked = 0;
  auto database = open({.trace = [&asked] {
    ++asked;
    return tableq::trace_context{.traceparent = sent_trace};
  }});
  auto mail = database.fifo("mail");
  mail.enqueue("a");
  EXPECT_EQ(mail.dequeue()->payload, "a");
  EXPECT_EQ(asked, 0);
}

}  // namespace
