#include "drivers/postgresql/floor/places.hpp"

#include <algorithm>
#include <locale>
#include <sstream>

namespace tableq::inline v0::drivers::postgresql {

position places::reached() const noexcept {
  if (line != lowest) return line;
  position id = oldest;
  for (const level& each : levels) id = std::max(id, each.floor);
  return id == lowest ? passed : id;
}

std::string to_text(const shared_places& told) {
  const places& of = told.where;
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out << told.read_in << ' ' << told.glance_in << ' ' << of.oldest << ' ' << of.passed << ' '
      << lowest << ' ' << highest;  // Two places of older versions, which know nothing by these.
  for (const level& each : of.levels) out << ' ' << each.priority << ' ' << each.floor;
  if (of.line != lowest) out << ' ' << of.line;
  return out.str();
}

std::optional<shared_places> to_places(std::string_view text) {
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());
  shared_places told;
  places& of = told.where;
  position of_older_versions = 0;
  in >> told.read_in >> told.glance_in >> of.oldest >> of.passed;
  in >> of_older_versions >> of_older_versions;
  if (!in) return std::nullopt;
  for (level next; in >> next.priority;) {
    if (in >> next.floor) {
      of.levels.push_back(next);
    } else {
      of.line = next.priority;
    }
  }
  const auto rises = [](const level& one, const level& next) {
    return one.priority <= next.priority;
  };
  const bool good = in.eof() && std::ranges::adjacent_find(of.levels, rises) == of.levels.end();
  return good ? std::optional(told) : std::nullopt;
}

void range_lists::add(position high, position low, position floor) {
  const char* const comma = highs.empty() ? "" : ",";
  highs.append(comma).append(std::to_string(high));
  lows.append(comma).append(std::to_string(low));
  floors.append(comma).append(std::to_string(floor));
}

range_lists line_of(const places& where, bool by_turns) {
  range_lists out;
  const position front = by_turns ? where.line : where.oldest;
  position high = std::numeric_limits<std::int32_t>::max();
  constexpr position low = std::numeric_limits<std::int32_t>::min();
  for (const auto& [priority, floor] : where.levels) {
    if (priority < high) out.add(high, priority + 1, front);
    out.add(priority, priority, by_turns ? front : std::max(floor, front));
    high = priority - 1;
  }
  if (high >= low) out.add(high, low, front);
  return out;
}

std::optional<level> only_level(const places& where, bool by_turns) {
  if (where.levels.size() != 1) return std::nullopt;
  level out = where.levels.front();
  out.floor = by_turns ? where.line : std::max(out.floor, where.oldest);
  return out;
}

}  // namespace tableq::inline v0::drivers::postgresql
