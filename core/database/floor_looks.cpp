// Looks for the places where reads may begin.
#include <optional>
#include <utility>
#include <vector>

#include "core/database/floor_reads.hpp"
#include "core/database/id_ranges.hpp"
#include "core/seam/floor_statements.hpp"
#include "core/seam/run.hpp"

namespace tableq::inline v0::core {
namespace {

/// The layout from which on processes share what they know of deleted rows.
constexpr int layout_with_floors = 2;

}  // namespace

void floor_reads::look() const noexcept {
  if (!database_.capabilities().deleted_rows_linger) return;
  if (!database_.options().shortcuts.floors) return;
  if (kind_ == kind::pending && !tells_late()) return;
  if (kind_ == kind::lifo) {
    look_for_gaps();
  } else {
    look_for_floors();
  }
}

void floor_reads::look_for_floors() const noexcept {
  try {
    learn();
    const auto asked = shared_.floor.ask(read_floor::clock::now());
    if (!asked) return;
    read_floor::sight seen = kind_ == kind::claim     ? see_levels(*asked)
                             : kind_ == kind::pending ? see_due(*asked)
                                                      : see(*asked);
    shared_.floor.answer(*asked, std::move(seen), read_floor::clock::now());
    tell(shared_.floor.news(read_floor::clock::now()));
  } catch (...) {  // noexcept: the floor stays as it is. The read that follows reports the error.
    shared_.floor.give_up();
  }
}

void floor_reads::look_for_gaps() const noexcept {
  try {
    learn();
    const auto asked = shared_.gaps.ask(read_gaps::clock::now());
    if (!asked) return;
    const id_ranges lists(asked->ranges);
    floor_row seen =
        database_
            .on_session([&](connection& session) {
              return core::run(
                  session, names_, statements::lifo_floor,
                  {.highs = lists.highs(), .lows = lists.lows(), .writers = asked->writers});
            })
            .at(0);
    shared_.gaps.answer(*asked,
                        {.first = seen.first,
                         .writers = std::move(seen.writers).value_or(""),
                         .ended = seen.ended},
                        read_gaps::clock::now());
    tell(shared_.gaps.news(read_gaps::clock::now()));
  } catch (...) {  // noexcept: the same
    shared_.gaps.give_up();
  }
}

/// Begins with what other processes know. Once for a queue; a failure is not repeated.
void floor_reads::learn() const {
  if (shared_.floors_learned.exchange(true)) return;
  std::vector<floors_row> rows;
  if (layout_ >= layout_with_floors) {
    try {
      rows = database_.on_session([&](connection& session) {
        return core::run(session, names_, statements::floors_read,
                         {.queue = queue_, .identity = identity_});
      });
      shared_.floors_shared = true;
    } catch (const error&) {  // Such a user may not read them, and does without.
    }
  }
  const auto told = rows.empty() ? std::nullopt : to_floor_state(rows.front().floors);
  const floor_state* const state = told ? &*told : nullptr;
  const auto age = rows.empty() ? std::chrono::milliseconds{0} : rows.front().age;
  const auto now = look_schedule::clock::now();
  kind_ == kind::lifo ? shared_.gaps.adopt(state, age, now) : shared_.floor.adopt(state, age, now);
}

void floor_reads::tell(const std::optional<floor_state>& news) const {
  if (!news || !shared_.floors_shared) return;
  try {
    const std::string text = to_text(*news);
    database_.on_session([&](connection& session) {
      return core::run(session, names_, statements::floors_write,
                       {.queue = queue_, .identity = identity_, .floors = text});
    });
  } catch (const error&) {  // Such a user may not write them; others do.
    shared_.floors_shared = false;
  }
}

read_floor::sight floor_reads::see(const read_floor::question& asked) const {
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

read_floor::sight floor_reads::see_levels(const read_floor::question& asked) const {
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

read_floor::sight floor_reads::see_due(const read_floor::question& asked) const {
  due_floor_row seen =
      database_
          .on_session([&](connection& session) {
            return core::run(session, names_, statements::pending_floor,
                             {.passed = asked.passed, .writers = asked.writers});
          })
          .at(0);
  return {.first = std::vector<std::optional<read_floor::position>>(asked.levels.size()),
          .due = seen.due,
          .clock = seen.clock,
          .writers = std::move(seen.writers).value_or(""),
          .ended = seen.ended};
}

}  // namespace tableq::inline v0::core
