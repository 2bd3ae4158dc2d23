#include "core/input/trace.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "core/input/codec.hpp"

namespace tableq::inline v0 {
namespace core {
namespace {

constexpr std::size_t longest_state = 512;
/// Of all headers as JSON: see headers.
constexpr std::size_t room_of_headers = std::size_t{64} * 1024;

bool digits(std::string_view text) {
  return std::ranges::all_of(
      text, [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

bool all_zero(std::string_view text) {
  return text.find_first_not_of('0') == std::string_view::npos;
}

/// `00-<trace id>-<parent id>-<flags>`; later versions may have more behind it.
bool good_parent(std::string_view text) {
  constexpr std::size_t whole = 55;
  if (text.size() < whole || text[2] != '-' || text[35] != '-' || text[52] != '-') return false;
  const std::string_view version = text.substr(0, 2);
  const std::string_view trace = text.substr(3, 32);
  const std::string_view parent = text.substr(36, 16);
  if (!digits(version) || !digits(trace) || !digits(parent) || !digits(text.substr(53, 2))) {
    return false;
  }
  if (version == "ff" || all_zero(trace) || all_zero(parent)) return false;
  const bool printable = std::ranges::all_of(text, [](char c) { return c > ' ' && c < '\x7f'; });
  return text.size() == whole ||
         (version != "00" && text[whole] == '-' && printable && text.size() <= longest_state);
}

bool good_state(std::string_view text) {
  return text.size() <= longest_state &&
         std::ranges::all_of(text, [](char c) { return c >= ' ' && c < '\x7f'; });
}

}  // namespace

std::optional<trace_context> good_trace(trace_context given) {
  if (!good_parent(given.traceparent)) return std::nullopt;
  if (!good_state(given.tracestate)) given.tracestate.clear();
  return given;
}

headers with_trace(headers given, const trace_context& trace) {
  if (given.contains("traceparent")) return given;
  headers out = given;
  out.emplace("traceparent", trace.traceparent);
  if (!trace.tracestate.empty()) out.insert_or_assign("tracestate", trace.tracestate);
  return encode_headers(out).size() > room_of_headers ? given : out;
}

}  // namespace core

std::optional<trace_context> trace_of(const headers& of) {
  const auto value = [&](std::string_view name) {
    const auto found = of.find(name);
    return found == of.end() ? std::string() : found->second;
  };
  return core::good_trace({.traceparent = value("traceparent"), .tracestate = value("tracestate")});
}

}  // namespace tableq::inline v0
