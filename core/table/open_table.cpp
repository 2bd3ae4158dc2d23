#include "core/table/open_table.hpp"

#include <chrono>
#include <string>
#include <utility>

#include "core/base/process.hpp"
#include "core/input/identifier.hpp"
#include "core/table/column_checks.hpp"
#include "core/table/description.hpp"
#include "core/table/mapped_table.hpp"

namespace tableq::inline v0::core {
namespace {

/// Of a mapping without leases: no worker extends them.
constexpr std::chrono::hours endless{24 * 365};

/// The handles of one table and key share their waiting readers.
table_names names_of(const database_state& database, const mapped_table& table) {
  const table_layout& layout = table.layout();
  // No queue of tableq has such a name.
  table_names names = names_for(database.options(), "table " + layout.schema + "." + layout.table,
                                table.identity());
  names.schema = layout.schema;
  names.table = layout.table;
  return names;
}

}  // namespace

std::shared_ptr<queue_state> open_table(const std::shared_ptr<database_state>& database,
                                        std::string_view name, const table_mapping& mapping,
                                        std::string_view queue_name) {
  const table_description found = describe(*database, mapping.schema, name);
  table_layout layout = resolve(found, mapping);
  check_columns(layout);
  auto table = std::make_shared<const mapped_table>(database->name(), std::move(layout), mapping);
  queue_info info{.name = queue_name.empty() ? found.name : std::string(queue_name),
                  .kind = kind::table};
  info.identity = table->identity();
  info.ordering = mapping.ordering;
  info.lease = table->layout().lease_until ? table->layout().lease : endless;
  info.max_attempts = table->layout().max_attempts.value_or(1'000'000);
  const table_names names = names_of(*database, *table);
  auto* const state = new queue_state(database, std::move(info), names, std::move(table));
  return {state, end_at_home()};
}

}  // namespace tableq::inline v0::core
