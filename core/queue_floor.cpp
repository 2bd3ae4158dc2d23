// Reads that begin where nothing is left before, on databases whose deleted rows linger.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/queue_state.hpp"

namespace tableq::core {
namespace {

/// The parts that a read of a claim queue looks through, one after the other, as lists of numbers:
/// the levels from `highs` down to `lows`, each from its floor on.
class parts {
 public:
  explicit parts(std::span<const low_water::level_floor> levels) {
    low_water::position high = std::numeric_limits<std::int32_t>::max();
    constexpr low_water::position low = std::numeric_limits<std::int32_t>::min();
    for (const auto& [level, floor] : levels) {
      if (floor == low_water::lowest) continue;
      if (level < high) add(high, level + 1, "NULL");
      add(level, level, std::to_string(floor));
      high = level - 1;
    }
    if (high >= low) add(high, low, "NULL");
  }

  [[nodiscard]] const std::string& highs() const noexcept { return highs_; }
  [[nodiscard]] const std::string& lows() const noexcept { return lows_; }
  [[nodiscard]] const std::string& floors() const noexcept { return floors_; }

 private:
  void add(low_water::position high, low_water::position low, const std::string& floor) {
    const char* const comma = highs_.empty() ? "" : ",";
    highs_.append(comma).append(std::to_string(high));
    lows_.append(comma).append(std::to_string(low));
    floors_.append(comma).append(floor);
  }

  std::string highs_;
  std::string lows_;
  std::string floors_;
};

/// What a read got, by levels. What does not fit is only read from the start.
class catches {
 public:
  void add(low_water::position level, low_water::position id, bool came_back) noexcept {
    auto* const end = all_.begin() + static_cast<std::ptrdiff_t>(count_);
    auto* const found =
        std::find_if(all_.begin(), end, [&](const auto& x) { return x.level == level; });
    if (found == all_.end()) return;
    if (found == end) {
      *found = {.level = level};
      ++count_;
    }
    ++found->count;
    found->last = std::max(found->last, id);
    if (!came_back) found->first = std::min(found->first.value_or(id), id);
  }
  [[nodiscard]] std::span<const low_water::catch_of> all() const noexcept {
    return std::span(all_).first(count_);
  }

 private:
  std::array<low_water::catch_of, low_water::most_levels> all_ = {};
  std::size_t count_ = 0;
};

template <class Column>
constexpr std::size_t place_of(Column c) {
  return static_cast<std::size_t>(c);
}

catches caught(const row_set& rows, statement id) {
  catches out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (id != statement::claim_take) {
      out.add(0, rows.integer(i, place_of(message_column::id)), false);
      continue;
    }
    // The first take makes a count of 1 in the upper half. What was moved back counts one more.
    constexpr std::int64_t second = std::int64_t{2} << 32U;
    out.add(rows.integer(i, place_of(delivery_column::priority)),
            rows.integer(i, place_of(delivery_column::id)),
            rows.integer(i, place_of(delivery_column::fence)) >= second);
  }
  return out;
}

/// Fills in what only queue_state knows.
void tell(std::span<value> given, statement id, std::string_view name, const value& what) {
  const std::span<const field> fields = contract_of(id).shared;
  const auto at = std::ranges::find(fields, name, &field::name) - fields.begin();
  given[static_cast<std::size_t>(at)] = what;
}

}  // namespace

row_set queue_state::read_from_floor(connection& session, statement id,
                                     std::span<const value> shared) const {
  const low_water::start from = watched_.low.begin(low_water::clock::now());
  std::vector<value> given(shared.begin(), shared.end());
  std::optional<parts> where;  // until the statement has run
  if (id == statement::claim_take) {
    where.emplace(from.levels);
    tell(given, id, "highs", value(std::string_view(where->highs())));
    tell(given, id, "lows", value(std::string_view(where->lows())));
    tell(given, id, "floors", value(std::string_view(where->floors())));
    tell(given, id, "oldest", value(from.oldest));
    tell(given, id, "passed", passed(from.passed));
  } else {
    const bool known = !from.levels.empty();
    tell(given, id, "floor", value(known ? from.levels.front().floor : low_water::lowest));
  }
  row_set rows = session.execute(id, names_, given, {});
  watched_.low.end(from, caught(rows, id).all(), low_water::clock::now());
  return rows;
}

row_set queue_state::look_from_passed(connection& session, statement id,
                                      std::span<const value> shared) const {
  std::vector<value> given(shared.begin(), shared.end());
  tell(given, id, "passed", passed(watched_.low.passed(id == statement::claim_promote)));
  return session.execute(id, names_, given, {});
}

value queue_state::passed(std::int64_t until) const {
  // A clock that is set by a test goes where it likes.
  return value(database_->now().is == value::shape::null ? until : low_water::lowest);
}

void queue_state::raise_floor() const noexcept {
  if (!database_->able().deleted_rows_linger) return;
  std::optional<low_water::question> asked;
  try {
    asked = watched_.low.ask(low_water::clock::now());
    if (!asked) return;
    watched_.low.answer(*asked, info_.kind == kind::claim ? see_levels(*asked) : see(*asked));
  } catch (...) {  // The floor stays where it is. What is wrong, the read that follows will tell.
    watched_.low.give_up();
  }
}

low_water::sight queue_state::see(const low_water::question& asked) const {
  const value floor(asked.levels.front().floor);
  const row_set rows = database_->on_session([&](connection& session) {
    return session.execute(statement::queue_floor, names_, {&floor, 1}, {});
  });
  return {.first = {rows.maybe_integer(0, 0)},
          .oldest = rows.maybe_integer(0, 0),
          .oldest_running = rows.integer(0, 1),
          .next = rows.integer(0, 2)};
}

low_water::sight queue_state::see_levels(const low_water::question& asked) const {
  enum floor_column : std::size_t { item, first, oldest, due, clock, oldest_running, next };
  const value now = database_->now();
  const std::array shared{value(asked.oldest), passed(asked.passed), now};
  std::vector<value> items;
  for (const auto& [level, floor] : asked.levels) {
    items.emplace_back(level);
    items.emplace_back(floor);
  }
  const row_set rows = database_->on_session([&](connection& session) {
    return session.execute(statement::claim_floor, names_, shared, items);
  });
  low_water::sight out{
      .first = std::vector<std::optional<low_water::position>>(asked.levels.size()),
      .oldest = rows.maybe_integer(0, oldest),
      .oldest_running = rows.integer(0, oldest_running),
      .next = rows.integer(0, next)};
  if (now.is == value::shape::null) {
    out.due = rows.maybe_integer(0, due);
    out.clock = rows.integer(0, clock);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.first.at(static_cast<std::size_t>(rows.integer(i, item))) = rows.maybe_integer(i, first);
  }
  return out;
}

}  // namespace tableq::core
