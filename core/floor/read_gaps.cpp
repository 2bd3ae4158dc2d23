#include "core/floor/read_gaps.hpp"

#include <algorithm>
#include <utility>

namespace tableq::inline v0::core {

read_gaps::start read_gaps::begin(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (schedule_.starts_over(now)) return {.ranges = {{highest, lowest}}, .at = now};
  return {.ranges = between(highest), .everything = false, .at = now};
}

void read_gaps::end(const start& begun, std::span<const position> ids, clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (begun.everything) {
    schedule_.started_over(begun.at, now);
  } else {
    schedule_.took(now - begun.at);
  }
  schedule_.found(ids.empty());
  if (ids.empty()) return;
  schedule_.read(ids.size());
  const position last = std::ranges::max(ids);
  const auto wrong = [&](const range& gap) {
    return std::ranges::any_of(ids, [&](position id) { return gap.low <= id && id <= gap.high; });
  };
  if (std::erase_if(gaps_, wrong) == 0) {
    known_ = std::max(known_, last);
    return;
  }
  known_ = last;
  writers_.forget();
  changed_ = true;
}

std::optional<read_gaps::question> read_gaps::ask(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (!schedule_.look(now, false)) return std::nullopt;
  changed_ = false;
  return question{.ranges = between(first_look_id_),
                  .below = first_look_id_,
                  .known = known_,
                  .writers = writers_.writers()};
}

void read_gaps::answer(const question& asked, sight seen, clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  schedule_.looked(now);
  // For later looks: this one may have read its writers before that id was drawn.
  known_ = std::max(known_, seen.last.value_or(lowest));
  const writers_watch::progress progress = writers_.look(std::move(seen.writers), seen.ended);
  if (progress == writers_watch::progress::waiting) return;
  if (progress == writers_watch::progress::settled && !changed_) {
    if (asked.below == asked.known) schedule_.settled();
    const position low = seen.first ? *seen.first + 1 : lowest;
    if (low <= asked.below) add({.high = asked.below, .low = low});
  }
  first_look_id_ = asked.known;
}

void read_gaps::give_up() noexcept {
  const std::scoped_lock hold(mutex_);
  schedule_.failed();
  writers_.forget();
}

std::optional<floor_state> read_gaps::news(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (!schedule_.tell(now, known_)) return std::nullopt;
  floor_state out{.known = known_,
                  .first_look_id = first_look_id_,
                  .writers = writers_,
                  .checked = schedule_.checked(now),
                  .pause = schedule_.pause()};
  for (const range& each : gaps_) out.places.emplace_back(each.high, each.low);
  return out;
}

void read_gaps::adopt(const floor_state* told, std::chrono::milliseconds age,
                      clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (known_ != lowest) return;  // A read was faster.
  if (told != nullptr) {
    for (const auto& [high, low] : told->places) {
      if (low <= high && gaps_.size() < most_gaps) add({.high = high, .low = low});
    }
    known_ = told->known;
    first_look_id_ = told->first_look_id;
    writers_ = told->writers;
    schedule_.was_checked(told->checked + age, told->pause, now);
  }
  schedule_.hurry();
}

/// The ranges between the gaps, at or below an id.
std::vector<read_gaps::range> read_gaps::between(position high) const {
  std::vector<range> out;
  for (const range& gap : gaps_) {
    if (high > gap.high) out.push_back({.high = high, .low = gap.high + 1});
    if (gap.low == lowest) return out;
    high = std::min(high, gap.low - 1);
  }
  out.push_back({.high = high, .low = lowest});
  return out;
}

void read_gaps::add(range gap) {
  // The search for its lower end has passed over the gaps inside.
  std::erase_if(gaps_,
                [&](const range& each) { return each.low <= gap.high && each.high >= gap.low; });
  const auto touches = [&](const range& each) {
    return each.high != highest && each.high + 1 == gap.low;
  };
  if (const auto below = std::ranges::find_if(gaps_, touches); below != gaps_.end()) {
    gap.low = below->low;
    gaps_.erase(below);
  }
  if (gaps_.size() == most_gaps) {
    const auto size = [](const range& each) {
      return static_cast<std::uint64_t>(each.high) - static_cast<std::uint64_t>(each.low);
    };
    gaps_.erase(std::ranges::min_element(gaps_, {}, size));
  }
  const auto next = std::ranges::find_if(gaps_, [&](const range& x) { return x.high < gap.low; });
  gaps_.insert(next, gap);
}

}  // namespace tableq::inline v0::core
