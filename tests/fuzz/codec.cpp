// Contents of the columns of a message and of the catalogue, which plain SQL may have written.

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <tableq/error.hpp>
#include <tableq/schema.hpp>

#include "core/input/codec.hpp"
#include "core/input/queue_options.hpp"
#include "drivers/pieces.hpp"
#include "fuzz/check.hpp"

namespace {

using namespace tableq_fuzz;  // NOLINT(google-build-using-namespace): the targets' own vocabulary
namespace core = tableq::core;

/// Reads the same into a tree, if possible: that accepts no number beyond a double.
void compare(std::string_view text, const std::optional<tableq::headers>& read) {
  using nlohmann::json;
  // The parser skips a byte order mark, and ends at a zero.
  if (text.starts_with("\xEF\xBB\xBF") || text.find('\0') != std::string_view::npos) return;
  const json other = json::parse(text, nullptr, false);
  if (!other.is_object()) return;
  must(read.has_value(), "what is a JSON object is read");
  must(read->size() == other.size(), "no member is left out");
  for (const auto& [name, value] : *read) {
    must(other.contains(name), "names are read alike");
    const json& same = other[name];
    if (same.is_string()) {
      must(same.get_ref<const std::string&>() == value, "strings are read alike");
    } else {
      must(json::parse(value, nullptr, false) == same, "other values are the same JSON");
    }
  }
}

void headers(std::string_view text) {
  const auto read = core::decode_headers(text);
  constexpr std::size_t harmless = 2000;  // A tree may overflow the stack.
  if (text.size() < harmless) compare(text, read);
  if (!read) return;
  const std::string written = core::encode_headers(*read);
  must(core::decode_headers(written) == read, "headers come back as they were");
}

void histories(std::string_view text) {
  for (const tableq::failure_record& each : core::decode_errors(text)) {
    must(each.error.size() <= core::longest_error, "an entry is cut");
    must(core::is_plain_utf8(each.error), "an entry is told in UTF-8");
  }
  const std::string with = "[" + std::string(text) + "]";
  must(core::decode_errors(with).size() <= core::most_errors, "a history has an end");
}

void texts(std::string_view text) {
  const std::string plain = core::to_plain_utf8(text, 100);
  must(plain.size() <= 100, "a text is cut where it was to be");
  must(core::is_plain_utf8(plain), "a text is made plain");
  if (!core::is_plain_utf8(text)) return;
  must(core::to_plain_utf8(text, text.size()) == text, "a plain text stays as it is");
  const tableq::headers one{{std::string(text), std::string(text)}};
  must(core::decode_headers(core::encode_headers(one)) == one, "any plain text is a header");
  const std::vector<core::field> fields{{"a", core::value_type::text}};
  const std::vector<core::value> values{core::value(text), core::value()};
  const tableq::drivers::array_texts array(values, fields);
  must(array.values().size() == 1, "an array is one text");
}

void options(std::string_view text) {
  tableq::queue_info info;
  info.name = "jobs";
  info.kind = tableq::kind::claim;
  tableq::queue_info again = info;
  try {
    core::decode_options(text, info);
  } catch (const tableq::error&) {
    return;
  }
  const std::string written = core::encode_options(info);
  core::decode_options(written, again);
  must(core::encode_options(again) == written, "options come back as they were");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  headers(text);
  texts(text);
  options(text);
  histories(text);
  return 0;
}
