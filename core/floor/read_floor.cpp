#include "core/floor/read_floor.hpp"

#include <algorithm>
#include <limits>

namespace tableq::inline v0::core {
namespace {

/// Stepping over this many deleted rows costs less than a query.
constexpr std::size_t few_messages = 64;
/// Stepping over the rows of this many reads also costs less.
constexpr std::size_t few_reads = 8;
/// After this time few reads are enough: leases and delays end meanwhile.
constexpr std::chrono::milliseconds long_ago{10};
/// After this time any read is worth a query: the clock may have been set back.
constexpr std::chrono::seconds too_long_ago{1};
constexpr int early_questions = 8;
constexpr int share_of_starting_over = 50;

/// The next id. The highest possible id is returned unchanged.
constexpr read_floor::position after(read_floor::position id) noexcept {
  return id == std::numeric_limits<read_floor::position>::max() ? id : id + 1;
}

}  // namespace

void read_floor::rising::advance(position first) noexcept {
  if (next) at = std::max(at, std::min(first, *next));
  next = first;
}

void read_floor::rising::lower(position value) noexcept {
  at = value;
  next.reset();
}

read_floor::read_floor() {
  // Reserved now, so that a lack of memory cannot lose the messages of a read.
  levels_.reserve(most_levels);
}

read_floor::start read_floor::begin(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (now < start_over_at_) {
    return {.levels = floors(),
            .oldest = oldest_.at,
            .passed = passed_.at,
            .everything = false,
            .at = now};
  }
  start_over_at_ = now + start_over_every;
  return {.everything = true, .at = now};
}

void read_floor::end(const start& begun, std::span<const level_result> results,
                     clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (begun.everything) {
    start_over_at_ = begun.at + std::max<clock::duration>(
                                    start_over_every, (now - begun.at) * share_of_starting_over);
    overdue_ = overdue_ || results.empty();
  }
  std::size_t count = 0;
  bool wrong = false;
  position last = lowest;
  for (const level_result& each : results) {
    count += each.count;
    last = std::max(last, each.last);
    level* const found = find_or_add(each.level);
    if (found != nullptr) found->read += each.count;
    if (!each.first) continue;
    if (found != nullptr && *each.first < found->floor.at) {
      found->floor.lower(*each.first);
      wrong = true;
    }
    if (*each.first < oldest_.at) oldest_.lower(*each.first);
  }
  if (count == 0) return;
  read_ += count;
  most_ = std::max(most_, count);
  known_ = wrong ? last : std::max(known_, last);
}

read_floor::position read_floor::passed(bool all) {
  const std::scoped_lock hold(mutex_);
  if (!all || !overdue_) return passed_.at;
  overdue_ = false;
  return lowest;
}

std::optional<read_floor::question> read_floor::ask(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  // Until a floor is known, each read steps over all deleted rows.
  const bool early = early_ > 0 && std::ranges::any_of(levels_, [](const level& each) {
                       return each.floor.at == lowest;
                     });
  const std::size_t enough = early ? 1 : std::max(few_messages, few_reads * most_);
  const auto since = now - asked_at_;
  const bool late = (read_ >= few_reads && since >= long_ago) ||
                    (read_ > 0 && since >= too_long_ago && passed_.at != lowest);
  if (asked_ || (read_ < enough && !late)) return std::nullopt;
  if (early) --early_;
  asked_ = true;
  asked_at_ = now;
  read_ = 0;
  most_ = 0;
  for (level& each : levels_) each.read /= 2;
  return question{.levels = floors(), .oldest = oldest_.at, .passed = passed_.at, .known = known_};
}

void read_floor::answer(const question& asked, const snapshot& shown) {
  const std::scoped_lock hold(mutex_);
  asked_ = false;
  if (shown.clock) {
    // A message that was enqueued since then may fall due before any known one.
    if (*shown.clock < clock_) passed_.lower(lowest);
    clock_ = *shown.clock;
  }
  if (until_ && shown.oldest_running < *until_) return;
  for (std::size_t i = 0; i < asked.levels.size(); ++i) {
    level* const found = find(asked.levels[i].level);
    // If the floor has changed since the question, it was wrong and has been lowered.
    if (found != nullptr && found->floor.at == asked.levels[i].floor) {
      found->floor.advance(shown.first[i].value_or(after(asked.known)));
    }
  }
  if (oldest_.at == asked.oldest) oldest_.advance(shown.oldest.value_or(after(asked.known)));
  if (shown.clock && passed_.at == asked.passed) passed_.advance(shown.due.value_or(*shown.clock));
  until_ = shown.next;
}

void read_floor::give_up() noexcept {
  const std::scoped_lock hold(mutex_);
  asked_ = false;
  until_.reset();
  for (level& each : levels_) each.floor.next.reset();
  oldest_.next.reset();
  passed_.next.reset();
}

std::vector<read_floor::level_floor> read_floor::floors() const {
  std::vector<level_floor> out;
  out.reserve(levels_.size());
  for (const level& each : levels_) out.push_back({each.name, each.floor.at});
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
    early_ = early_questions;
  }
  const auto before = std::ranges::find_if(levels_, [&](const level& x) { return x.name < name; });
  return &*levels_.insert(before, level{.name = name});
}

}  // namespace tableq::inline v0::core
