// Reads that begin at the floor, on databases whose deleted rows linger.
#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "core/database/queue_table.hpp"
#include "core/seam/claim_statements.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/queue_statements.hpp"
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

}  // namespace

row_set queue_table::run_from_floor(connection& session, const contract& what,
                                    std::span<const value> shared) const {
  const read_floor::start where = shared_->floor.begin(read_floor::clock::now());
  std::vector<value> given(shared.begin(), shared.end());
  std::optional<parts> lists;  // must live until the statement has run
  if (what.begins == beginning::levels) {
    lists.emplace(where.levels);
    given[place_of<take_request>("highs")] = to_value(std::string_view(lists->highs()));
    given[place_of<take_request>("lows")] = to_value(std::string_view(lists->lows()));
    given[place_of<take_request>("floors")] = to_value(std::string_view(lists->floors()));
    given[place_of<take_request>("oldest")] = to_value(where.oldest);
    given[place_of<take_request>("passed")] = to_value(passed(where.passed));
  } else {
    given[place_of<floor_read_request>("floor")] =
        to_value(where.levels.empty() ? read_floor::lowest : where.levels.front().floor);
  }
  row_set rows = session.execute(what, names_, given, {});
  shared_->floor.end(where, results_of(rows, what.begins).all(), read_floor::clock::now());
  return rows;
}

row_set queue_table::run_from_passed(connection& session, const contract& what,
                                     std::span<const value> shared) const {
  std::vector<value> given(shared.begin(), shared.end());
  const bool promotes = what.id == statement::claim_promote;
  const std::size_t at =
      promotes ? place_of<promote_request>("passed") : place_of<due_request>("passed");
  given[at] = to_value(passed(shared_->floor.passed(promotes)));
  return session.execute(what, names_, given, {});
}

std::int64_t queue_table::passed(std::int64_t until) const {
  // A clock that a test sets can go back.
  return database_.now() ? read_floor::lowest : until;
}

void queue_table::prepare(const contract& what) const noexcept {
  if (what.begins == beginning::floor || what.begins == beginning::levels) raise_floor();
}

void queue_table::raise_floor() const noexcept {
  if (!database_.capabilities().deleted_rows_linger) return;
  if (!database_.options().shortcuts.floors) return;
  std::optional<read_floor::question> asked;
  try {
    asked = shared_->floor.ask(read_floor::clock::now());
    if (!asked) return;
    read_floor::sight seen = kind_ == kind::claim ? see_levels(*asked) : see(*asked);
    shared_->floor.answer(*asked, std::move(seen), read_floor::clock::now());
  } catch (...) {  // noexcept: the floor stays as it is. The read that follows reports the error.
    shared_->floor.give_up();
  }
}

read_floor::sight queue_table::see(const read_floor::question& asked) const {
  floor_row seen =
      database_
          .on_session([&](connection& session) {
            return core::run(session, names_, statements::queue_floor,
                             {.floor = asked.levels.front().floor, .writers = asked.writers});
          })
          .at(0);
  return {.first = {seen.first},
          .oldest = seen.first,
          .writers = std::move(seen.writers).value_or(""),
          .ended = seen.ended};
}

read_floor::sight queue_table::see_levels(const read_floor::question& asked) const {
  const std::optional<timestamp> now = database_.now();
  std::vector<level_item> levels;
  for (const auto& [level, floor] : asked.levels) levels.push_back({level, floor});
  auto rows = database_.on_session([&](connection& session) {
    return core::run(session, names_, statements::claim_floor,
                     {.oldest = asked.oldest,
                      .passed = passed(asked.passed),
                      .writers = asked.writers,
                      .now = now},
                     levels);
  });
  level_row& any = rows.at(0);
  read_floor::sight out{
      .first = std::vector<std::optional<read_floor::position>>(asked.levels.size()),
      .oldest = any.oldest,
      .writers = std::move(any.writers).value_or(""),
      .ended = any.ended};
  if (!now) {
    out.due = any.due;
    out.clock = any.clock;
  }
  for (const auto& row : rows) out.first.at(row.item) = row.first;
  return out;
}

}  // namespace tableq::inline v0::core
