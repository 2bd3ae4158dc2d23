#include "core/floor/look_schedule.hpp"

#include <algorithm>

namespace tableq::inline v0::core {
namespace {

/// Stepping over this many deleted rows costs less than a look.
constexpr std::size_t few_messages = 64;
/// Stepping over the rows of this many reads also costs less.
constexpr std::size_t few_reads = 8;
/// After this time few reads are enough: leases and delays end meanwhile.
constexpr std::chrono::milliseconds long_ago{10};
constexpr int hurried_looks = 10;
constexpr int two_looks = 2;
/// Other processes learn of the first looks, and later from time to time of a move.
constexpr int first_news = 3;
constexpr std::int64_t many_ids = 1000;
constexpr std::chrono::milliseconds between_news{250};
constexpr std::chrono::seconds much_too_long_ago{10};
constexpr std::chrono::milliseconds longest_pause = std::chrono::minutes{1};
constexpr std::chrono::milliseconds longest_rest = std::chrono::minutes{10};
/// A read from the very start that takes no longer is like any other.
constexpr std::chrono::milliseconds cheap{1};
/// Reads from the very start take at most a fiftieth of the time, looks a twentieth.
constexpr int share_of_starting_over = 50;
constexpr int share_of_looks = 20;

}  // namespace

bool look_schedule::due(time now) const noexcept {
  if (now < start_over_at_) return false;
  const bool paid = idle_ || pause_ <= cheap * share_of_starting_over || spent_ >= pause_;
  return paid || now >= checked_at_ + longest_rest;
}

bool look_schedule::starts_over(time now) noexcept {
  if (!due(now)) return false;
  start_over_at_ = now + start_over_every;
  return true;
}

void look_schedule::started_over(time began, time now) noexcept {
  const auto fair =
      std::chrono::ceil<std::chrono::milliseconds>((now - began) * share_of_starting_over);
  // The read may have waited for a lock: one alone says little.
  const auto most = 2 * std::max<std::chrono::milliseconds>(pause_, start_over_every);
  pause_ = std::min({fair, most, longest_pause});
  spent_ = {};
  slow_ = slow_ || now - began > cheap;
  checked_at_ = began;
  start_over_at_ = began + std::max<std::chrono::milliseconds>(pause_, start_over_every);
}

std::chrono::milliseconds look_schedule::checked(time now) const noexcept {
  // The next read begins there: other processes need not.
  if (due(now)) return std::chrono::milliseconds{0};
  return std::chrono::floor<std::chrono::milliseconds>(now - checked_at_);
}

std::chrono::milliseconds look_schedule::pause() const noexcept {
  return pause_;
}

void look_schedule::was_checked(std::chrono::milliseconds ago, std::chrono::milliseconds pause,
                                time now) noexcept {
  pause_ = std::clamp(pause, std::chrono::milliseconds{0}, longest_pause);
  checked_at_ = now - std::clamp(ago, std::chrono::milliseconds{0}, longest_rest);
  start_over_at_ = checked_at_ + std::max<std::chrono::milliseconds>(pause_, start_over_every);
}

void look_schedule::took(clock::duration duration) noexcept {
  spent_ += duration;
  slow_ = slow_ || duration > cheap;
}

void look_schedule::read(std::size_t messages) noexcept {
  read_ += messages;
  most_ = std::max(most_, messages);
}

bool look_schedule::look(time now, bool watches_time) noexcept {
  const auto since = now - began_;
  // Messages that were leased and settled before a rest lie between the last look and now. Each
  // read steps over them until a second look. A few quick reads show that there are not many: a
  // process may read a thousand queues once a second each.
  const bool few = read_ < few_reads && !slow_;
  if (read_ > 0 && watches_time && since >= (few ? much_too_long_ago : too_long_ago)) {
    hurried_ = std::max(hurried_, two_looks);
  }
  const bool hurried = hurried_ > 0;
  const std::size_t enough = hurried ? 0 : std::max(few_messages, few_reads * most_);
  const bool late = read_ >= few_reads && since >= long_ago;
  if (looking_ || (read_ < enough && !late)) return false;
  if (!hurried && now < not_before_) return false;
  if (hurried) --hurried_;
  looking_ = true;
  began_ = now;
  read_ = 0;
  most_ = 0;
  slow_ = false;
  return true;
}

void look_schedule::looked(time now) noexcept {
  looking_ = false;
  not_before_ = now + (now - began_) * share_of_looks;
}

void look_schedule::hurry() noexcept {
  hurried_ = hurried_looks;
}

bool look_schedule::tell(time now, std::int64_t reached, bool more) noexcept {
  const bool young = told_ < first_news;
  const bool moved = reached >= told_of_ + many_ids || reached < told_of_;
  const bool slow = pause_ > start_over_every;
  // A read from the very start that is cheap costs another process no more than this news.
  const bool worth = pause_ > cheap * share_of_starting_over && now - told_at_ >= start_over_every;
  const bool checked = checked_at_ > told_at_ && (slow || worth);
  if (!more && !young && !checked && !(moved && now - told_at_ >= between_news)) return false;
  ++told_;
  told_of_ = reached;
  told_at_ = now;
  return true;
}

}  // namespace tableq::inline v0::core
