#include "core/queue/queue_table.hpp"

#include <utility>

#include "core/seam/contract.hpp"

#include "core/input/identifier.hpp"
#include "core/queue/reads.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

poll_plan::timing timing_of(kind queue_kind) {
  if (queue_kind == kind::claim || queue_kind == kind::table) return poll_plan::timing::leases;
  return queue_kind == kind::pending ? poll_plan::timing::announced : poll_plan::timing::none;
}

table_names placed(table_names names, const database_state& database) {
  names.sharded = database.sharded();
  return names;
}

}  // namespace

queue_table::queue_table(database_state& database, const queue_info& info)
    : queue_table(database, info, names_of(database.options(), info)) {}

queue_table::queue_table(database_state& database, const queue_info& info, table_names names)
    : database_(database),
      ordering_(info.ordering),
      identity_(info.identity),
      names_(placed(std::move(names), database)),
      shared_(database.shared(names_, timing_of(info.kind))) {}

bool queue_table::needs_lock(const contract& what) const noexcept {
  return ordering_ == ordering::strict && database_.capabilities().strict_needs_lock &&
         what.changes_messages;
}

row_set queue_table::run(connection& session, const contract& what, std::span<const value> shared,
                         std::span<const value> items) const {
  if (needs_lock(what)) {
    core::run(session, names_, statements::queue_lock, {.identity = identity_});
  }
  const bool takes = what.id == statement::claim_take;
  const contract& wanted =
      takes && names_.by_turns ? contract_of(statement::claim_take_turns) : what;
  row_set rows = session.execute(wanted, names_, shared, items);
  if (takes && rows.empty() && database_.capabilities().changes_copy_rows &&
      shared[place_of<take_request>("guard")].number == 0) {
    return take_lengthy(session, names_, shared);
  }
  put_in_order(rows, wanted.id);
  return rows;
}

}  // namespace tableq::inline v0::core
