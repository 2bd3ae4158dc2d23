#pragma once

#include <optional>
#include <string>

#include <tableq/export.hpp>
#include <tableq/message.hpp>

namespace tableq::inline v0 {

/// A W3C trace context, in the form of the HTTP headers of that name. A message of a `claim` queue
/// has it in its headers `traceparent` and `tracestate`.
struct trace_context {
  std::string traceparent = {};  ///< `00-<32 digits>-<16 digits>-<2 digits>`. Empty: none.
  std::string tracestate = {};   ///< Up to 512 printable characters. Empty: none.
};

/// The trace context in a message's headers. Needs no database.
/// @return empty if there is none, or if it is not valid; without a `tracestate` that is not.
[[nodiscard]] TABLEQ_EXPORT std::optional<trace_context> trace_of(const headers& of);

}  // namespace tableq::inline v0
