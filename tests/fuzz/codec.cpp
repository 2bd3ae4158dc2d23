// What stands in the columns of a message and of the catalogue, and may have been written by plain
// SQL.

#include <vector>

#include <tableq/error.hpp>
#include <tableq/schema.hpp>

#include "core/input/codec.hpp"
#include "core/input/queue_options.hpp"
#include "drivers/array_text.hpp"
#include "fuzz/check.hpp"

namespace {

using namespace tableq_fuzz;  // NOLINT(google-build-using-namespace): the targets' own vocabulary
namespace core = tableq::core;

void headers(std::string_view text) {
  try {
    const tableq::headers read = core::decode_headers(text);
    const std::string written = core::encode_headers(read);
    must(core::decode_headers(written) == read, "headers come back as they were");
  } catch (const tableq::error& refused) {
    must(refused.code() == tableq::errc::schema_mismatch, "what is malformed is told so");
  }
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
  try {
    static_cast<void>(core::decode_errors(text));
  } catch (const tableq::error& refused) {
    must(refused.code() == tableq::errc::schema_mismatch, "what is malformed is told so");
  }
  return 0;
}
