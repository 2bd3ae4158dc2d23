#include <chrono>

#include <tableq/row_value.hpp>

namespace tableq::inline v0 {
namespace {

/// Takes what has been read off the front of a text.
class time_reader {
 public:
  explicit time_reader(std::string_view text) noexcept : left_(text) {}

  [[nodiscard]] bool done() const noexcept { return left_.empty(); }
  bool take(char wanted) noexcept {
    if (!left_.starts_with(wanted)) return false;
    left_.remove_prefix(1);
    return true;
  }
  /// Exactly so many digits; -1 if there are fewer.
  int digits(std::size_t count) noexcept {
    int value = 0;
    for (; count > 0; --count) {
      const int next = digit();
      if (next < 0) return -1;
      value = value * 10 + next;
    }
    return value;
  }
  /// The milliseconds of a fraction of at least one digit; -1 if there is none.
  int fraction() noexcept {
    int value = digit();
    if (value < 0) return -1;
    int read = 1;
    for (int next = digit(); next >= 0; next = digit()) {
      if (read < 3) value = value * 10 + next;
      ++read;
    }
    for (; read < 3; ++read) value *= 10;
    return value;
  }

 private:
  int digit() noexcept {
    if (left_.empty() || left_.front() < '0' || left_.front() > '9') return -1;
    const int value = left_.front() - '0';
    left_.remove_prefix(1);
    return value;
  }

  std::string_view left_;
};

std::optional<std::chrono::sys_days> read_date(time_reader& text) noexcept {
  const int year = text.digits(4);
  if (year < 0 || !text.take('-')) return {};
  const int month = text.digits(2);
  if (month < 0 || !text.take('-')) return {};
  const int day = text.digits(2);
  if (day < 0) return {};
  const std::chrono::year_month_day date{std::chrono::year{year},
                                         std::chrono::month{static_cast<unsigned>(month)},
                                         std::chrono::day{static_cast<unsigned>(day)}};
  return date.ok() ? std::optional(std::chrono::sys_days(date)) : std::nullopt;
}

std::optional<std::chrono::milliseconds> read_clock(time_reader& text) noexcept {
  const int hour = text.digits(2);
  if (hour < 0 || hour > 23 || !text.take(':')) return {};
  const int minute = text.digits(2);
  if (minute < 0 || minute > 59) return {};
  int second = 0;
  int fraction = 0;
  if (text.take(':')) {
    second = text.digits(2);
    if (text.take('.')) fraction = text.fraction();
  }
  if (second < 0 || second > 59 || fraction < 0) return {};
  return std::chrono::hours(hour) + std::chrono::minutes(minute) + std::chrono::seconds(second) +
         std::chrono::milliseconds(fraction);
}

/// The distance from UTC at the end of the text, which must end there.
std::optional<std::chrono::minutes> read_offset(time_reader& text) noexcept {
  text.take(' ');
  if (text.done() || (text.take('Z') && text.done())) return std::chrono::minutes(0);
  const bool west = text.take('-');
  if (!west && !text.take('+')) return {};
  const int hours = text.digits(2);
  const int minutes = text.done() ? 0 : (text.take(':'), text.digits(2));
  if (hours < 0 || hours > 23 || minutes < 0 || minutes > 59 || !text.done()) return {};
  const std::chrono::minutes distance(hours * 60 + minutes);
  return west ? -distance : distance;
}

}  // namespace

std::optional<timestamp> parse_timestamp(std::string_view text) noexcept {
  time_reader left(text);
  const auto date = read_date(left);
  if (!date || left.done()) return date;
  if (!left.take('T') && !left.take(' ')) return {};
  const auto clock = read_clock(left);
  const auto offset = clock ? read_offset(left) : std::nullopt;
  if (!offset) return {};
  return timestamp(*date) + *clock - *offset;
}

}  // namespace tableq::inline v0
