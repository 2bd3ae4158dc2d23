#include "core/input/codec.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <boost/locale/utf.hpp>
#include <nlohmann/json.hpp>

namespace tableq::inline v0::core {
namespace {

using json = nlohmann::json;

/// As nlohmann's, but a number may be as large as a long double.
using wide_json = nlohmann::basic_json<std::map, std::vector, std::string, bool, std::int64_t,
                                       std::uint64_t, long double>;

/// A value of a JSON text.
struct json_value {
  std::string name = {};  ///< In an object; a name may occur several times.
  bool is_string = false;
  /// The content of a string in an object. For any other value its JSON: without blanks, numbers as
  /// written.
  std::string text = {};
};

/// Keeps the members of one object, or the elements of one array, from the events of the parser,
/// which has no recursion: any depth is allowed.
class values_reader {
 public:
  /// @param bracket the one that opens what is read.
  explicit values_reader(char bracket) : bracket_(bracket) {}

  bool null() { return add("null"); }
  bool boolean(bool value) { return add(value ? "true" : "false"); }
  /// A negative number: zero is what was written as -0.
  bool number_integer(std::int64_t value) { return add(value == 0 ? "-0" : std::to_string(value)); }
  bool number_unsigned(std::uint64_t value) { return add(std::to_string(value)); }
  bool number_float(long double /*value*/, std::string written) {
    // The parser has put the locale's sign in the place of the point.
    const std::size_t point = written.find_first_not_of("+-0123456789eE");
    if (point != std::string::npos) written[point] = '.';
    return add(written);
  }
  bool string(std::string& text) {
    const bool member = open_ == 1 && bracket_ == '{';
    if (!add(member ? text : json(text).dump())) return false;
    if (member) values_.back().is_string = true;
    return true;
  }
  bool binary(const std::vector<std::uint8_t>& /*bytes*/) { return false; }
  bool key(std::string& name) {
    if (open_ > 1) return add(json(name).dump() + ':');
    values_.push_back({.name = name});
    return true;
  }
  bool start_object(std::size_t /*size*/) { return open('{'); }
  bool start_array(std::size_t /*size*/) { return open('['); }
  bool end_object() { return close('}'); }
  bool end_array() { return close(']'); }
  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const json::exception& /*failure*/) {
    return false;
  }

  std::vector<json_value> take() { return std::move(values_); }

 private:
  /// @return false for a value that stands alone.
  bool add(std::string_view text) {
    if (open_ == 0) return false;
    if (open_ == 1 && bracket_ == '[') values_.emplace_back();
    std::string& out = values_.back().text;
    if (open_ > 1 && std::string_view("[{:").find(out.back()) == std::string_view::npos) out += ',';
    out += text;
    return true;
  }
  bool open(char bracket) {
    const bool good = open_ == 0 ? bracket == bracket_ : add({&bracket, 1});
    ++open_;
    return good;
  }
  bool close(char bracket) {
    if (--open_ > 0) values_.back().text += bracket;
    return true;
  }

  char bracket_;
  std::size_t open_ = 0;  // brackets
  std::vector<json_value> values_;
};

/// Nothing unless the text is exactly one object or array, in UTF-8.
std::optional<std::vector<json_value>> values_of(std::string_view text, char bracket) {
  // The parser skips a byte order mark, and ends at a zero.
  if (text.starts_with("\xEF\xBB\xBF") || text.find('\0') != std::string_view::npos) return {};
  values_reader reader(bracket);
  if (!wide_json::sax_parse(text.begin(), text.end(), &reader)) return {};
  return reader.take();
}

std::optional<std::int64_t> to_integer(std::string_view text) {
  std::int64_t out = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), out);
  const bool all = read.ec == std::errc() && read.ptr == text.data() + text.size();
  return all ? std::optional(out) : std::nullopt;
}

/// An entry in tableq's form.
std::optional<failure_record> decode_entry(std::string_view entry) {
  const auto members = values_of(entry, '{');
  if (!members) return {};
  std::optional<std::int64_t> at;
  const std::string* error = nullptr;
  for (const json_value& each : *members) {
    if (each.name == "at" && !each.is_string) at = to_integer(each.text);
    if (each.name == "error" && each.is_string) error = &each.text;
  }
  if (!at || error == nullptr) return {};
  return failure_record{timestamp(std::chrono::milliseconds(*at)),
                        to_plain_utf8(*error, longest_error)};
}

}  // namespace

std::size_t character_length(std::string_view text) noexcept {
  namespace utf = boost::locale::utf;
  const char* at = text.data();
  const utf::code_point found = utf::utf_traits<char>::decode(at, text.data() + text.size());
  return utf::is_valid_codepoint(found) ? static_cast<std::size_t>(at - text.data()) : 0;
}

bool equal_but_for_case(std::string_view left, std::string_view right) noexcept {
  const auto small = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(left, right, {}, small, small);
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
    if (next.size() > longest - out.size()) break;
    out += next;
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return out;
}

std::string encode_headers(const headers& values, bool ascii) {
  // A JSON object would need memory for its end, in a destructor.
  const auto quoted = [&](const std::string& text) { return json(text).dump(-1, ' ', ascii); };
  std::string out;
  for (const auto& [name, value] : values) {
    out.append(out.empty() ? "{" : ",").append(quoted(name)).append(":").append(quoted(value));
  }
  return out.empty() ? "{}" : out + "}";
}

std::string in_ascii(std::string_view json_text) {
  std::string out;
  while (!json_text.empty()) {
    const std::size_t length = std::max<std::size_t>(character_length(json_text), 1);
    const std::string_view character = json_text.substr(0, length);
    json_text.remove_prefix(length);
    if (length == 1) {
      out += character;
      continue;
    }
    // Only strings of a JSON text have such characters: the escapes are those in their quotes.
    const std::string quoted = json(character).dump(-1, ' ', true);
    out.append(quoted, 1, quoted.size() - 2);
  }
  return out;
}

std::string encode_error(std::string_view text, bool ascii, std::size_t longest) {
  std::string plain = to_plain_utf8(text, longest);
  if (!ascii) return plain;
  std::string out;
  for (std::string_view rest = plain; !rest.empty();) {
    const std::size_t length = character_length(rest);
    const std::string next = in_ascii(rest.substr(0, length));
    if (out.size() + next.size() > longest) break;
    out += next;
    rest.remove_prefix(length);
  }
  return out;
}

std::optional<headers> decode_headers(std::string_view text) {
  auto members = values_of(text, '{');
  if (!members) return {};
  headers out;
  for (json_value& each : *members) {
    out.insert_or_assign(std::move(each.name), std::move(each.text));
  }
  return out;
}

std::string encode_retry(const retry_delays& retry) {
  std::string after;
  for (const std::chrono::milliseconds each : retry.after) {
    after.append(after.empty() ? "" : ",").append(std::to_string(each.count()));
  }
  return R"({"after":[)" + after + R"(],"jitter":)" + std::to_string(retry.jitter) + "}";
}

std::vector<failure_record> decode_errors(std::string_view text) {
  const auto foreign = [](std::string_view what) {
    return failure_record{timestamp(), to_plain_utf8(what, longest_error)};
  };
  const std::string plain = to_plain_utf8(text);
  const auto entries = values_of(plain, '[');
  if (!entries) return {foreign(plain)};
  std::vector<failure_record> out;
  const std::size_t passed = entries->size() - std::min(entries->size(), most_errors);
  for (const json_value& entry : std::span(*entries).subspan(passed)) {
    out.push_back(decode_entry(entry.text).value_or(foreign(entry.text)));
  }
  return out;
}

message_progress decode_progress(std::string_view text) {
  const std::string plain = to_plain_utf8(text);
  std::optional<std::int64_t> at;
  std::optional<std::int64_t> done;
  const std::string* note = nullptr;
  const auto members = values_of(plain, '{').value_or(std::vector<json_value>());
  for (const json_value& each : members) {
    if (each.name == "at" && !each.is_string) at = to_integer(each.text);
    if (each.name == "done" && !each.is_string) done = to_integer(each.text);
    if (each.name == "note" && each.is_string) note = &each.text;
  }
  if (!at || !done || note == nullptr) return {.note = to_plain_utf8(plain, longest_note)};
  constexpr double whole = 1'000'000;
  return {.done = std::clamp(static_cast<double>(*done) / whole, 0.0, 1.0),
          .note = to_plain_utf8(*note, longest_note),
          .at = timestamp(std::chrono::milliseconds(*at))};
}

}  // namespace tableq::inline v0::core
