// Names of queues, prefixes, schemas and users: an accepted name cannot leave its quotes.

#include <algorithm>
#include <array>

#include <tableq/error.hpp>
#include <tableq/schema.hpp>

#include "fuzz/check.hpp"

namespace {

using namespace tableq_fuzz;  // NOLINT(google-build-using-namespace): the targets' own vocabulary

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

/// Texts with different names differ only in the names.
template <class Make>
void expect_only_names_differ(Make make, std::string_view name, std::string_view harmless) {
  std::string made;
  try {
    made = make(name);
  } catch (const tableq::error&) {
    return;
  }
  for (const auto& [open, close] : {std::pair{'"', '"'}, {'[', ']'}}) {
    const std::string ours = open + std::string(harmless) + close;
    const std::string theirs = open + std::string(name) + close;
    const std::string expected = make(harmless);
    if (expected.find(ours) == std::string::npos) continue;
    must(std::count(made.begin(), made.end(), open) ==
             std::count(expected.begin(), expected.end(), open),
         "a name adds no quotes");
    must(replaced(expected, ours, theirs) == made, "nothing but the name differs");
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;  // No schema is the default one.
  // The first byte selects the check of the name, because all checks together would be slow.
  const std::size_t choice = data[0];
  const std::string_view name = text_of(data + 1, size - 1);
  constexpr std::array dialects{"postgresql", "sqlserver", "sqlite"};
  constexpr std::array roles{tableq::role::producer, tableq::role::consumer, tableq::role::owner};
  const char* const with_users = dialects[choice % 2];
  const tableq::role role = roles[choice / 2 % 3];
  const tableq::queue_settings fifo{.kind = tableq::kind::fifo};
  const tableq::queue_settings claim{
      .kind = tableq::kind::claim,
      .claim = {.groups = tableq::group_options{}, .dead_letters = "morgue"}};
  const auto granted = [&](std::string_view user, std::string_view queue, std::string_view schema,
                           const tableq::queue_settings& settings) {
    return tableq::grants(with_users, role, user, queue, settings,
                          {.schema_name = std::string(schema)});
  };
  expect_only_names_differ([&](std::string_view user) { return granted(user, "mail", "s", claim); },
                           name, "harmless user");
  expect_only_names_differ([&](std::string_view queue) { return granted("u", queue, "s", fifo); },
                           name, "harmless");
  expect_only_names_differ(
      [&](std::string_view schema) { return granted("u", "mail", schema, fifo); }, name,
      "harmless");
  const char* const dialect = dialects[choice % 3];
  try {
    const std::string made = tableq::ddl(dialect, name, fifo, {.table_prefix = std::string(name)});
    must(name.size() <= 40, "no name is longer than 40 characters");
    must(name.find_first_of("\"'[];\\ \n") == std::string_view::npos, "a name has no quotes");
    must(made.find(name) != std::string::npos, "the name is in its DDL");
  } catch (const tableq::error&) {  // Most names are refused.
  }
  try {
    static_cast<void>(tableq::ddl(dialect, name, claim));
    must(name.size() <= 40, "no name is longer than 40 characters");
  } catch (const tableq::error&) {  // The same.
  }
  return 0;
}
