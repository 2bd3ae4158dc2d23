#include "core/database/queue_table.hpp"

#include <utility>

#include "core/seam/contract.hpp"

#include "core/input/identifier.hpp"
#include "core/seam/catalog_statements.hpp"
#include "core/seam/run.hpp"

namespace tableq::inline v0::core {
namespace {

poll_plan::timing timing_of(kind queue_kind) {
  if (queue_kind == kind::claim || queue_kind == kind::table) return poll_plan::timing::leases;
  return queue_kind == kind::pending ? poll_plan::timing::announced : poll_plan::timing::none;
}

}  // namespace

queue_table::queue_table(database_state& database, const queue_info& info)
    : queue_table(database, info, names_for(database.options(), info.name, info.identity)) {}

queue_table::queue_table(database_state& database, const queue_info& info, table_names names)
    : database_(database),
      ordering_(info.ordering),
      identity_(info.identity),
      names_(std::move(names)),
      shared_(database.shared(names_, timing_of(info.kind))),
      reads_(database, info, names_, *shared_) {}

bool queue_table::needs_lock(const contract& what) const noexcept {
  return ordering_ == ordering::strict && database_.capabilities().strict_needs_lock &&
         what.changes_messages;
}

row_set queue_table::run(connection& session, const contract& what, std::span<const value> shared,
                         std::span<const value> items) const {
  if (needs_lock(what)) {
    core::run(session, names_, statements::queue_lock, {.identity = identity_});
  }
  return reads_.run(session, what, shared, items);
}

void queue_table::prepare(const contract& what, floor_reads::patience for_session) const noexcept {
  if (what.writes && what.begins != beginning::front && what.begins != beginning::passed) {
    reads_.look(for_session);
  }
}

}  // namespace tableq::inline v0::core
