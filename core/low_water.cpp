#include "core/low_water.hpp"

#include <algorithm>

namespace tableq::core {
namespace {

/// Stepping over so few costs less than asking.
constexpr std::size_t few_messages = 64;
/// And so few reads.
constexpr std::size_t few_reads = 8;
constexpr int share_of_starting_over = 50;

}  // namespace

low_water::start low_water::begin(clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (now < start_over_at_) return {.floor = floor_, .everything = false, .at = now};
  start_over_at_ = now + start_over_every;
  return {.floor = lowest, .everything = true, .at = now};
}

void low_water::end(const start& from, const catch_of& got, clock::time_point now) {
  const std::scoped_lock hold(mutex_);
  if (from.everything) {
    start_over_at_ = from.at + std::max<clock::duration>(start_over_every,
                                                         (now - from.at) * share_of_starting_over);
  }
  if (got.count == 0) return;
  read_ += got.count;
  most_ = std::max(most_, got.count);
  if (got.first < floor_) {
    floor_ = got.first;
    next_.reset();
    known_ = got.last;
  }
  known_ = std::max(known_, got.last);
}

std::optional<low_water::question> low_water::ask() {
  const std::scoped_lock hold(mutex_);
  // Until a floor is known, each read steps over everything.
  const bool early = floor_ == lowest && early_ > 0;
  const std::size_t enough = early ? 1 : std::max(few_messages, few_reads * most_);
  if (asked_ || read_ < enough) return std::nullopt;
  if (early) --early_;
  asked_ = true;
  read_ = 0;
  most_ = 0;
  return question{.floor = floor_, .known = known_};
}

void low_water::answer(const question& asked, const sight& seen) {
  const std::scoped_lock hold(mutex_);
  asked_ = false;
  if (floor_ != asked.floor) return;  // It was wrong, and has been lowered.
  const position first = seen.first.value_or(asked.known + 1);
  if (next_ && seen.oldest_running < next_->until) return;
  if (next_) floor_ = std::max(floor_, std::min(first, next_->at));
  next_ = candidate{.at = first, .until = seen.next};
}

void low_water::give_up() noexcept {
  const std::scoped_lock hold(mutex_);
  asked_ = false;
  next_.reset();
}

}  // namespace tableq::core
