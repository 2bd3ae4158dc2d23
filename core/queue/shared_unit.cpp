#include "core/queue/shared_unit.hpp"

#include <memory>

#include "core/queue/table_call.hpp"

namespace tableq::inline v0::core {
namespace {

/// Of no statement, so that none is combined with it.
const contract& contract_of_units() {
  static const contract unit = [] {
    contract out = contract_of(statement::claim_complete);
    out.slot = ~out.slot;
    out.exact = true;
    return out;
  }();
  return unit;
}

std::unique_ptr<transaction_state> part_of(const queue_table& table, connection& session,
                                           const std::function<void(transaction_state&)>& work) {
  auto part = std::make_unique<transaction_state>(table.database().shared_from_this(), session);
  work(*part);
  part->end_part();
  return part;
}

}  // namespace

void in_shared_unit(const queue_table& table, const std::function<void(transaction_state&)>& work) {
  database_state& database = table.database();
  if (database.capabilities().one_writer && database.options().shortcuts.combining) {
    std::unique_ptr<transaction_state> part;  // of the last attempt
    const std::function<void(connection&)> attempt = [&](connection& session) {
      part = part_of(table, session, work);
    };
    table_call call(table, contract_of_units(), attempt);
    table.combiner_of(lane::complete).run(call, run_together);
    part->committed_by_owner();
    return;
  }
  std::unique_ptr<transaction_state> part;
  {
    const leased_session session = database.sessions().lease();
    unit_of_work unit(*session);
    part = part_of(table, *session, work);
    unit.commit();
  }
  part->committed_by_owner();  // may need a session
}

}  // namespace tableq::inline v0::core
