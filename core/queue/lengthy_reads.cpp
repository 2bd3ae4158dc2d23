#include "core/queue/lengthy_reads.hpp"

#include <array>
#include <vector>

#include "core/database/database_state.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// Of claim.pick.
bool has_lengthy(const row_set& picked) {
  for (std::size_t row = 0; row < picked.size(); ++row) {
    if (picked.integer(row, place_of<pick_row>("lengthy")) != 0) return true;
  }
  return false;
}

row_set take_picked(connection& session, const table_names& names, std::span<const value> shared) {
  const row_set picked = session.execute(contract_of(statement::claim_pick), names, shared, {});
  std::vector<value> ids;
  ids.reserve(picked.size());
  for (std::size_t row = 0; row < picked.size(); ++row) {
    ids.push_back(to_value(picked.at(row, place_of<pick_row>("id"))));
  }
  row_set out(field_count<delivery_row>);
  if (ids.empty()) return out;
  session.execute(contract_of(statement::claim_lease), names, shared, ids);
  out.reserve(ids.size());
  // A trigger of the application may have kept a message from being leased: it is not there.
  const std::array now{shared[place_of<take_request>("now")]};
  row_set taken = session.execute(contract_of(statement::claim_taken), names, now, ids);
  for (std::size_t row = 0; row < taken.size(); ++row) {
    for (std::size_t i = 0; i < out.width(); ++i) out.add(taken.take(row, i + 1));
  }
  return out;
}

}  // namespace

row_set take_lengthy(connection& session, const table_names& names, std::span<const value> shared) {
  // Outside a transaction most takes that find nothing end here, without the write lock.
  if (!has_lengthy(session.execute(contract_of(statement::claim_pick), names, shared, {})))
    return row_set(field_count<delivery_row>);
  if (transaction_of(session) != transaction_status::none)
    return take_picked(session, names, shared);
  unit_of_work unit(session);
  row_set out = take_picked(session, names, shared);
  unit.commit();
  return out;
}

}  // namespace tableq::inline v0::core
