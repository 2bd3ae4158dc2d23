#include "core/input/codec.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <span>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "core/input/json_text.hpp"
#include "core/input/utf8.hpp"

namespace tableq::inline v0::core {
namespace {

using json = nlohmann::json;

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool all = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return all ? std::optional(out) : std::nullopt;
}

/// An entry in tableq's form.
std::optional<failure_record> decode_entry(std::string_view entry) {
  const auto members = members_of(entry);
  if (!members) return {};
  std::optional<std::int64_t> at;
  const std::string* error = nullptr;
  for (const auto& [name, value] : *members) {
    if (name == "at" && !value.is_string) at = to_integer(value.text);
    if (name == "error" && value.is_string) error = &value.text;
  }
  if (!at || error == nullptr) return {};
  return failure_record{timestamp(std::chrono::milliseconds(*at)),
                        to_plain_utf8(*error, longest_error)};
}

}  // namespace

std::string encode_headers(const headers& values, bool ascii) {
  constexpr int on_one_line = -1;
  return json(values).dump(on_one_line, ' ', ascii);
}

std::string encode_error(std::string_view text, bool ascii) {
  std::string plain = to_plain_utf8(text, longest_error);
  if (!ascii) return plain;
  std::string out;
  for (std::string_view rest = plain; !rest.empty();) {
    const std::size_t length = character_length(rest);
    const std::string_view character = rest.substr(0, length);
    rest.remove_prefix(length);
    // The escape is what JSON writes in its quotes.
    const std::string next =
        length == 1 ? std::string(character) : json(character).dump(-1, ' ', true).substr(1, 6);
    const std::string pair =
        length == 4 ? json(character).dump(-1, ' ', true).substr(7, 6) : std::string();
    if (out.size() + next.size() + pair.size() > longest_error) break;
    out.append(next).append(pair);
  }
  return out;
}

std::optional<headers> decode_headers(std::string_view text) {
  auto members = members_of(text);
  if (!members) return {};
  headers out;
  for (auto& [name, value] : *members) {
    out.insert_or_assign(std::move(name), std::move(value.text));
  }
  return out;
}

std::string encode_retry(const retry_delays& retry) {
  json after = json::array();
  for (const std::chrono::milliseconds each : retry.after) after.push_back(each.count());
  return json({{"after", after}, {"jitter", retry.jitter}}).dump();
}

std::vector<failure_record> decode_errors(std::string_view text) {
  const auto foreign = [](std::string_view what) {
    return failure_record{timestamp(), to_plain_utf8(what, longest_error)};
  };
  const auto entries = elements_of(text);
  if (!entries) return {foreign(text)};
  std::vector<failure_record> out;
  const std::size_t passed = entries->size() - std::min(entries->size(), most_errors);
  for (const std::string& entry : std::span(*entries).subspan(passed)) {
    out.push_back(decode_entry(entry).value_or(foreign(entry)));
  }
  return out;
}

}  // namespace tableq::inline v0::core
