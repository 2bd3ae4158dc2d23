#include <cstdio>
#include <memory>

#include <tableq/opentelemetry.hpp>
#include <tableq/tableq.hpp>

/// Handles all messages of the queue `jobs` at an address in spans, and adds one to the queue
/// `next` in each. Prints trace, parent and id of each span.
int main(int count, char** words) {
  if (count != 2) return 2;
  namespace api = opentelemetry::trace;
  const auto tracer = std::make_shared<api::Tracer>();
  auto db = tableq::database::open(words[1], {.trace = tableq::opentelemetry::current_trace});
  auto jobs = db.claim("jobs");
  auto next = db.claim("next");
  const auto handle = [&](const tableq::delivery& taken) { next.enqueue(taken.payload); };
  const std::size_t handled =
      tableq::drain(jobs, tableq::opentelemetry::traced(tracer, "jobs", handle));
  for (const auto& each : tracer->spans) {
    std::printf("%s %s %s\n", each->data.trace_id.c_str(), each->data.parent.c_str(),
                each->data.id.c_str());
  }
  return handled == 0 ? 1 : 0;
}
