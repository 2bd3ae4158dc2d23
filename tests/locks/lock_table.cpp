#include "locks/lock_table.hpp"

#include <algorithm>

namespace tableq_test::locks {

bool compatible(const lock_mode& one, const lock_mode& other) {
  const bool gaps = one.gap == gap_part::none || other.gap == gap_part::none ||
                    (one.gap == other.gap && one.gap != gap_part::exclusive);
  const auto weaker = std::min(one.entry, other.entry);
  const auto stronger = std::max(one.entry, other.entry);
  const bool entries = weaker == entry_part::none ||
                       (weaker == entry_part::shared && stronger != entry_part::exclusive);
  return gaps && entries;
}

lock_mode both(const lock_mode& one, const lock_mode& other) {
  return {std::max(one.gap, other.gap), std::max(one.entry, other.entry)};
}

std::set<int> lock_table::holders_against(const std::string& resource, int who,
                                          const lock_mode& mode) const {
  std::set<int> out;
  const auto place = held_.find(resource);
  if (place == held_.end()) return out;
  for (const auto& [holder, has] : place->second) {
    if (holder != who && !compatible(has, mode)) out.insert(holder);
  }
  return out;
}

lock_mode lock_table::hold(const std::string& resource, int who, const lock_mode& mode) {
  lock_mode& has = held_[resource][who];
  const lock_mode before = has;
  has = both(has, mode);
  return before;
}

void lock_table::lower(const std::string& resource, int who, const lock_mode& mode) {
  if (mode.gap == gap_part::none && mode.entry == entry_part::none) {
    held_[resource].erase(who);
  } else {
    held_[resource][who] = mode;
  }
}

void lock_table::release_all(int who) {
  for (auto& [resource, holders] : held_) holders.erase(who);
}

bool lock_table::holds_below(std::string_view prefix, int who) const {
  return std::any_of(held_.begin(), held_.end(), [&](const auto& each) {
    const auto mine = each.second.find(who);
    return each.first.starts_with(prefix) && mine != each.second.end() &&
           mine->second.entry >= entry_part::update;
  });
}

}  // namespace tableq_test::locks
