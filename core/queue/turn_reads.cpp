#include "core/queue/turn_reads.hpp"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <vector>

#include "core/seam/contract.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {

row_set take_by_turns(connection& session, const table_names& names,
                      std::span<const value> shared) {
  row_set rows = session.execute(contract_of(statement::claim_take_turns), names, shared, {});
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // ~ reverses the order for every number. No database guarantees an order for changed rows.
  std::ranges::sort(order, std::less<>(), [&](std::size_t row) {
    return std::tuple(~rows.integer(row, place_of<turn_row>("priority")),
                      rows.integer(row, place_of<turn_row>("ready_at")),
                      rows.integer(row, place_of<turn_row>("id")));
  });
  row_set out(field_count<delivery_row>);
  out.reserve(rows.size());
  for (const std::size_t row : order) {
    for (std::size_t i = 0; i < out.width(); ++i) out.add(rows.take(row, i));
  }
  return out;
}

}  // namespace tableq::inline v0::core
