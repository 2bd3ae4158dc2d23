#include "core/schedule/recurrence.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>
#include <cstddef>
#include <span>
#include <string>
#include <utility>

#include "core/base/errors.hpp"

namespace tableq::inline v0::core {
namespace {

using namespace std::chrono;

constexpr std::array month_names{"jan", "feb", "mar", "apr", "may", "jun",
                                 "jul", "aug", "sep", "oct", "nov", "dec"};
constexpr std::array weekday_names{"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
constexpr std::array<std::pair<std::string_view, std::string_view>, 7> macros{
    {{"@yearly", "0 0 1 1 *"},
     {"@annually", "0 0 1 1 *"},
     {"@monthly", "0 0 1 * *"},
     {"@weekly", "0 0 * * 0"},
     {"@daily", "0 0 * * *"},
     {"@midnight", "0 0 * * *"},
     {"@hourly", "0 * * * *"}}};
constexpr std::uint64_t bits(int least, int most) {
  return (std::uint64_t{2} << static_cast<unsigned>(most)) -
         (std::uint64_t{1} << static_cast<unsigned>(least));
}

/// The values that one field accepts.
struct field_form {
  const char* what;
  int least;
  int most;
  std::span<const char* const> names = {};
};

/// The values of one field.
struct field_content {
  std::uint64_t allowed = 0;
  bool single = true;  ///< Only single numbers.
};

class cron_text {
 public:
  explicit cron_text(std::string_view text) : text_(text) {}

  [[noreturn]] void wrong(std::size_t at, const std::string& why) const {
    refuse("the cron text is wrong at character " + std::to_string(at + 1) + ": " + why);
  }
  void skip_blanks() {
    while (now() == ' ' || now() == '\t') ++at_;
  }
  [[nodiscard]] std::size_t position() const { return at_; }
  [[nodiscard]] bool ended() const { return at_ == text_.size(); }

  field_content field(const field_form& form) {
    skip_blanks();
    if (ended()) {
      wrong(at_, std::string("the ") + form.what +
                     " is missing; give minute, hour, day, month and weekday");
    }
    field_content out;
    do {
      item(form, out);
    } while (skip(','));
    if (!ended() && now() != ' ' && now() != '\t') {
      wrong(at_, "a comma, a blank or the end must follow");
    }
    return out;
  }

 private:
  [[nodiscard]] char now() const { return ended() ? '\0' : text_.at(at_); }
  bool skip(char wanted) {
    if (ended() || now() != wanted) return false;
    ++at_;
    return true;
  }

  void item(const field_form& form, field_content& out) {
    const std::size_t begin = at_;
    int low = form.least;
    int high = form.most;
    bool many = skip('*');
    if (!many) {
      low = high = entry(form);
      many = skip('-');
      if (many) high = entry(form);
      if (high < low) wrong(begin, "a range goes from the lower to the higher one");
    }
    int step = 1;
    const std::size_t slash = at_;
    if (skip('/')) {
      if (!many) wrong(slash, "a step follows * or a range");
      step = number();
      if (step < 1 || step > form.most - form.least) {
        wrong(slash + 1, "a step here is 1 to " + std::to_string(form.most - form.least));
      }
    }
    if (many) out.single = false;
    for (int each = low; each <= high; each += step) out.allowed |= bits(each, each);
  }

  int number() {
    const std::size_t begin = at_;
    int out = 0;
    while (now() >= '0' && now() <= '9' && at_ - begin < 3)
      out = out * 10 + (text_.at(at_++) - '0');
    if (at_ == begin) wrong(begin, "a number is missing");
    return out;
  }

  int entry(const field_form& form) {
    const std::size_t begin = at_;
    std::string word;
    while (std::isalpha(static_cast<unsigned char>(now())) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(text_.at(at_++))));
    }
    for (std::size_t i = 0; i < form.names.size(); ++i) {
      if (word == form.names[i]) return form.least + static_cast<int>(i);
    }
    const int out = word.empty() && now() >= '0' && now() <= '9' ? number() : -1;
    if (out < form.least || out > form.most) {
      wrong(begin, std::string("the ") + form.what + " is " + std::to_string(form.least) + " to " +
                       std::to_string(form.most) +
                       (form.names.empty() ? "" : std::string(" or a name like ") + form.names[1]));
    }
    return out;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

recurrence::recurrence(std::chrono::milliseconds interval) : interval_(interval) {
  if (interval < 1s || interval > days{3650} || interval % 1s != 0ms) {
    refuse("an interval is whole seconds, from 1 second to 3,650 days");
  }
}

recurrence::recurrence(std::string_view text) {
  for (const auto& [name, fields] : macros) {
    if (text == name) text = fields;
  }
  cron_text in(text);
  if (text.starts_with('@')) {
    in.wrong(0, "the names are @yearly, @annually, @monthly, @weekly, @daily, @midnight, @hourly");
  }
  const field_content minute = in.field({.what = "minute", .least = 0, .most = 59});
  const field_content hour = in.field({.what = "hour", .least = 0, .most = 23});
  in.skip_blanks();
  const std::size_t day_at = in.position();
  days_ = in.field({.what = "day", .least = 1, .most = 31}).allowed;
  months_ = in.field({.what = "month", .least = 1, .most = 12, .names = month_names}).allowed;
  weekdays_ = in.field({.what = "weekday", .least = 0, .most = 7, .names = weekday_names}).allowed;
  in.skip_blanks();
  if (!in.ended())
    in.wrong(in.position(), "there are five fields: minute, hour, day, month, weekday");
  if ((weekdays_ & bits(7, 7)) != 0) weekdays_ = (weekdays_ | 1) & bits(0, 6);
  minutes_ = minute.allowed;
  hours_ = hour.allowed;
  whenever_ = !minute.single || !hour.single;
  const bool some_days = days_ != bits(1, 31);
  either_day_ = some_days && weekdays_ != bits(0, 6);
  const std::uint64_t long_months = months_ & ~bits(2, 2);
  const std::uint64_t longest =
      bits(1, 1) | bits(3, 3) | bits(5, 5) | bits(7, 8) | bits(10, 10) | bits(12, 12);
  const int most = (long_months & longest) != 0 ? 31 : long_months != 0 ? 30 : 29;
  if (!either_day_ && (days_ & bits(1, most)) == 0) {
    in.wrong(day_at, "none of these months has such a day");
  }
}

bool recurrence::falls_on(local_days day) const {
  const bool by_date = (days_ >> unsigned{year_month_day(day).day()} & 1U) != 0;
  const bool by_weekday = (weekdays_ >> weekday(day).c_encoding() & 1U) != 0;
  return either_day_ ? by_date || by_weekday : by_date && by_weekday;
}

std::optional<recurrence::wall> recurrence::at_or_after(wall time) const {
  constexpr days longest_pause{9 * 366};  // between two of 29 February, in 2096 and 2104
  local_days day = floor<days>(time);
  auto minute = static_cast<unsigned>(ceil<minutes>(time - day).count());
  for (const local_days end = day + longest_pause; day < end; ++day, minute = 0) {
    const year_month_day date(day);
    if ((months_ >> unsigned{date.month()} & 1U) == 0) {
      day = local_days(date.year() / date.month() / std::chrono::last);
      continue;
    }
    if (!falls_on(day)) continue;
    for (unsigned hour = minute / 60; hour < 24; ++hour, minute = 0) {
      if ((hours_ >> hour & 1U) == 0) continue;
      const std::uint64_t left = minutes_ >> (minute % 60) << (minute % 60);
      if (left != 0) return day + hours{hour} + std::chrono::minutes{std::countr_zero(left)};
    }
  }
  return std::nullopt;
}

std::optional<recurrence::instant> recurrence::next_instant(instant time,
                                                            const time_zone& zone) const {
  if (!whenever_) {
    // Times of the day in their order have instants in the same order.
    wall from(time.time_since_epoch() + zone.at(time).offset);
    while (const auto found = at_or_after(from + 1s)) {
      const instant out = zone.first(*found);
      if (out > time) return out;
      from = *found;
    }
    return std::nullopt;
  }
  constexpr days enough{40 * 366};
  for (instant from = time + 1s; from < time + enough;) {
    const time_zone::span here = zone.at(from);
    const auto found = at_or_after(wall(from.time_since_epoch() + here.offset));
    if (!found) return std::nullopt;
    const instant out(found->time_since_epoch() - here.offset);
    if (out < here.end) return out;
    from = here.end;
  }
  return std::nullopt;
}

std::optional<timestamp> recurrence::after(timestamp time, const time_zone& zone) const {
  constexpr timestamp end = sys_days(year{9999} / January / 1);
  std::optional<timestamp> out = time + interval_;
  if (interval_ == 0ms) out = next_instant(floor<std::chrono::seconds>(time), zone);
  return out && *out < end ? out : std::nullopt;
}

std::vector<timestamp> recurrence::last(timestamp first, timestamp until, std::size_t most,
                                        const time_zone& zone) const {
  std::vector<timestamp> out;
  if (interval_ > 0ms) {
    const auto steps = (until - first) / interval_;
    const auto count = std::min(steps, static_cast<std::int64_t>(most) - 1);
    for (auto i = steps - count; i <= steps; ++i) out.push_back(first + i * interval_);
    return out;
  }
  for (milliseconds back = hours{1}; out.size() < most; back *= 2) {
    const bool all = until - back <= first;
    out.assign(all ? 1 : 0, first);
    std::optional<timestamp> next = after(all ? first : until - back, zone);
    for (; next && *next <= until; next = after(*next, zone)) out.push_back(*next);
    if (all) break;
  }
  out.erase(out.begin(), out.end() - static_cast<std::ptrdiff_t>(std::min(most, out.size())));
  return out;
}

}  // namespace tableq::inline v0::core
