#include "core/schedule/time_zone.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"

namespace tableq::inline v0::core {
namespace {

using namespace std::chrono;

constexpr std::array places{"/usr/share/zoneinfo/", "/usr/lib/zoneinfo/", "/etc/zoneinfo/"};

[[noreturn]] void unreadable() {
  refuse("the file of the time zone cannot be read: install tzdata again");
}

bool may_be_zone(std::string_view name) {
  constexpr std::string_view allowed =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_+-/";
  // These two are a setting of this machine.
  return !name.empty() && name.size() <= 100 && name.front() != '/' && name != "localtime" &&
         name != "posixrules" && name.find_first_not_of(allowed) == std::string_view::npos;
}

std::string file_of(std::string_view name) {
  bool any = false;
  for (const std::string place : places) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(place, ignored)) continue;
    any = true;
    const std::string path = place + std::string(name);
    if (!may_be_zone(name) || !std::filesystem::is_regular_file(path, ignored)) continue;
    std::ifstream in(path, std::ios::binary);
    std::string out((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
    if (out.starts_with("TZif")) return out;
  }
  if (any)
    refuse("the time zone is unknown; give a name of the IANA database, such as Europe/Berlin");
  refuse(errc::unsupported, "this system has no time zone files: install tzdata, or use UTC");
}

/// Reads the numbers of a file, and refuses to read beyond its end.
class bytes {
 public:
  explicit bytes(std::string_view all) : rest_(all) {}
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) unreadable();
    const std::string_view out = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return out;
  }
  std::int64_t number(std::size_t width) {
    std::uint64_t out = 0;
    const std::string_view digits = take(width);
    if ((digits.front() & 0x80) != 0) out = ~out;
    for (const char each : digits) out = out << 8U | static_cast<unsigned char>(each);
    return static_cast<std::int64_t>(out);
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

/// The sizes of the parts of a block.
struct block_sizes {
  explicit block_sizes(bytes& in) {
    if (in.take(4) != "TZif" || in.take(1) < "2") unreadable();
    in.take(15);
    for (std::size_t* const each : {&utc, &standard, &leaps, &times, &types, &names}) {
      *each = static_cast<std::size_t>(in.number(4));
      if (*each > 10'000) unreadable();
    }
  }
  std::size_t utc = 0, standard = 0, leaps = 0, times = 0, types = 0, names = 0;
};

/// `-3:30` of a POSIX text. Parts that are missing are zero.
seconds clock_of(std::string text) {
  const bool negative = text.front() == '-';
  std::ranges::replace(text, ':', ' ');
  std::istringstream in(text.substr(text.find_first_not_of("+-")));
  std::array<int, 3> parts{};
  for (int& each : parts) in >> each;
  const seconds out = hours{parts[0]} + minutes{parts[1]} + seconds{parts[2]};
  return negative ? -out : out;
}

}  // namespace

time_zone::time_zone(std::string_view name) {
  if (name != "UTC") read(file_of(name));
}

void time_zone::read(std::string_view file) {
  bytes in(file);
  const block_sizes old(in);  // of 32 bits; the same again in 64 bits follows
  in.take(old.times * 5 + old.types * 6 + old.names + old.leaps * 8 + old.standard + old.utc);
  const block_sizes sizes(in);
  if (sizes.leaps != 0) refuse("time zones that count leap seconds cannot be used");
  bytes times(in.take(sizes.times * 8));
  bytes types_of(in.take(sizes.times));
  std::vector<seconds> offsets;
  for (std::size_t i = 0; i < sizes.types; ++i) {
    offsets.emplace_back(in.number(4));
    in.take(2);
  }
  if (offsets.empty()) unreadable();
  earliest_ = offsets.front();
  for (std::size_t i = 0; i < sizes.times; ++i) {
    const instant begin(seconds(times.number(8)));
    const auto type = static_cast<std::size_t>(types_of.number(1) & 0xFF);
    if (type >= offsets.size()) unreadable();
    periods_.push_back({begin, offsets.at(type)});
  }
  in.take(sizes.names + sizes.standard + sizes.utc);
  const std::string_view rest = in.rest();
  if (rest.size() < 2 || rest.front() != '\n' || rest.back() != '\n') unreadable();
  standard_ = summer_ = periods_.empty() ? earliest_ : periods_.back().offset;
  if (rest.size() > 2) read_footer(std::string(rest.substr(1, rest.size() - 2)));
}

void time_zone::read_footer(const std::string& footer) {
  // Names and offsets of both times, then the days and times of the changes.
  static const std::regex form(
      R"((?:<[^>]*>|[A-Za-z]+)([-+]?[\d:]{1,9})(?:(?:<[^>]*>|[A-Za-z]+)([-+]?[\d:]{1,9})?)"
      R"(,([MJ]?[\d.]{1,9})(?:/([-+]?[\d:]{1,9}))?,([MJ]?[\d.]{1,9})(?:/([-+]?[\d:]{1,9}))?)?)");
  std::smatch found;
  if (!std::regex_match(footer, found, form)) unreadable();
  standard_ = summer_ = -clock_of(found[1]);  // the text counts westward
  if (!found[3].matched) return;
  summer_ = found[2].matched ? -clock_of(found[2]) : standard_ + hours{1};
  const auto change_of = [](std::string day, const auto& time) {
    change out;
    if (time.matched) out.time = clock_of(time);
    std::ranges::replace(day, '.', ' ');
    std::istringstream in(day);
    if (in.peek() == 'M' || in.peek() == 'J') out.form = static_cast<char>(in.get());
    if (out.form == 'M') in >> out.month >> out.week;
    if (!(in >> out.day)) unreadable();
    return out;
  };
  yearly_.emplace(change_of(found[3], found[4]), change_of(found[5], found[6]));
}

time_zone::wall time_zone::change::in(year in) const {
  const local_days new_year(in / January / 1);
  if (form == 'M') {
    const weekday wanted(static_cast<unsigned>(day));
    const year_month of = in / std::chrono::month(static_cast<unsigned>(month));
    const local_days found = week == 5 ? local_days(of / wanted[last])
                                       : local_days(of / wanted[static_cast<unsigned>(week)]);
    return found + time;
  }
  if (form != 'J') return new_year + days{day} + time;
  return new_year + days{day - (in.is_leap() && day >= 60 ? 0 : 1)} + time;  // without 29 February
}

time_zone::span time_zone::later_at(instant time) const {
  if (!yearly_) return {.offset = standard_};
  const year now = year_month_day(floor<days>(time)).year();
  std::vector<period> around;
  for (const year each : {now - years{1}, now, now + years{1}}) {
    const instant back(yearly_->second.in(each).time_since_epoch() - summer_);
    const instant forth(yearly_->first.in(each).time_since_epoch() - standard_);
    around.push_back({back, standard_});
    around.push_back({forth, summer_});
  }
  std::ranges::stable_sort(around, {}, &period::begin);
  const auto next = std::ranges::upper_bound(around, time, {}, &period::begin);
  return {.offset = std::prev(next)->offset, .end = next->begin};
}

time_zone::span time_zone::at(instant time) const {
  const auto next = std::ranges::upper_bound(periods_, time, {}, &period::begin);
  if (next == periods_.end()) return later_at(time);
  return {.offset = next == periods_.begin() ? earliest_ : std::prev(next)->offset,
          .end = next->begin};
}

time_zone::instant time_zone::first(wall time) const {
  constexpr hours farther_than_any_offset{30};
  instant from(time.time_since_epoch() - farther_than_any_offset);
  for (;;) {
    const span here = at(from);
    const instant found = std::max(from, instant(time.time_since_epoch() - here.offset));
    if (found < here.end) return found;
    from = here.end;
  }
}

}  // namespace tableq::inline v0::core
