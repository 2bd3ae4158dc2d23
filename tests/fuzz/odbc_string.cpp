// ODBC connection strings: built values are read back unchanged, and passwords are removed.

#include <algorithm>

#include "drivers/transport/odbc_address.hpp"
#include "fuzz/check.hpp"

namespace {

using namespace tableq_fuzz;  // NOLINT(google-build-using-namespace): the targets' own vocabulary
namespace odbc = tableq::drivers::odbc;

bool has_control_characters(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = text_of(data, size);
  for (const odbc::attribute& each : odbc::parse(text)) {
    must(each.value.size() <= text.size(), "a value is a part of its string");
  }
  std::string_view rest = text;
  const std::string_view value = next_line(rest);
  if (has_control_characters(value)) return 0;
  const std::string built =
      odbc::builder().add("UID", "u").add("PWD", odbc::quoted(value)).add("App", "a").text();
  const auto read = odbc::parse(built);
  must(read.size() == 3, "a value stays one value");
  must(read[1].key == "PWD" && read[1].value == value, "a value comes back as it was");
  if (const auto plain = odbc::quoted_without_doubling(value)) {
    const auto again = odbc::parse(odbc::builder().add("A", *plain).add("B", "b").text());
    must(again.size() == 2 && again[0].value == value, "a value comes back without doubling too");
  }
  std::string sentence = "the driver said: ";
  sentence.append(value).append(" and ").append(odbc::quoted(value)).append(rest);
  const std::string cleaned = odbc::without_secrets(sentence, built);
  // A short password or a plain word may be part of the replacement text.
  const bool telling = value.size() > 8 && value.find_first_of("0123456789") != value.npos;
  must(!telling || cleaned.find(value) == std::string::npos, "a password is taken out");
  static_cast<void>(odbc::without_secrets(sentence, text));
  return 0;
}
