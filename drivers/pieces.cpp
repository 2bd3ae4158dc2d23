#include "drivers/pieces.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
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

bool rises(std::span<const core::value> items, std::size_t width) {
  for (std::size_t i = width; i < items.size(); i += width) {
    if (items[i - width].number >= items[i].number) return false;
  }
  return true;
}

std::vector<std::vector<std::size_t>> rounds_by_id(std::span<const core::value> items,
                                                   std::size_t width) {
  const auto key = [&](std::size_t item) {
    return std::pair(items[item * width].number, items[item * width + 1].number);
  };
  std::vector<std::size_t> places(items.size() / width);
  std::iota(places.begin(), places.end(), std::size_t{0});
  std::ranges::stable_sort(places, {}, key);
  const auto equal = std::ranges::unique(places, {}, key);
  places.erase(equal.begin(), equal.end());
  std::vector<std::vector<std::size_t>> rounds;
  std::size_t round = 0;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const bool same_id = i > 0 && key(places[i]).first == key(places[i - 1]).first;
    round = same_id ? round + 1 : 0;
    if (round == rounds.size()) rounds.emplace_back();
    rounds[round].push_back(places[i]);
  }
  return rounds;
}

}  // namespace tableq::inline v0::drivers
