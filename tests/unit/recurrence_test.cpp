// Cron texts and time zones, against croniter and Python's zoneinfo: recurrence_vectors.py.
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include "core/schedule/recurrence.hpp"
#include "core/schedule/time_zone.hpp"
#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using std::chrono::seconds;
using tableq::core::recurrence;
using tableq::core::time_zone;

std::vector<std::string> parts_of(const std::string& text, char by) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(by, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return out;
}

/// The lines of one kind, in parts.
std::vector<std::vector<std::string>> vectors(const std::string& kind) {
  std::ifstream in(TABLEQ_RECURRENCE_VECTORS);
  std::vector<std::vector<std::string>> out;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(kind + "|")) out.push_back(parts_of(line, '|'));
  }
  EXPECT_FALSE(out.empty());
  return out;
}

time_zone::instant at(const std::string& number) {
  return time_zone::instant(seconds(std::stoll(number)));
}
std::int64_t count(time_zone::instant time) {
  return time.time_since_epoch().count();
}
/// Files repeat an offset where only its name changes.
time_zone::instant end_of(const time_zone& zone, time_zone::span now) {
  while (now.end != time_zone::instant::max()) {
    const time_zone::span next = zone.at(now.end);
    if (next.offset != now.offset) break;
    now = next;
  }
  return now.end;
}
std::string next_of(const char* text, const char* zone, time_zone::instant after) {
  const auto next = recurrence(std::string_view(text)).after(after, time_zone(zone));
  return next ? std::to_string(count(std::chrono::floor<seconds>(*next))) : "none";
}

TEST(recurrence, has_the_times_of_croniter) {
  for (const auto& line : vectors("wall")) {
    const recurrence rule(line.at(1));
    time_zone::instant now = at(line.at(2));
    for (std::size_t i = 3; i < line.size(); ++i) {
      const auto next = rule.after(now, time_zone());
      ASSERT_TRUE(next && *next == at(line.at(i))) << line.at(1) << " after " << count(now);
      now = std::chrono::floor<seconds>(*next);
    }
  }
}

TEST(recurrence, has_the_times_of_ten_years_in_seven_zones) {
  for (const auto& line : vectors("times")) {
    const time_zone zone(line.at(1));
    const recurrence rule(line.at(2));
    std::uint64_t digest = 0xCBF29CE484222325;
    std::size_t times = 0;
    time_zone::instant now = at(line.at(3));
    for (;;) {
      const auto next = rule.after(now, zone);
      ASSERT_TRUE(next);
      ASSERT_GT(*next, now);
      if (*next >= at(line.at(4))) break;
      now = std::chrono::floor<seconds>(*next);
      digest = (digest ^ static_cast<std::uint64_t>(count(now))) * 0x100000001B3;
      ++times;
    }
    EXPECT_EQ(std::to_string(times), line.at(5)) << line.at(1) << " " << line.at(2);
    EXPECT_EQ(std::to_string(digest), line.at(6)) << line.at(1) << " " << line.at(2);
  }
}

TEST(time_zone, changes_as_zoneinfo_says_also_after_the_end_of_its_table) {
  for (const auto& line : vectors("changes")) {
    const time_zone zone(line.at(1));
    time_zone::span now = zone.at(at(line.at(2)));
    for (std::size_t i = 4; i < line.size(); ++i) {
      const auto change = parts_of(line.at(i), ' ');
      const time_zone::instant end = end_of(zone, now);
      EXPECT_EQ(count(end), count(at(change.at(0)))) << line.at(1);
      now = zone.at(end);
      EXPECT_EQ(now.offset, seconds(std::stoi(change.at(1)))) << line.at(1) << " " << count(end);
    }
    EXPECT_GE(end_of(zone, now), at(line.at(3)));
  }
}

TEST(time_zone, has_the_first_instant_of_each_wall_time_around_changes) {
  for (const auto& line : vectors("first")) {
    const time_zone zone(line.at(1));
    for (std::size_t i = 2; i < line.size(); ++i) {
      const auto each = parts_of(line.at(i), ' ');
      EXPECT_EQ(count(zone.first(time_zone::wall(seconds(std::stoll(each.at(0)))))),
                std::stoll(each.at(1)))
          << line.at(1) << " " << each.at(0);
    }
  }
}

TEST(time_zone, is_refused_unless_it_is_a_place_of_the_database) {
  for (const char* const wrong :
       {"", "Europe/Nowhere", "europe/berlin", "localtime", "posixrules", "../../etc/passwd",
        "/usr/share/zoneinfo/Europe/Berlin", "Europe", "tzdata.zi", "right/Europe/Berlin"}) {
    EXPECT_CODE(invalid_argument, static_cast<void>(time_zone(wrong))) << wrong;
  }
}

std::int64_t only(const std::vector<tableq::timestamp>& found) {
  return found.size() == 1 ? count(std::chrono::floor<seconds>(found.front())) : -1;
}

TEST(recurrence, is_real_time_for_an_interval) {
  const time_zone berlin("Europe/Berlin");
  EXPECT_EQ(*recurrence(24h).after(at("1427590799"), berlin), at("1427677199"));
  EXPECT_EQ(*recurrence(90s).after(at("1427590799") + 7ms, berlin), at("1427590889") + 7ms);
  EXPECT_EQ(only(recurrence(7s).last(at("100"), at("120"), 1, berlin)), 114);
  const std::vector<tableq::timestamp> all{at("100"), at("107"), at("114")};
  EXPECT_EQ(recurrence(7s).last(at("100"), at("120"), 5, berlin), all);
  for (const std::chrono::milliseconds wrong :
       {0ms, 999ms, 1500ms, std::chrono::milliseconds(-1s)}) {
    EXPECT_CODE(invalid_argument, recurrence{wrong});
  }
}

TEST(recurrence, finds_the_last_times_up_to_another_without_going_through_all) {
  const time_zone zone("Europe/Berlin");
  for (const char* const text : {"* * * * *", "30 2 * * *", "0 0 29 2 *", "5 4 1 1 *"}) {
    const recurrence rule{std::string_view(text)};
    const auto first = *rule.after(at("0"), zone);
    for (const char* const until : {"1427590799", "1727590800", "2527590801"}) {
      const auto last = rule.last(first, at(until), 3, zone);
      ASSERT_EQ(last.size(), 3U) << text;
      EXPECT_EQ(*rule.after(last[0], zone), last[1]) << text;
      EXPECT_EQ(*rule.after(last[1], zone), last[2]) << text;
      EXPECT_LE(last[2], at(until)) << text;
      EXPECT_GT(*rule.after(last[2], zone), at(until)) << text;
    }
    const auto second = *rule.after(first, zone);
    EXPECT_EQ(rule.last(first, second, 9, zone), (std::vector{first, second})) << text;
    EXPECT_EQ(rule.last(first, second - 1ms, 9, zone), std::vector{first}) << text;
  }
}

TEST(recurrence, refuses_all_else_with_its_position) {
  const std::vector<std::pair<const char*, const char*>> wrong{
      {"", "character 1: the minute is missing"},
      {"0 0 * *", "character 8: the weekday is missing"},
      {"0 0 * * * *", "character 11: there are five fields"},
      {"60 0 * * *", "character 1: the minute is 0 to 59"},
      {"0 24 * * *", "character 3: the hour is 0 to 23"},
      {"0 0 0 * *", "character 5: the day is 1 to 31"},
      {"0 0 * 13 *", "character 7: the month is 1 to 12 or a name like feb"},
      {"0 0 * * 8", "character 9: the weekday is 0 to 7 or a name like mon"},
      {"0 0 * * monday", "character 9: the weekday is"},
      {"0 0 * january *", "character 7: the month is"},
      {"0 0 L * *", "character 5: the day is"},
      {"0 0 * * 1#2", "character 10: a comma, a blank or the end"},
      {"0 0 15W * *", "character 7: a comma"},
      {"0 0 ? * *", "character 5: the day is"},
      {"0 5/2 * * *", "character 4: a step follows * or a range"},
      {"*/0 * * * *", "character 3: a step here is 1 to 59"},
      {"*/90 * * * *", "character 3: a step here is 1 to 59"},
      {"0 0 * * 5-1", "character 9: a range goes"},
      {"0 0,, * * *", "character 5: the hour is"},
      {"-1 0 * * *", "character 1: the minute is"},
      {"1- 0 * * *", "character 3: the minute is"},
      {"0 0 30 2 *", "character 5: none of these months has such a day"},
      {"0 0 31 4,jun *", "character 5: none"},
      {"@reboot", "character 1: the names are @yearly"},
      {"@Daily", "character 1: the names are"},
      {"9", "character 2: the hour is missing"},
      {"90s", "character 1: the minute is 0 to 59"}};
  for (const auto& [text, why] : wrong) {
    const tableq::error refused =
        tableq_test::thrown_by([&cron = text] { recurrence{std::string_view(cron)}; });
    EXPECT_EQ(to_string(refused.code()), "invalid_argument") << text;
    EXPECT_NE(std::string(refused.what()).find(why), std::string::npos)
        << text << ": " << refused.what();
  }
}

TEST(recurrence, may_have_blanks_and_names_in_any_case) {
  EXPECT_EQ(next_of("  0\t2  * JAN,Feb Sun-tue ", "UTC", at("0")),
            std::to_string((3 * 24 + 2) * 3600));
}

}  // namespace
