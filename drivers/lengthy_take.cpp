#include "drivers/lengthy_take.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::drivers {
namespace {

using core::contract_of;
using core::pick_row;
using core::row_set;
using core::statement;

std::vector<pick_row> pick(core::connection& session, const core::table_names& names,
                           std::span<const core::value> shared) {
  return core::rows_of<pick_row>(
      session.execute(contract_of(statement::claim_pick), names, shared, {}));
}

row_set take_picked(core::connection& session, const core::table_names& names,
                    std::span<const core::value> shared) {
  std::vector<core::value> ids;
  for (const pick_row& each : pick(session, names, shared)) ids.push_back(core::to_value(each.id));
  row_set out(core::field_count<core::delivery_row>);
  if (ids.empty()) return out;
  session.execute(contract_of(statement::claim_lease), names, shared, ids);
  out.reserve(ids.size());
  // A trigger of the application may have kept a message from being leased: it is not there.
  const std::array now{shared[contract_of(statement::claim_take).now_at]};
  row_set taken = session.execute(contract_of(statement::claim_taken), names, now, ids);
  for (std::size_t row = 0; row < taken.size(); ++row) out.append_row(taken, row, 1);
  return out;
}

}  // namespace

bool may_be_lengthy(const core::statement_call& take, const capabilities& features) noexcept {
  return take.what->id == statement::claim_take && take.rows.empty() &&
         features.changes_copy_rows &&
         take.shared[core::place_of<core::take_request>("guard")].number == 0;
}

row_set take_lengthy(core::connection& session, const core::table_names& names,
                     std::span<const core::value> shared) {
  // Outside a transaction most takes that find nothing end here, without the write lock.
  if (std::ranges::none_of(pick(session, names, shared), &pick_row::lengthy))
    return row_set(core::field_count<core::delivery_row>);
  if (session.transaction(core::asking::server) != core::transaction_status::none)
    return take_picked(session, names, shared);
  core::unit_of_work unit(session);
  row_set out = take_picked(session, names, shared);
  unit.commit();
  return out;
}

}  // namespace tableq::inline v0::drivers
