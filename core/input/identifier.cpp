#include "core/input/identifier.hpp"

#include <algorithm>
#include <functional>
#include <string>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"

namespace tableq::inline v0::core {
namespace {

constexpr std::size_t longest_name = 40;
constexpr std::size_t longest_prefix = 16;

bool lower(char c) noexcept {
  return c >= 'a' && c <= 'z';
}
bool digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Lower case only: some databases fold the case of names and some do not.
/// @param what begins the complaint.
void check_name(std::string_view name, const std::string& what) {
  if (!name.empty() && name.size() <= longest_name &&
      (lower(name.front()) || name.front() == '_') &&
      std::all_of(name.begin(), name.end(), [](char c) {
        return lower(c) || digit(c) || c == '_' || c == '-' || c == '.';
      })) {
    return;
  }
  refuse(what +
         " has 1 to 40 characters of a-z, 0-9, `_`, `-` and `.`, and begins with a letter or `_`");
}

}  // namespace

void check_queue_name(std::string_view name, std::string_view prefix) {
  check_name(name, "a queue's name");
  if (name == "tableq" || name.starts_with("tableq_")) {
    refuse("the queue name `tableq` and those that begin with tableq_ are reserved");
  }
  for (const std::string& table : {std::string(name), std::string(prefix).append(name)}) {
    const std::string_view kept = reserved_beginning(table);
    if (!kept.empty()) refuse("names that begin with " + std::string(kept) + " are reserved");
  }
}

bool good_queue_name(std::string_view name, std::string_view prefix) noexcept {
  try {
    check_queue_name(name, prefix);
    return true;
  } catch (...) {  // noexcept: on any error the name counts as invalid.
    return false;
  }
}

void check_places(const open_options& options, bool schemas) {
  const std::string& prefix = options.table_prefix;
  if (prefix.size() > longest_prefix || (!prefix.empty() && digit(prefix.front())) ||
      !std::all_of(prefix.begin(), prefix.end(),
                   [](char c) { return lower(c) || digit(c) || c == '_'; }) ||
      !reserved_beginning(prefix).empty()) {
    refuse(
        "a table prefix has up to 16 characters of a-z, 0-9 and `_`, does not begin with a digit, "
        "nor with a prefix that a database reserves");
  }
  if (options.schema_name.empty()) return;
  check_name(options.schema_name, "a schema's name");
  if (!schemas) {
    refuse(errc::unsupported, "this database has no schemas; leave schema_name (--schema) out");
  }
}

void check_found_schema(std::string_view name) {
  const bool good = std::all_of(name.begin(), name.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x80 || lower(c) || digit(c) ||
           (c >= 'A' && c <= 'Z') ||
           std::string_view("_-. $@#\\").find(c) != std::string_view::npos;
  });
  if (good) return;
  refuse(errc::unsupported,
         "the schema in which the tables of queues are looked for has quotes, brackets or "
         "other signs in its name; name another one in schema_name");
}

table_names names_for(const open_options& options, std::string_view queue, std::int64_t identity) {
  table_names names{.schema = options.schema_name,
                    .prefix = options.table_prefix,
                    .table = options.table_prefix + std::string(queue)};
  names.identity = identity;
  names.clock = options.clock.get();
  // No name contains a zero.
  std::string all = names.schema;
  all.append(1, '\0').append(names.table).append(1, '\0').append(names.prefix);
  names.slot = std::hash<std::string>()(all);
  return names;
}

table_names names_of(const open_options& options, const queue_info& queue) {
  table_names names = names_for(options, queue.name, queue.identity);
  names.layout = queue.layout;
  names.by_turns = queue.groups && queue.groups->by_turns;
  return names;
}

}  // namespace tableq::inline v0::core
