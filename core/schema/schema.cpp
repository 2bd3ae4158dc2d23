#include <tableq/schema.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <random>

#include <tableq/unstable/dialect.hpp>

#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"
#include "core/schema/catalog.hpp"
#include "core/seam/catalog_statements.hpp"
#include "core/seam/enum_names.hpp"
#include "core/seam/named.hpp"

namespace tableq::inline v0 {
namespace {

constexpr std::array kinds{kind::heap,    kind::fifo,  kind::lifo,
                           kind::pending, kind::claim, kind::table};

}  // namespace

std::optional<kind> core::known_kind(std::string_view text) {
  return named_among(kinds, text);
}

kind parse_kind(std::string_view text) {
  if (const auto known = core::known_kind(text)) return *known;
  core::refuse("a queue is of one of the kinds heap, fifo, lifo, pending, claim and table");
}

namespace {

/// Checks the names for a text that is made without a connection.
core::table_names checked_names(std::string_view operation, std::string_view dialect,
                                std::string_view queue, const open_options& options) {
  const bool schemas =
      core::named({}, operation, [&] { return find_dialect(dialect).capabilities.schemas; });
  core::named(dialect, operation, [&] {
    core::check_queue_name(queue, options.table_prefix);
    core::check_places(options, schemas);
  });
  return core::names_for(options, queue);
}

/// Whether the statement takes messages of queues whose groups take turns, or of the others.
bool other_take(std::string_view name, bool by_turns) {
  const bool turns = name.starts_with("claim.take_turns");
  return by_turns ? name.starts_with("claim.take") && !turns : turns;
}

}  // namespace

std::map<std::string, std::string> statements(std::string_view dialect, kind queue_kind,
                                              std::string_view queue, const open_options& options) {
  return statements(dialect, queue, {.kind = queue_kind}, options);
}

std::map<std::string, std::string> statements(std::string_view dialect, std::string_view queue,
                                              const queue_settings& settings,
                                              const open_options& options) {
  core::table_names names = checked_names("statements", dialect, queue, options);
  const queue_info info =
      core::named(dialect, "statements", [&] { return core::settle_options(queue, settings); });
  names.by_turns = core::names_of(options, info).by_turns;
  auto out = core::statement_texts(dialect, names);
  std::erase_if(out, [&](const auto& each) {
    const std::string_view name = each.first;
    const std::string_view room = name.substr(0, name.find('.'));
    if (room == to_string(info.kind)) return other_take(name, names.by_turns);
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](kind other) { return room == to_string(other); });
  });
  return out;
}

std::string ddl(std::string_view dialect, std::string_view queue, const queue_settings& settings,
                const open_options& options) {
  core::table_names names = checked_names("ddl", dialect, queue, options);
  const queue_info info =
      core::named(dialect, "ddl", [&] { return core::settle_options(queue, settings); });
  names.by_turns = core::names_of(options, info).by_turns;
  const std::string stored = core::encode_options(info);
  const auto row = core::values_of(core::new_queue_request{.name = queue,
                                                           .identity = core::new_identity(),
                                                           .kind = to_string(info.kind),
                                                           .layout = core::queue_layout,
                                                           .options = stored});
  std::string out = "-- The catalogue, unless it is there.\n";
  out += core::ddl_text(dialect, "catalog", names);
  out += "\n-- The queue.\n";
  out += core::ddl_text(dialect, to_string(info.kind), names);
  if (names.by_turns) out += core::ddl_text(dialect, "turns", names);
  out += "\n-- Tells tableq of it.\n";
  out += core::statement_text(dialect, core::statements::catalog_insert.id, names, row);
  return out + ";\n";
}

}  // namespace tableq::inline v0
