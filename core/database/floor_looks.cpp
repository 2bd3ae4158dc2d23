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

/// Other processes need not repeat a read that took as long.
constexpr std::chrono::milliseconds slow_start{20};

}  // namespace

template <class Work>
auto floor_reads::on_session(patience for_session, Work work) const {
  if (for_session == patience::waits) return database_.on_session(work);
  const leased_session session = database_.sessions().lease(std::chrono::milliseconds{0});
  return work(*session);
}

void floor_reads::look(patience for_session) const noexcept {
  if (!database_.capabilities().deleted_rows_linger) return;
  // The called server sees neither the writers of a shard nor its sequence.
  if (!database_.options().shortcuts.floors || names_.sharded || names_.by_turns) return;
  if (kind_ == kind::pending && !tells_late()) return;
  if (kind_ == kind::lifo) {
    look_for_gaps(for_session);
  } else {
    look_for_floors(for_session);
  }
}

void floor_reads::learn_from_others() const noexcept {
  if (!database_.capabilities().deleted_rows_linger) return;
  if (!database_.options().shortcuts.floors || names_.sharded || names_.by_turns) return;
  if (kind_ == kind::pending || kind_ == kind::lifo) return;
  try {
    learn_again();
    learn(patience::waits);
  } catch (...) {  // noexcept: the floors stay as they are. The statement that follows reports the
                   // error.
  }
}

void floor_reads::learn_again() const noexcept {
  if (shared_.floors_readable && shared_.floor.asks_others(read_floor::clock::now()))
    shared_.floors_learned = false;
}

void floor_reads::look_for_floors(patience for_session) const noexcept {
  try {
    learn(for_session);
    const auto asked = shared_.floor.ask(read_floor::clock::now());
    if (!asked) return;
    read_floor::sight seen = on_session(for_session, [&](connection& session) {
      if (kind_ == kind::claim) return see_levels(session, *asked);
      return kind_ == kind::pending ? see_due(session, *asked) : see(session, *asked);
    });
    shared_.floor.answer(*asked, std::move(seen), read_floor::clock::now());
    tell(for_session, shared_.floor.news(read_floor::clock::now()));
  } catch (...) {  // noexcept: the floor stays as it is. The read that follows reports the error.
    shared_.floor.give_up();
  }
}

void floor_reads::look_for_gaps(patience for_session) const noexcept {
  try {
    learn(for_session);
    const auto asked = shared_.gaps.ask(read_gaps::clock::now());
    if (!asked) return;
    const id_ranges lists(asked->ranges);
    auto rows = on_session(for_session, [&](connection& session) {
      return core::run(session, names_, statements::lifo_floor,
                       {.highs = lists.highs(), .lows = lists.lows(), .writers = asked->writers});
    });
    floor_row& seen = rows.at(0);
    shared_.gaps.answer(*asked,
                        {.first = seen.first,
                         .last = seen.last,
                         .writers = std::move(seen.writers).value_or(""),
                         .ended = seen.ended},
                        read_gaps::clock::now());
    tell(for_session, shared_.gaps.news(read_gaps::clock::now()));
  } catch (...) {  // noexcept: the same
    shared_.gaps.give_up();
  }
}

void floor_reads::note_start(bool everything, look_schedule::time began) const noexcept {
  if (!everything || look_schedule::clock::now() - began < slow_start) return;
  shared_.slow_start = true;
}

void floor_reads::tell_of_start() const noexcept {
  if (!shared_.slow_start || !shared_.slow_start.exchange(false) || !shared_.floors_shared) return;
  const look_schedule::time now = look_schedule::clock::now();
  try {
    tell(patience::gives_up,
         kind_ == kind::lifo ? shared_.gaps.news(now) : shared_.floor.news(now));
  } catch (...) {  // noexcept: others may begin at the start too
  }
}

/// Begins with what other processes know. Once for a queue, and after `learn_again`; a failure is
/// not repeated.
void floor_reads::learn(patience for_session) const {
  if (shared_.floors_learned.exchange(true)) return;
  std::vector<floors_row> rows;
  if (layout_ >= layout_with_floors) {
    try {
      rows = on_session(for_session, [&](connection& session) {
        return core::run(session, names_, statements::floors_read,
                         {.queue = queue_, .identity = identity_});
      });
      if (!shared_.floors_readable.exchange(true)) shared_.floors_shared = true;
    } catch (const error& failure) {  // Such a user may not read them, and does without.
      if (failure.code() != errc::permission_denied) {
        shared_.floors_learned = false;
        throw;
      }
    }
  }
  const auto told = rows.empty() ? std::nullopt : to_floor_state(rows.front().floors);
  const floor_state* const state = told ? &*told : nullptr;
  const auto age = rows.empty() ? std::chrono::milliseconds{0} : rows.front().age;
  const auto now = look_schedule::clock::now();
  kind_ == kind::lifo ? shared_.gaps.adopt(state, age, now) : shared_.floor.adopt(state, age, now);
}

void floor_reads::tell(patience for_session, const std::optional<floor_state>& news) const {
  if (!news || !shared_.floors_shared) return;
  try {
    const std::string text = to_text(*news);
    on_session(for_session, [&](connection& session) {
      return core::run(session, names_, statements::floors_write,
                       {.queue = queue_, .identity = identity_, .floors = text});
    });
  } catch (const error& failure) {  // Such a user may not write them; others do.
    if (failure.code() == errc::permission_denied) shared_.floors_shared = false;
  }
}

read_floor::sight floor_reads::see(connection& session, const read_floor::question& asked) const {
  floor_row seen = core::run(session, names_, statements::queue_floor,
                             {.floor = asked.levels.front().floor, .writers = asked.writers})
                       .at(0);
  return {.first = {seen.first},
          .oldest = seen.first,
          .last = seen.last,
          .writers = std::move(seen.writers).value_or(""),
          .ended = seen.ended};
}

read_floor::sight floor_reads::see_levels(connection& session,
                                          const read_floor::question& asked) const {
  const std::optional<timestamp> now = database_.now();
  std::vector<level_item> levels;
  for (const auto& [level, floor] : asked.levels) levels.push_back({level, floor});
  auto rows = core::run(session, names_, statements::claim_floor,
                        {.oldest = asked.oldest,
                         .passed = passed(asked.passed),
                         .writers = asked.writers,
                         .now = now},
                        levels);
  level_row& any = rows.at(0);
  read_floor::sight out{
      .first = std::vector<std::optional<read_floor::position>>(asked.levels.size()),
      .oldest = any.oldest,
      .last = any.last,
      .writers = std::move(any.writers).value_or(""),
      .ended = any.ended};
  if (!now) {
    out.due = any.due;
    out.clock = any.clock;
  }
  for (const auto& row : rows) out.first.at(row.item) = row.first;
  return out;
}

read_floor::sight floor_reads::see_due(connection& session,
                                       const read_floor::question& asked) const {
  due_floor_row seen = core::run(session, names_, statements::pending_floor,
                                 {.passed = asked.passed, .writers = asked.writers})
                           .at(0);
  return {.first = std::vector<std::optional<read_floor::position>>(asked.levels.size()),
          .due = seen.due,
          .clock = seen.clock,
          .writers = std::move(seen.writers).value_or(""),
          .ended = seen.ended};
}

}  // namespace tableq::inline v0::core
