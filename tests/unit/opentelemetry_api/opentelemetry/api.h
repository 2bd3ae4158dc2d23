#pragma once

// A stand-in for the parts of OpenTelemetry's C++ API that tableq/opentelemetry.hpp uses, with its
// names and signatures: Debian has no package of the SDK. Spans are kept in a list.

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace opentelemetry {

namespace nostd {
using string_view = std::string_view;
template <class T>
using shared_ptr = std::shared_ptr<T>;
}  // namespace nostd

namespace trace {

enum class SpanKind { kInternal, kServer, kClient, kProducer, kConsumer };
enum class StatusCode { kUnset, kOk, kError };

struct span_data {
  std::string name;
  std::string trace_id;
  std::string id;
  std::string parent;
  SpanKind kind = SpanKind::kInternal;
  StatusCode status = StatusCode::kUnset;
  std::vector<std::pair<std::string, std::string>> attributes = {};
};

class Span {
 public:
  explicit Span(span_data of) : data(std::move(of)) {}
  void SetAttribute(nostd::string_view key, const char* value) noexcept {
    data.attributes.emplace_back(key, value);
  }
  void SetStatus(StatusCode code, nostd::string_view = "") noexcept { data.status = code; }

  span_data data;
};

}  // namespace trace

namespace context {

class Context {
 public:
  nostd::shared_ptr<trace::Span> span = nullptr;
  std::string trace_id = {};  // of a remote parent
  std::string parent = {};
};

class RuntimeContext {
 public:
  static Context GetCurrent() noexcept { return current(); }
  static Context& current() {
    thread_local Context one;
    return one;
  }
};

namespace propagation {

class TextMapCarrier {
 public:
  virtual nostd::string_view Get(nostd::string_view key) const noexcept = 0;
  virtual void Set(nostd::string_view key, nostd::string_view value) noexcept = 0;
  virtual ~TextMapCarrier() = default;
};

}  // namespace propagation
}  // namespace context

namespace trace {

struct StartSpanOptions {
  context::Context parent = {};
  SpanKind kind = SpanKind::kInternal;
};

class Scope {
 public:
  explicit Scope(const nostd::shared_ptr<Span>& span) noexcept
      : before_(context::RuntimeContext::current()) {
    context::RuntimeContext::current() = {.span = span};
  }
  ~Scope() { context::RuntimeContext::current() = before_; }
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  context::Context before_;
};

class Tracer {
 public:
  nostd::shared_ptr<Span> StartSpan(nostd::string_view name,
                                    const StartSpanOptions& options = {}) noexcept {
    const std::string number = std::to_string(spans.size() + 1);
    span_data made{.name = std::string(name), .trace_id = {}, .id = {}, .parent = {}};
    made.id = std::string(16 - number.size(), 'b') + number;
    made.kind = options.kind;
    made.parent = options.parent.span ? options.parent.span->data.id : options.parent.parent;
    made.trace_id =
        options.parent.span ? options.parent.span->data.trace_id : options.parent.trace_id;
    if (made.trace_id.empty()) made.trace_id = std::string(32 - number.size(), 'a') + number;
    spans.push_back(std::make_shared<Span>(std::move(made)));
    return spans.back();
  }

  std::vector<nostd::shared_ptr<Span>> spans = {};
};

namespace propagation {

class HttpTraceContext {
 public:
  void Inject(context::propagation::TextMapCarrier& carrier, const context::Context& of) noexcept {
    if (of.span == nullptr) return;
    carrier.Set("traceparent", "00-" + of.span->data.trace_id + "-" + of.span->data.id + "-01");
    carrier.Set("tracestate", "");
  }
  context::Context Extract(const context::propagation::TextMapCarrier& carrier,
                           context::Context& of) noexcept {
    const std::string parent(carrier.Get("traceparent"));
    if (parent.size() < 55) return of;
    return {.span = nullptr, .trace_id = parent.substr(3, 32), .parent = parent.substr(36, 16)};
  }
};

}  // namespace propagation
}  // namespace trace
}  // namespace opentelemetry
