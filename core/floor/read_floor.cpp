#include "core/floor/read_floor.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace tableq::inline v0::core {
namespace {

/// A read of one level that finds nothing costs a statement.
constexpr int reads_of_all = 16;
constexpr read_floor::position highest = std::numeric_limits<read_floor::position>::max();

/// The next id. The highest possible id is returned unchanged.
constexpr read_floor::position after(read_floor::position id) noexcept {
  return id == highest ? id : id + 1;
}

/// @param current if it is no longer `asked`, it was wrong and has been lowered meanwhile.
void raise(read_floor::position& current, read_floor::position asked,
           std::optional<read_floor::position> first, read_floor::position most) noexcept {
  if (current == asked) current = std::max(current, std::min(first.value_or(highest), most));
}

}  // namespace

read_floor::read_floor() {
  // Reserved now, so that a lack of memory cannot lose the messages of a read.
  levels_.reserve(most_levels);
}

read_floor::start read_floor::begin(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (schedule_.starts_over(now)) return {.everything = true, .at = now};
  const bool alone = levels_.size() == 1 && levels_.front().floor != lowest;
  const bool searches = searches_ > 0;
  if (searches) --searches_;
  return {.levels = floors(),
          .oldest = oldest_,
          .passed = passed_,
          .everything = false,
          .one_level = alone && !searches,
          .at = now};
}

void read_floor::search_all() noexcept {
  const std::scoped_lock hold(mutex_);
  searches_ = reads_of_all;
}

void read_floor::end(const start& begun, std::span<const level_result> results,
                     clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (begun.everything) {
    schedule_.started_over(begun.at, now);
    glances_.started_over(begun.at, now);
    overdue_ = overdue_ || results.empty();
  } else {
    schedule_.took(now - begun.at);
  }
  std::size_t count = 0;
  position last = lowest;
  for (const level_result& each : results) {
    count += each.count;
    last = std::max(last, each.last);
  }
  const bool wrong = found_below(results);
  schedule_.found(count == 0);
  if (count == 0) return;
  schedule_.read(count);
  known_ = wrong ? last : std::max(known_, last);
}

/// Counts the reads of each level. Lowers floors above messages that were read.
/// @return whether a floor was wrong.
bool read_floor::found_below(std::span<const level_result> results) {
  bool wrong = false;
  for (const level_result& each : results) {
    level* const found = find_or_add(each.level);
    if (found != nullptr) found->read += each.count;
    if (!each.first) continue;
    if (found != nullptr && *each.first < found->floor) {
      found->floor = *each.first;
      wrong = true;
    }
    if (*each.first < oldest_) {
      oldest_ = *each.first;
      wrong = true;
    }
  }
  if (wrong) writers_.forget();
  return wrong;
}

read_floor::start read_floor::due(bool all) {
  const std::scoped_lock hold(mutex_);
  if (!all || !overdue_) return {.oldest = oldest_, .passed = passed_, .everything = false};
  overdue_ = false;
  return {};
}

read_floor::start read_floor::glance(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (glances_.starts_over(now)) return {.at = now};
  return {.levels = floors(), .oldest = oldest_, .passed = passed_, .everything = false, .at = now};
}

void read_floor::glanced(const start& begun, clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (begun.everything) {
    glances_.started_over(begun.at, now);
    untold_ = true;
  } else {
    glances_.took(now - begun.at);
  }
}

std::optional<read_floor::question> read_floor::ask(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (!schedule_.look(now, passed_ != lowest)) return std::nullopt;
  for (level& each : levels_) each.read /= 2;
  return question{.levels = floors(),
                  .oldest = oldest_,
                  .passed = passed_,
                  .known = known_,
                  .writers = writers_.writers()};
}

void read_floor::answer(const question& asked, sight seen, clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  schedule_.looked(now);
  learned_ = now;
  follow_clock(seen.clock);
  // For later looks: this one may have read its writers before that id was drawn.
  known_ = std::max(known_, seen.last.value_or(lowest));
  const writers_watch::progress progress = writers_.look(std::move(seen.writers), seen.ended);
  if (progress == writers_watch::progress::waiting) return;
  if (progress == writers_watch::progress::settled) {
    if (rise(asked, seen)) schedule_.settled();
  }
  first_look_id_ = asked.known;
  for (const std::optional<position>& each : seen.first)
    first_look_id_ = std::max(first_look_id_, each.value_or(lowest));
  first_look_time_ = seen.clock.value_or(lowest);
}

/// Messages that were enqueued after the clock was set back may fall due before any known one.
void read_floor::follow_clock(std::optional<position> now) noexcept {
  if (!now) return;
  if (*now < clock_) {
    passed_ = lowest;
    writers_.forget();
  }
  clock_ = *now;
}

/// @return whether floors reach the first messages; otherwise the first look was too long ago.
bool read_floor::rise(const question& asked, const sight& seen) noexcept {
  const position most = after(first_look_id_);
  bool reached = true;
  for (std::size_t i = 0; i < asked.levels.size(); ++i) {
    level* const found = find(asked.levels[i].level);
    if (found != nullptr) raise(found->floor, asked.levels[i].floor, seen.first[i], most);
    reached = reached && seen.first[i].value_or(after(asked.known)) <= most;
  }
  raise(oldest_, asked.oldest, seen.oldest, most);
  if (seen.clock) {
    raise(passed_, asked.passed, seen.due, first_look_time_);
    reached = reached && *seen.clock <= first_look_time_ + look_schedule::too_long_ago.count();
  }
  return reached;
}

void read_floor::give_up() noexcept {
  const std::scoped_lock hold(mutex_);
  schedule_.failed();
  writers_.forget();
}

std::optional<floor_state> read_floor::news(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  position reached = oldest_;
  for (const level& each : levels_) reached = std::max(reached, each.floor);
  if (!schedule_.tell(now, reached, std::exchange(untold_, false))) return std::nullopt;
  floor_state out{.oldest = oldest_,
                  .passed = passed_,
                  .known = known_,
                  .first_look_id = first_look_id_,
                  .first_look_time = first_look_time_,
                  .writers = writers_,
                  .checked = schedule_.checked(now),
                  .pause = schedule_.pause(),
                  .glanced = glances_.checked(now),
                  .glance_pause = glances_.pause()};
  for (const level& each : levels_) out.places.emplace_back(each.name, each.floor);
  return out;
}

void read_floor::adopt(const floor_state* told, std::chrono::milliseconds age,
                       clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  const bool first = levels_.empty();
  if (!first && (told == nullptr || now - age <= learned_)) return;
  learned_ = now;
  if (told != nullptr) {
    levels_.clear();
    for (const auto& [name, floor] : told->places) {
      if (levels_.size() < most_levels) find_or_add(name)->floor = floor;
    }
    oldest_ = told->oldest;
    passed_ = told->passed;
    // A look of this process may be under way: only a first look may follow it.
    writers_ = first ? told->writers : writers_watch();
    known_ = std::max(known_, told->known);
    first_look_id_ = told->first_look_id;
    first_look_time_ = told->first_look_time;
    schedule_.was_checked(told->checked + age, told->pause, now);
    glances_.was_checked(told->glanced + age, told->glance_pause, now);
  }
  if (!first) return;
  // A look needs a level; most messages have this one.
  if (levels_.empty()) levels_.push_back({.name = 0});
  schedule_.hurry();
}

bool read_floor::asks_others(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (now - std::max(learned_, asked_) < look_schedule::too_long_ago) return false;
  asked_ = now;
  return true;
}

std::vector<read_floor::level_floor> read_floor::floors() const {
  std::vector<level_floor> out;
  out.reserve(levels_.size());
  for (const level& each : levels_) out.push_back({each.name, each.floor});
  return out;
}

read_floor::level* read_floor::find(position name) noexcept {
  const auto found = std::ranges::find(levels_, name, &level::name);
  return found == levels_.end() ? nullptr : &*found;
}

/// Null if other levels, which have been read lately, take all places.
read_floor::level* read_floor::find_or_add(position name) {
  if (level* const known = find(name)) return known;
  if (levels_.size() == most_levels) {
    const auto least = std::ranges::min_element(levels_, {}, &level::read);
    if (least->read > 0) return nullptr;
    levels_.erase(least);
  } else {
    schedule_.hurry();
  }
  const auto before = std::ranges::find_if(levels_, [&](const level& x) { return x.name < name; });
  return &*levels_.insert(before, level{.name = name});
}

}  // namespace tableq::inline v0::core
