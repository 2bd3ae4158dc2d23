#pragma once

#include <optional>

#include <tableq/trace_context.hpp>

namespace tableq::inline v0::core {

/// The context, if it is one of W3C's; without a tracestate that is not.
std::optional<trace_context> good_trace(trace_context given);

/// The headers with the context, unless they have one, or no room for it.
headers with_trace(headers given, const trace_context& trace);

}  // namespace tableq::inline v0::core
