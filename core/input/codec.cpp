#include "core/input/codec.hpp"

#include <chrono>
#include <cstddef>

#include <nlohmann/json.hpp>

#include <tableq/error.hpp>

namespace tableq::core {
namespace {

using json = nlohmann::json;

[[noreturn]] void malformed(const char* column) {
  throw error(errc::schema_mismatch, advice::never,
              std::string("the column ") + column +
                  " of a message does not hold the JSON that "
                  "docs/table-format.md asks for");
}

/// Whether arrays and objects nest so deep that to write them again would take the whole stack.
bool too_deep(std::string_view text) noexcept {
  constexpr int deepest = 64;
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string && c == '\\') {
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    } else if (!in_string && (c == '[' || c == '{')) {
      if (++depth > deepest) return true;
    } else if (!in_string && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

/// The length of the well-formed character at the front; 0 if there is none. Table 3-7 of the
/// Unicode standard: no surrogates, no overlong forms, nothing above U+10FFFF.
std::size_t character_length(std::string_view text) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto continues = [&](std::size_t i, unsigned low, unsigned high) {
    return i < text.size() && byte(i) >= low && byte(i) <= high;
  };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return continues(1, 0x80, 0xBF) ? 2 : 0;
  if (first >= 0xE0 && first <= 0xEF) {
    const unsigned low = first == 0xE0 ? 0xA0 : 0x80;
    const unsigned high = first == 0xED ? 0x9F : 0xBF;
    return continues(1, low, high) && continues(2, 0x80, 0xBF) ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4) {
    const unsigned low = first == 0xF0 ? 0x90 : 0x80;
    const unsigned high = first == 0xF4 ? 0x8F : 0xBF;
    return continues(1, low, high) && continues(2, 0x80, 0xBF) && continues(3, 0x80, 0xBF) ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string encode_headers(const headers& values) {
  return json(values).dump();
}

headers decode_headers(std::string_view text) {
  if (too_deep(text)) malformed("headers");
  const json object = json::parse(text, nullptr, false);
  if (!object.is_object()) malformed("headers");
  headers out;
  for (const auto& [name, value] : object.items()) {
    out.emplace(name, value.is_string() ? value.get<std::string>() : value.dump());
  }
  return out;
}

std::string encode_retry(const retry_delays& retry) {
  json after = json::array();
  for (const std::chrono::milliseconds each : retry.after) after.push_back(each.count());
  return json({{"after", after}, {"jitter", retry.jitter}}).dump();
}

std::vector<failure_record> decode_errors(std::string_view text) {
  if (too_deep(text)) malformed("errors");
  const json list = json::parse(text, nullptr, false);
  if (!list.is_array()) malformed("errors");
  std::vector<failure_record> out;
  for (const json& entry : list) {
    if (!entry.is_object() || !entry.contains("at") || !entry["at"].is_number_integer() ||
        !entry.contains("error") || !entry["error"].is_string()) {
      malformed("errors");
    }
    out.push_back({timestamp(std::chrono::milliseconds(entry["at"].get<std::int64_t>())),
                   entry["error"].get<std::string>()});
  }
  return out;
}

bool is_plain_utf8(std::string_view text) noexcept {
  while (!text.empty()) {
    const std::size_t length = character_length(text);
    if (length == 0 || text.front() == '\0') return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string to_plain_utf8(std::string_view text, std::size_t longest) {
  constexpr std::string_view replacement = "\xEF\xBF\xBD";
  std::string out;
  while (!text.empty()) {
    const std::size_t length = text.front() == '\0' ? 0 : character_length(text);
    const std::string_view next = length == 0 ? replacement : text.substr(0, length);
    if (out.size() + next.size() > longest) break;
    out += next;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

}  // namespace tableq::core
