#include <tableq/schema.hpp>

#include <algorithm>
#include <array>
#include <random>

#include <tableq/dialect.hpp>

#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"
#include "core/schema/catalog.hpp"
#include "core/seam/catalog_statements.hpp"
#include "core/seam/named.hpp"

namespace tableq::inline v0 {
namespace {

constexpr std::array kinds{kind::heap,    kind::fifo,  kind::lifo,
                           kind::pending, kind::claim, kind::table};

}  // namespace

std::string_view to_string(kind value) noexcept {
  switch (value) {
    case kind::heap:
      return "heap";
    case kind::fifo:
      return "fifo";
    case kind::lifo:
      return "lifo";
    case kind::pending:
      return "pending";
    case kind::claim:
      return "claim";
    case kind::table:
      return "table";
  }
  return "heap";
}

kind parse_kind(std::string_view text) {
  for (const kind one : kinds) {
    if (text == to_string(one)) return one;
  }
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

}  // namespace

std::map<std::string, std::string> statements(std::string_view dialect, kind queue_kind,
                                              std::string_view queue, const open_options& options) {
  auto out = core::statement_texts(dialect, checked_names("statements", dialect, queue, options));
  std::erase_if(out, [&](const auto& each) {
    const std::string_view room = std::string_view(each.first).substr(0, each.first.find('.'));
    return room != to_string(queue_kind) &&
           std::any_of(kinds.begin(), kinds.end(),
                       [&](kind other) { return room == to_string(other); });
  });
  return out;
}

std::string ddl(std::string_view dialect, std::string_view queue, const queue_settings& settings,
                const open_options& options) {
  const core::table_names names = checked_names("ddl", dialect, queue, options);
  const queue_info info =
      core::named(dialect, "ddl", [&] { return core::settle_options(queue, settings); });
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
  out += "\n-- Tells tableq of it.\n";
  out += core::statement_text(dialect, core::statements::catalog_insert.id, names, row);
  return out + ";\n";
}

}  // namespace tableq::inline v0
