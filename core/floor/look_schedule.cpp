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
/// After this time any read is worth a look: the clock may have been set back.
constexpr std::chrono::seconds too_long_ago{1};
constexpr int hurried_looks = 10;
/// Reads from the very start take at most this share of the time, and looks that of looks.
constexpr int share_of_starting_over = 50;
constexpr int share_of_looks = 20;

}  // namespace

bool look_schedule::starts_over(time now) noexcept {
  if (now < start_over_at_) return false;
  start_over_at_ = now + start_over_every;
  return true;
}

void look_schedule::started_over(time began, time now) noexcept {
  start_over_at_ = began + std::max<clock::duration>(start_over_every,
                                                     (now - began) * share_of_starting_over);
}

void look_schedule::read(std::size_t messages) noexcept {
  read_ += messages;
  most_ = std::max(most_, messages);
}

bool look_schedule::look(time now, bool nothing_known, bool watches_time) noexcept {
  const bool hurried = hurried_ > 0 && nothing_known;
  const std::size_t enough = hurried ? 1 : std::max(few_messages, few_reads * most_);
  const auto since = now - began_;
  const bool late = (read_ >= few_reads && since >= long_ago) ||
                    (read_ > 0 && since >= too_long_ago && watches_time);
  if (looking_ || (read_ < enough && !late)) return false;
  if (!hurried && now < not_before_) return false;
  if (hurried) --hurried_;
  looking_ = true;
  began_ = now;
  read_ = 0;
  most_ = 0;
  return true;
}

void look_schedule::looked(time now) noexcept {
  looking_ = false;
  not_before_ = now + (now - began_) * share_of_looks;
}

void look_schedule::hurry() noexcept {
  hurried_ = hurried_looks;
}

}  // namespace tableq::inline v0::core
