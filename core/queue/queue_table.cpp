#include "core/queue/queue_table.hpp"

#include "core/input/identifier.hpp"

namespace tableq::core {
namespace {

look_plan::timing timing_of(kind of) {
  if (of == kind::claim) return look_plan::timing::leases;
  return of == kind::pending ? look_plan::timing::announced : look_plan::timing::none;
}

}  // namespace

queue_table::queue_table(database_state& in, const queue_info& info)
    : database_(in),
      kind_(info.kind),
      ordering_(info.ordering),
      identity_(info.identity),
      names_(names_for(in.options(), info.name)),
      shared_(in.shared(names_, info.identity, timing_of(info.kind))) {}

bool queue_table::needs_lock(statement id) const noexcept {
  // Limits have a lock of their own.
  return ordering_ == ordering::strict && database_.able().strict_needs_lock &&
         changes_messages(id);
}

bool queue_table::changes_messages(statement id) const noexcept {
  const contract& of = contract_of(id);
  return of.writes && of.name.starts_with(to_string(kind_));
}

row_set queue_table::run(connection& session, statement id, std::span<const value> shared,
                         std::span<const value> items) const {
  if (needs_lock(id)) {
    const value identity(identity_);
    session.execute(statement::queue_lock, names_, {&identity, 1}, {});
  }
  if (begins_at_floor(id)) return run_from_floor(session, id, shared);
  if (begins_at_passed(id)) return run_from_passed(session, id, shared);
  return session.execute(id, names_, shared, items);
}

}  // namespace tableq::core
