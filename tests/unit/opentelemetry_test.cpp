#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include <tableq/opentelemetry.hpp>
#include <tableq/tableq.hpp>

namespace {

namespace api = opentelemetry::trace;

class opentelemetry_traces : public testing::Test {
 protected:
  tableq::claim_queue jobs() {
    return tableq::database::open("sqlite://:memory:",
                                  {.trace = tableq::opentelemetry::current_trace})
        .claim("jobs", {.retry = tableq::retry_delays::none()});
  }
  std::shared_ptr<api::Tracer> tracer = std::make_shared<api::Tracer>();
};

TEST_F(opentelemetry_traces, a_message_and_its_handler_are_one_trace) {
  auto queue = jobs();
  const auto sending = tracer->StartSpan("request");
  {
    const api::Scope active(sending);
    queue.enqueue("work");
  }
  std::string inside;
  const std::size_t count = tableq::drain(
      queue, tableq::opentelemetry::traced(tracer, "jobs", [&](const tableq::delivery&) {
        inside = tableq::opentelemetry::current_trace().traceparent;
      }));
  ASSERT_EQ(count, 1U);
  ASSERT_EQ(tracer->spans.size(), 2U);
  const api::span_data& made = tracer->spans[1]->data;
  EXPECT_EQ(made.name, "process jobs");
  EXPECT_EQ(made.kind, api::SpanKind::kConsumer);
  EXPECT_EQ(made.trace_id, sending->data.trace_id);
  EXPECT_EQ(made.parent, sending->data.id);
  EXPECT_EQ(made.status, api::StatusCode::kUnset);
  EXPECT_NE(inside.find(made.id), std::string::npos) << "the span is active in the handler";
}

TEST_F(opentelemetry_traces, a_handler_that_throws_makes_its_span_an_error) {
  auto queue = jobs();
  queue.enqueue("work");
  const auto handle = tableq::opentelemetry::traced(
      tracer, "jobs", [](const tableq::delivery&) { throw std::runtime_error("no"); });
  const auto taken = queue.take_one();
  auto copy = handle;
  EXPECT_THROW(copy(*taken), std::runtime_error);
  ASSERT_EQ(tracer->spans.size(), 1U);
  EXPECT_EQ(tracer->spans[0]->data.status, api::StatusCode::kError);
  EXPECT_EQ(tracer->spans[0]->data.parent, "") << "nothing was sent with the message";
}

TEST_F(opentelemetry_traces, without_an_active_span_nothing_is_stored) {
  auto queue = jobs();
  queue.enqueue("work");
  EXPECT_TRUE(queue.take_one()->headers.empty());
}

}  // namespace
