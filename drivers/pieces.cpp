#include "drivers/pieces.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace tableq::inline v0::drivers {

piece next_piece(std::size_t left, const dialect& definition, std::size_t width) {
  if (definition.batches == batching::loop) return {1, 1};
  const auto& made_for = definition.row_counts;
  const auto last = std::find_if(made_for.begin() + 1, made_for.end(), [&](std::size_t rows) {
    return definition.most_item_values && rows * width > *definition.most_item_values;
  });
  const auto enough = std::lower_bound(made_for.begin(), last, left);
  const std::size_t most = *(last - 1);
  return enough == last ? piece{most, most} : piece{left, *enough};
}

void number_by_id(core::row_set& rows) {
  if (rows.empty() || rows.maybe_integer(0, 0)) return;
  std::vector<std::int64_t> ids;
  ids.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) ids.push_back(rows.integer(i, 1));
  std::sort(ids.begin(), ids.end());
  core::row_set out(rows.width());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out.add(static_cast<std::int64_t>(i));
    out.add(ids[i]);
  }
  rows = std::move(out);
}

}  // namespace tableq::inline v0::drivers
