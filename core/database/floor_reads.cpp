#include "core/database/floor_reads.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/database/id_ranges.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/floor_statements.hpp"
#include "core/seam/run.hpp"

namespace tableq::inline v0::core {
namespace {

/// The parts that a read of a claim queue searches, one after the other, as lists of numbers: the
/// levels from `highs` down to `lows`, each from its floor on.
class parts {
 public:
  explicit parts(std::span<const read_floor::level_floor> levels) {
    read_floor::position high = std::numeric_limits<std::int32_t>::max();
    constexpr read_floor::position low = std::numeric_limits<std::int32_t>::min();
    for (const auto& [level, floor] : levels) {
      if (floor == read_floor::lowest) continue;
      if (level < high) add(high, level + 1, read_floor::lowest);
      add(level, level, floor);
      high = level - 1;
    }
    if (high >= low) add(high, low, read_floor::lowest);
  }

  [[nodiscard]] const std::string& highs() const noexcept { return highs_; }
  [[nodiscard]] const std::string& lows() const noexcept { return lows_; }
  [[nodiscard]] const std::string& floors() const noexcept { return floors_; }

 private:
  void add(read_floor::position high, read_floor::position low, read_floor::position floor) {
    const char* const comma = highs_.empty() ? "" : ",";
    highs_.append(comma).append(std::to_string(high));
    lows_.append(comma).append(std::to_string(low));
    floors_.append(comma).append(std::to_string(floor));
  }

  std::string highs_;
  std::string lows_;
  std::string floors_;
};

/// The results of a read, by level. Levels without a place get no floor.
class level_results {
 public:
  void add(read_floor::position level, read_floor::position id, bool returned) noexcept {
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
    if (!returned) found->first = std::min(found->first.value_or(id), id);
  }
  [[nodiscard]] std::span<const read_floor::level_result> all() const noexcept {
    return std::span(all_).first(count_);
  }

 private:
  std::array<read_floor::level_result, read_floor::most_levels> all_ = {};
  std::size_t count_ = 0;
};

/// The results of a take or of a destructive read.
level_results results_of(const row_set& rows, beginning begins) {
  level_results out;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (begins == beginning::floor) {
      out.add(0, rows.integer(i, place_of<message_row>("id")), false);
      continue;
    }
    // The upper half of a fence counts leases: 1 after the first take, more if the message was
    // returned.
    constexpr std::int64_t second = std::int64_t{2} << 32U;
    out.add(rows.integer(i, place_of<delivery_row>("priority")),
            rows.integer(i, place_of<delivery_row>("id")),
            rows.integer(i, place_of<delivery_row>("fence")) >= second);
  }
  return out;
}

/// The same statement for a user who may read the floors, and so the columns that it needs.
const contract& with_floors(const contract& what) {
  if (what.id == statement::claim_stats) return contract_of(statement::claim_stats_from);
  if (what.id == statement::claim_count) return contract_of(statement::claim_count_from);
  return what;
}

}  // namespace

floor_reads::floor_reads(database_state& database, const queue_info& info, const table_names& names,
                         shared_queue& shared)
    : database_(database),
      kind_(info.kind),
      layout_(info.layout),
      queue_(info.name),
      identity_(info.identity),
      names_(names),
      shared_(shared) {}

row_set floor_reads::run(connection& session, const contract& what, std::span<const value> shared,
                         std::span<const value> items) const {
  if (database_.capabilities().deleted_rows_linger) {
    switch (what.begins) {
      case beginning::floor:
        return from_floor(session, what, shared);
      case beginning::levels:
        return from_levels(session, what, shared);
      case beginning::passed:
        return from_passed(session, what, shared);
      case beginning::due:
        if (tells_late()) return from_due(session, what, shared);
        break;
      case beginning::around:
        return around_gaps(session, what, shared);
      case beginning::glance:
        return from_glance(session, what, shared);
      case beginning::front:
        break;
    }
  }
  return session.execute(what, names_, shared, items);
}

row_set floor_reads::from_floor(connection& session, const contract& what,
                                std::span<const value> shared) const {
  const read_floor::start where = shared_.floor.begin(read_floor::clock::now());
  std::vector<value> given(shared.begin(), shared.end());
  given[place_of<floor_read_request>("floor")] =
      to_value(where.levels.empty() ? read_floor::lowest : where.levels.front().floor);
  row_set rows = session.execute(what, names_, given, {});
  shared_.floor.end(where, results_of(rows, what.begins).all(), read_floor::clock::now());
  note_start(where.everything, where.at);
  return rows;
}

row_set floor_reads::from_levels(connection& session, const contract& what,
                                 std::span<const value> shared) const {
  const read_floor::start where = shared_.floor.begin(read_floor::clock::now());
  row_set rows;
  if (where.one_level && shared[place_of<take_request>("max")].number == 1) {
    rows = from_level(session, where, shared);
    if (rows.empty()) shared_.floor.search_all();
  }
  if (rows.empty()) rows = from_places(session, what, shared, where);
  shared_.floor.end(where, results_of(rows, what.begins).all(), read_floor::clock::now());
  note_start(where.everything, where.at);
  return rows;
}

row_set floor_reads::from_places(connection& session, const contract& what,
                                 std::span<const value> shared,
                                 const read_floor::start& where) const {
  const parts lists(where.levels);  // must live until the statement has run
  std::vector<value> given(shared.begin(), shared.end());
  if (what.highs_at != contract::no_place) {
    given[what.highs_at] = to_value(std::string_view(lists.highs()));
    given[what.highs_at + 1] = to_value(std::string_view(lists.lows()));
    given[what.highs_at + 2] = to_value(std::string_view(lists.floors()));
  }
  if (what.oldest_at != contract::no_place) given[what.oldest_at] = to_value(where.oldest);
  if (what.passed_at != contract::no_place) given[what.passed_at] = to_value(passed(where.passed));
  return session.execute(what, names_, given, {});
}

row_set floor_reads::from_glance(connection& session, const contract& what,
                                 std::span<const value> shared) const {
  // The floor of a queue of delayed messages is a time, and a stack has gaps.
  if (kind_ == kind::pending || kind_ == kind::lifo) return from_places(session, what, shared, {});
  const read_floor::start where = shared_.floor.glance(read_floor::clock::now());
  row_set rows =
      from_places(session, shared_.floors_readable ? with_floors(what) : what, shared, where);
  shared_.floor.glanced(where, read_floor::clock::now());
  note_start(where.everything, where.at);
  learn_again();  // In a transaction it has not learned before.
  return rows;
}

/// Takes one message of the only level.
/// @return none, if another message may come first, or none is left there.
row_set floor_reads::from_level(connection& session, const read_floor::start& where,
                                std::span<const value> shared) const {
  constexpr std::size_t same = place_of<take_level_request>("level");
  static_assert(same == place_of<take_request>("highs"), "both begin with the same fields");
  std::array<value, field_count<take_level_request>> given;
  std::copy_n(shared.begin(), same, given.begin());
  given[same] = to_value(where.levels.front().level);
  given[place_of<take_level_request>("floor")] = to_value(where.levels.front().floor);
  given[place_of<take_level_request>("oldest")] = to_value(where.oldest);
  given[place_of<take_level_request>("passed")] = to_value(passed(where.passed));
  return session.execute(contract_of(statement::claim_take_level), names_, given, {});
}

row_set floor_reads::from_passed(connection& session, const contract& what,
                                 std::span<const value> shared) const {
  return from_places(session, what, shared, shared_.floor.due(what.writes));
}

row_set floor_reads::from_due(connection& session, const contract& what,
                              std::span<const value> shared) const {
  if (!what.writes) {
    const std::array given{to_value(passed(shared_.floor.due(false).passed)), value()};
    return session.execute(contract_of(statement::pending_next_due_from), names_, given, {});
  }
  const read_floor::start where = shared_.floor.begin(read_floor::clock::now());
  const std::array given{shared[place_of<timed_read_request>("max")],
                         to_value(passed(where.passed)), value()};
  row_set rows = session.execute(contract_of(statement::pending_dequeue_from), names_, given, {});
  shared_.floor.end(where, results_of(rows, beginning::floor).all(), read_floor::clock::now());
  note_start(where.everything, where.at);
  return rows;
}

row_set floor_reads::around_gaps(connection& session, const contract& what,
                                 std::span<const value> shared) const {
  const read_gaps::start where = shared_.gaps.begin(read_gaps::clock::now());
  row_set rows;
  if (where.ranges.size() == 1) {
    rows = session.execute(what, names_, shared, {});
  } else {
    const id_ranges lists(where.ranges);  // must live until the statement has run
    const std::array given{shared[place_of<count_request>("max")],
                           to_value(std::string_view(lists.highs())),
                           to_value(std::string_view(lists.lows()))};
    rows = session.execute(contract_of(statement::lifo_dequeue_around), names_, given, {});
  }
  std::vector<read_gaps::position> ids;
  ids.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i)
    ids.push_back(rows.integer(i, place_of<message_row>("id")));
  shared_.gaps.end(where, ids, read_gaps::clock::now());
  note_start(where.everything, where.at);
  return rows;
}

std::int64_t floor_reads::passed(std::int64_t until) const {
  // A clock that a test sets can go back.
  return database_.now() ? read_floor::lowest : until;
}

bool floor_reads::tells_late() const noexcept {
  return layout_ >= layout_with_floors && !database_.now();
}

}  // namespace tableq::inline v0::core
