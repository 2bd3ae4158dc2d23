#pragma once

/// @file
/// Traces of OpenTelemetry's C++ SDK through queues. Opt-in: tableq.hpp does not include it, and
/// the library does not need the SDK.
///
///     auto db = tableq::database::open(url, {.trace = tableq::opentelemetry::current_trace});
///     tableq::worker pool(jobs, tableq::opentelemetry::traced(tracer, "jobs", handle));
///
/// A message has the context of its enqueue; its handler runs in a span `process jobs`, a child of
/// that context, so that one trace shows both. An attempt after a failure is another child of the
/// same context. It follows the conventions for messaging, which are in development.

#include <string>
#include <string_view>
#include <utility>

#include <opentelemetry/context/propagation/text_map_propagator.h>
#include <opentelemetry/context/runtime_context.h>
#include <opentelemetry/trace/propagation/http_trace_context.h>
#include <opentelemetry/trace/scope.h>
#include <opentelemetry/trace/span.h>
#include <opentelemetry/trace/span_startoptions.h>
#include <opentelemetry/trace/tracer.h>

#include <tableq/message.hpp>
#include <tableq/trace_context.hpp>

namespace tableq::inline v0::opentelemetry {

/// A trace context as the SDK's propagators read and write it. Borrows it.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class carrier final : public ::opentelemetry::context::propagation::TextMapCarrier {
 public:
  /// @param of must outlive the carrier.
  explicit carrier(trace_context& of) noexcept : of_(of) {}
  /// Empty for another key.
  ::opentelemetry::nostd::string_view Get(
      ::opentelemetry::nostd::string_view key) const noexcept override {
    const std::string_view name(key.data(), key.size());
    if (name == "traceparent") return of_.traceparent;
    if (name == "tracestate") return of_.tracestate;
    return "";
  }
  /// Other keys have no effect.
  void Set(::opentelemetry::nostd::string_view key,
           ::opentelemetry::nostd::string_view value) noexcept override {
    const std::string_view name(key.data(), key.size());
    if (name == "traceparent") of_.traceparent.assign(value.data(), value.size());
    if (name == "tracestate") of_.tracestate.assign(value.data(), value.size());
  }

 private:
  trace_context& of_;
};

/// For open_options::trace: the context of the span that is active in this thread.
inline trace_context current_trace() {
  trace_context out;
  carrier into(out);
  ::opentelemetry::trace::propagation::HttpTraceContext().Inject(
      into, ::opentelemetry::context::RuntimeContext::GetCurrent());
  return out;
}

/// A handler for a worker that runs another one in a span.
///
/// The span has the kind consumer, and the message's id and attempt. An exception of the handler
/// makes it an error, and goes on.
/// @param tracer of the SDK, as a shared pointer of theirs; kept as long as the handler.
/// @param queue the queue's name.
/// @param handler is called with the delivery alone.
template <class Tracer, class Handler>
auto traced(Tracer tracer, std::string queue, Handler handler) {
  return [tracer = std::move(tracer), queue = std::move(queue),
          handler = std::move(handler)](const delivery& taken) mutable {
    namespace api = ::opentelemetry::trace;
    trace_context sent = trace_of(taken.headers).value_or(trace_context());
    const carrier from(sent);
    auto current = ::opentelemetry::context::RuntimeContext::GetCurrent();
    api::StartSpanOptions options;
    options.kind = api::SpanKind::kConsumer;
    if (!sent.traceparent.empty()) {
      options.parent = api::propagation::HttpTraceContext().Extract(from, current);
    }
    const std::string id = std::to_string(taken.receipt.id.value);
    auto span = tracer->StartSpan("process " + queue, options);
    span->SetAttribute("messaging.system", "tableq");
    span->SetAttribute("messaging.operation.name", "process");
    span->SetAttribute("messaging.operation.type", "process");
    span->SetAttribute("messaging.destination.name", queue.c_str());
    span->SetAttribute("messaging.message.id", id.c_str());
    const api::Scope active(span);
    try {
      return handler(taken);
    } catch (...) {  // The worker decides about the message; the span only tells.
      span->SetStatus(api::StatusCode::kError, "the handler has thrown");
      throw;
    }
  };
}

}  // namespace tableq::inline v0::opentelemetry
