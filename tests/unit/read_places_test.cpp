#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

#include "drivers/postgresql/floor/table_places.hpp"

namespace {

using namespace std::chrono_literals;
using namespace tableq::drivers::postgresql;  // NOLINT(google-build-using-namespace): what is
                                              // tested
using ids = std::vector<std::int64_t>;

/// A queue with ids from 1 on.
class read_places : public testing::Test {
 protected:
  /// Reads messages of a priority.
  table_places::start read(std::int64_t first, std::int64_t last, std::int64_t priority = 0) {
    std::vector<read_message> got;
    for (std::int64_t id = first; id <= last; ++id) got.push_back({.id = id, .priority = priority});
    const table_places::start from = at_.begin(now_);
    at_.end(from, got, by_, now_);
    return from;
  }
  /// A read of one message that takes this long.
  table_places::start read_in(std::chrono::milliseconds time) {
    const table_places::start from = at_.begin(now_);
    const read_message nine{.id = 9};
    now_ += time;
    at_.end(from, {&nine, 1}, by_, now_);
    return from;
  }
  /// Enough reads for a look.
  void read_many(std::int64_t first) {
    for (std::int64_t i = 0; i < 10; ++i) read(first + i * 100, first + i * 100 + 99);
  }
  /// A look that finds this first message and these writers.
  void look(std::optional<std::int64_t> first, const std::string& writers, bool ended = true) {
    const auto asked = at_.ask(by_, now_);
    ASSERT_TRUE(asked);
    at_.answer(*asked, {.first = first, .writers = writers, .ended = ended}, now_);
  }
  /// The same beside no writer, with the database's clock, and a message that fell due at `due`.
  void look_at(std::int64_t clock, std::optional<std::int64_t> due = {}) {
    read_many(1);
    const auto asked = at_.ask(by_, now_);
    ASSERT_TRUE(asked);
    at_.answer(*asked, {.first = 1, .due = due, .clock = clock, .writers = "", .ended = true},
               now_);
  }
  /// Begins at 1.
  void begin_at_one() {
    for (int i = 0; i < 2; ++i) {
      read_many(1);
      look(1, "");
    }
    ASSERT_EQ(oldest(), 1);
  }
  /// The beginning of the next read.
  places next() {
    static_cast<void>(at_.begin(now_));
    const table_places::start from = at_.begin(now_);
    EXPECT_FALSE(from.everything);
    return from.where;
  }
  std::int64_t oldest() { return next().oldest; }

  order by_ = order::ids;
  table_places at_;
  time_point now_ = time_point(1h);
};

TEST_F(read_places, rise_in_an_empty_queue_that_others_have_read) {
  ASSERT_TRUE(at_.asks_others(true, now_));
  for (int i = 0; i < 3; ++i) {
    const auto asked = at_.ask(by_, now_);
    ASSERT_TRUE(asked);
    at_.answer(*asked, {.last = 1000, .writers = "", .ended = true}, now_);
  }
  EXPECT_EQ(oldest(), 1001);
}

TEST_F(read_places, are_looked_for_after_many_messages_and_by_one_at_a_time) {
  begin_at_one();
  for (int i = 1; i < 64; ++i) read(i, i);
  EXPECT_FALSE(at_.ask(by_, now_));
  read(64, 64);
  const auto asked = at_.ask(by_, now_);
  ASSERT_TRUE(asked);
  read_many(65);
  EXPECT_FALSE(at_.ask(by_, now_));
  at_.give_up();
  EXPECT_TRUE(at_.ask(by_, now_));
}

TEST_F(read_places, are_looked_for_at_once_when_nothing_is_known_but_not_for_ever) {
  ASSERT_TRUE(at_.asks_others(true, now_));
  for (int i = 0; i < 10; ++i) {
    look(i + 2, "5/1", false);  // A writer does not end.
    read(i + 1, i + 1);
  }
  EXPECT_FALSE(at_.ask(by_, now_));
}

TEST_F(read_places, stay_when_a_look_fails) {
  read_many(1);
  look(1001, "");
  read_many(1001);
  ASSERT_TRUE(at_.ask(by_, now_));
  at_.give_up();
  read_many(2001);
  look(3001, "");
  EXPECT_EQ(oldest(), lowest);
}

TEST_F(read_places, are_left_out_now_and_then_and_lowered_to_what_that_finds) {
  EXPECT_TRUE(at_.begin(now_).everything);
  read_many(1);
  look(1001, "");
  read_many(1001);
  look(2001, "");
  EXPECT_EQ(oldest(), 1002);
  now_ += 999ms;
  EXPECT_FALSE(read(2001, 2001).everything);
  now_ += 1ms;
  EXPECT_TRUE(read(7, 7).everything);
  EXPECT_EQ(oldest(), 7);
  read_many(2002);
  look(std::nullopt, "");
  EXPECT_EQ(oldest(), 7) << "what it meant to rise to is forgotten";
}

TEST_F(read_places, are_left_out_less_often_where_that_takes_long) {
  for (const auto pause : {2s, 4s, 5s, 5s}) {
    const table_places::start from = at_.begin(now_);
    ASSERT_TRUE(from.everything);
    at_.end(from, {}, by_, now_ + 100ms);
    now_ += pause - 1ms;
    EXPECT_FALSE(at_.begin(now_).everything);
    now_ += 1ms;
  }
}

TEST_F(read_places, are_not_left_out_after_a_rest_where_that_takes_long) {
  ASSERT_TRUE(read_in(30ms).everything);
  now_ += 9min;
  EXPECT_FALSE(read_in(1499ms).everything);
  EXPECT_FALSE(read_in(1ms).everything);
  EXPECT_TRUE(read_in(30ms).everything) << "reads took fifty times as long since then";
  now_ += 10min;
  EXPECT_TRUE(read_in(30ms).everything) << "after all, ids may have been drawn by hand";
}

TEST_F(read_places, are_left_out_after_a_rest_where_nothing_was_found_or_that_takes_no_time) {
  ASSERT_TRUE(read_in(30ms).everything);
  at_.end({.everything = false, .at = now_}, {}, by_, now_);
  now_ += 2s;
  EXPECT_TRUE(read_in(1ms).everything);
  now_ += 1s;
  EXPECT_TRUE(read_in(1ms).everything);
}

TEST_F(read_places, are_left_out_by_looks_that_take_nothing_on_a_schedule_of_their_own) {
  const table_places::start from = at_.glance(now_);
  EXPECT_TRUE(from.everything);
  at_.glanced(from, now_);
  EXPECT_FALSE(at_.glance(now_).everything);
  EXPECT_TRUE(at_.begin(now_).everything);
}

TEST_F(read_places, are_soon_left_out_again_after_a_read_that_waited_for_a_lock) {
  const table_places::start from = at_.begin(now_);
  at_.end(from, {}, by_, now_ + 5s);
  now_ += 5s;
  const table_places::start next = at_.begin(now_);
  EXPECT_TRUE(next.everything);
  at_.end(next, {}, by_, now_ + 1ms);
  now_ += 1s;
  EXPECT_TRUE(at_.begin(now_).everything);
}

TEST_F(read_places, of_each_priority_are_its_own) {
  by_ = order::priorities;
  for (int i = 0; i < 2; ++i) {
    read(1 + i * 100, 50 + i * 100, 0);
    read(51 + i * 100, 100 + i * 100, 7);
    const auto asked = at_.ask(by_, now_);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->known, 100 + i * 100);
    ASSERT_EQ(asked->where.levels.size(), 2U);
    EXPECT_EQ(asked->where.levels[0].priority, 7) << "the higher one comes first";
    at_.answer(*asked,
               {.levels = {{0, 60}, {7, std::nullopt}},
                .first = 40,
                .clock = 1000 + i,
                .writers = "",
                .ended = true},
               now_);
  }
  const places from = next();
  EXPECT_EQ(from.levels, (std::vector<level>{{7, 101}, {0, 60}}));
  EXPECT_EQ(from.oldest, 40);
  EXPECT_EQ(from.passed, 1000);
  const range_lists line = line_of(from, false);
  EXPECT_EQ(line.highs, "2147483647,7,6,0,-1");
  EXPECT_EQ(line.lows, "8,7,1,0,-2147483648");
  EXPECT_EQ(line.floors, "40,101,40,60,40");
}

TEST_F(read_places, are_lowered_by_what_was_never_read_and_not_by_what_came_back) {
  by_ = order::priorities;
  for (int i = 0; i < 2; ++i) {
    read_many(1);
    const auto asked = at_.ask(by_, now_);
    ASSERT_TRUE(asked);
    at_.answer(*asked, {.levels = {{0, 900}}, .first = 900, .writers = "", .ended = true}, now_);
  }
  ASSERT_EQ(next().levels.front().floor, 900);
  const auto read_seven = [&](bool returned) {
    const read_message seven{.id = 7, .returned = returned};
    at_.end(at_.begin(now_), {&seven, 1}, by_, now_);
    return next();
  };
  EXPECT_EQ(read_seven(true).levels.front().floor, 900);
  EXPECT_EQ(next().oldest, 900);
  EXPECT_EQ(read_seven(false).levels.front().floor, 7);
  EXPECT_EQ(next().oldest, 7);
}

TEST_F(read_places, belong_to_the_priorities_that_were_read_last) {
  by_ = order::priorities;
  constexpr auto most = static_cast<std::int64_t>(table_places::most_levels);
  for (std::int64_t i = 1; i <= most; ++i) read(i * 10, i * 10 + 3, i);
  read(500, 500, 99);
  ASSERT_EQ(next().levels.size(), table_places::most_levels);
  EXPECT_EQ(next().levels.front().priority, 99);
  EXPECT_EQ(next().levels.back().priority, 2);
}

TEST_F(read_places, of_due_times_are_none_after_the_clock_was_set_back) {
  by_ = order::priorities;
  // By more than the age of the place, and by less.
  for (const std::int64_t back : {1, 500, 5000}) {
    SCOPED_TRACE(back);
    for (const std::int64_t time : {15000, 16000, 17000}) look_at(time + back);
    ASSERT_EQ(next().passed, 16000 + back);
    look_at(17000);
    EXPECT_EQ(next().passed, lowest) << "what has come since may fall due at any time";
    look_at(17010);
    EXPECT_EQ(next().passed, 17000);
  }
}

TEST_F(read_places, of_due_times_are_not_behind_what_is_still_due) {
  by_ = order::times;
  for (const std::int64_t time : {5000, 6000, 7000}) look_at(time, 4000);
  EXPECT_EQ(next().passed, 4000);
  EXPECT_EQ(next().oldest, lowest) << "ids say nothing about delayed messages";
}

TEST_F(read_places, of_groups_that_take_turns_are_times) {
  by_ = order::turns;
  const std::vector<read_message> later(
      64, {.id = 1, .priority = 7, .since = highest, .returned = true});
  const auto sees = [&](std::int64_t time, std::optional<std::int64_t> line) {
    now_ += 100ms;
    at_.end(at_.begin(now_), later, by_, now_);
    const auto asked = at_.ask(by_, now_);
    ASSERT_TRUE(asked);
    at_.answer(*asked, {.line = line, .clock = time, .writers = "", .ended = true}, now_);
  };
  sees(5000, std::nullopt);
  EXPECT_EQ(next().line, lowest) << "writers of that time may still run";
  sees(6000, 4000);
  EXPECT_EQ(next().line, 4000) << "a ready message stands there";
  sees(7000, std::nullopt);
  EXPECT_EQ(next().line, 6000) << "not over the time of the look before";
  const range_lists line = line_of(next(), true);
  EXPECT_EQ(line.highs, "2147483647,7,6");
  EXPECT_EQ(line.floors, "6000,6000,6000") << "a new priority leaves a message its time";
  const read_message met{.id = 3, .since = 5500};
  at_.end(at_.begin(now_), {&met, 1}, by_, now_);
  EXPECT_EQ(next().line, 5500);
  sees(8000, lowest);
  EXPECT_EQ(next().line, lowest) << "a group has a weight";
  sees(9000, std::nullopt);
  EXPECT_EQ(next().line, lowest) << "a writer that has seen the weight may still run";
  sees(9500, std::nullopt);
  EXPECT_EQ(next().line, 9000);
}

TEST_F(read_places, of_due_times_are_passed_over_each_second_by_a_read_that_asks_for_them) {
  const read_message found{.id = 1};
  const auto passes_over = [&](bool asks) {
    const table_places::start from = at_.begin(now_, asks);
    at_.end(from, {&found, 1}, order::priorities, now_);
    return from.searches && from.where.passed == lowest;
  };
  EXPECT_FALSE(passes_over(false)) << "the first read begins at the front, and does not ask";
  EXPECT_TRUE(passes_over(true));
  EXPECT_FALSE(passes_over(true)) << "soon after";
  now_ += 1s;
  EXPECT_FALSE(passes_over(false)) << "at the front, without asking";
  EXPECT_TRUE(passes_over(true)) << "however many reads begin at the front without asking";
}

TEST_F(read_places, of_due_times_are_searched_from_the_front_after_a_read_that_asked_from_there) {
  for (const std::int64_t time : {5000, 6000}) look_at(time);
  EXPECT_EQ(at_.search(true).passed, 5000);
  now_ += 2s;
  static_cast<void>(at_.begin(now_));
  const table_places::start from = at_.begin(now_, true);
  EXPECT_TRUE(from.everything);
  at_.end(from, {}, order::priorities, now_);
  EXPECT_EQ(at_.search(true).passed, lowest) << "a due message may have stopped it";
  EXPECT_EQ(at_.search(true).passed, 5000);
}

TEST_F(read_places, of_due_times_are_looked_for_twice_after_a_rest) {
  by_ = order::priorities;
  for (const std::int64_t time : {5000, 6000}) look_at(time);
  read(1, 1);
  EXPECT_FALSE(at_.ask(by_, now_));
  now_ += 3s;
  read(1, 8);
  for (const std::int64_t time : {9000, 9001}) {
    read(1, 1);
    const auto asked = at_.ask(by_, now_);
    ASSERT_TRUE(asked) << time;
    at_.answer(*asked,
               {.levels = {{0, 1}}, .first = 1, .clock = time, .writers = "", .ended = true}, now_);
  }
  EXPECT_EQ(at_.search(true).passed, 9000);
}

TEST_F(read_places,
       of_due_times_are_looked_for_after_few_reads_only_if_they_were_slow_or_long_ago) {
  for (const std::int64_t time : {5000, 6000}) look_at(time);
  now_ += 1s;
  for (int i = 0; i < 7; ++i) read_in(1ms);
  EXPECT_FALSE(at_.ask(by_, now_));
  read_in(2ms);
  EXPECT_TRUE(at_.ask(by_, now_));
  at_.give_up();
  read_in(1ms);
  EXPECT_TRUE(at_.ask(by_, now_)) << "the second of two looks";
  at_.give_up();
  now_ += 9s;
  read_in(1ms);
  EXPECT_FALSE(at_.ask(by_, now_));
  now_ += 1s;
  EXPECT_TRUE(at_.ask(by_, now_)) << "the clock may have been set back";
}

TEST_F(read_places, are_told_to_other_processes_after_a_read_from_the_start_that_is_not_cheap) {
  read_in(1ms);
  now_ += 1s;
  static_cast<void>(at_.news(now_));
  const auto told_after = [&](std::chrono::milliseconds time) {
    now_ += 1s;
    EXPECT_TRUE(read_in(time).everything);
    return at_.news(now_).has_value();
  };
  EXPECT_FALSE(told_after(1ms));
  EXPECT_TRUE(told_after(2ms));
}

TEST_F(read_places, of_due_times_are_left_out_once_after_a_read_from_the_start_got_nothing) {
  by_ = order::priorities;
  for (const std::int64_t time : {5000, 6000}) look_at(time);
  EXPECT_EQ(at_.search(true).passed, 5000);
  now_ += 1s;
  const table_places::start from = at_.begin(now_);
  ASSERT_TRUE(from.everything);
  at_.end(from, {}, by_, now_);
  EXPECT_EQ(at_.search(false).passed, 5000);
  EXPECT_EQ(at_.search(true).passed, lowest);
  EXPECT_EQ(at_.search(true).passed, 5000);
}

/// What one process tells another.
TEST_F(read_places, are_told_to_other_processes_when_they_have_risen_far) {
  begin_at_one();
  ASSERT_TRUE(at_.news(now_)) << "the first one";
  now_ += 250ms;
  read_many(1);
  look(1000, "");
  EXPECT_EQ(oldest(), 1000);
  EXPECT_TRUE(at_.news(now_)) << "a process may end soon";
  read_many(1001);
  look(2001, "");
  read_many(2001);
  look(3001, "");
  const auto news = at_.news(now_);
  ASSERT_TRUE(news);
  EXPECT_FALSE(at_.news(now_ + 1h)) << "once";
  now_ += 250ms;
  read_many(3001);
  look(news->where.oldest + 500, "");
  EXPECT_FALSE(at_.news(now_)) << "one step, after the first moves";
  const auto told = to_places(to_text(*news));
  ASSERT_TRUE(told);
  EXPECT_EQ(told->where, news->where);

  table_places other;
  ASSERT_TRUE(other.asks_others(true, now_));
  other.adopt(*told, 0ms, now_);
  const table_places::start from = other.begin(now_);
  EXPECT_FALSE(from.everything) << "the other one began there just now";
  EXPECT_EQ(from.where, news->where);
}

TEST_F(read_places, of_other_processes_are_asked_for_once_by_reads_and_each_second_by_others) {
  EXPECT_TRUE(at_.asks_others(true, now_));
  now_ += 2s;
  EXPECT_FALSE(at_.asks_others(true, now_));
  EXPECT_TRUE(at_.asks_others(false, now_));
  EXPECT_FALSE(at_.asks_others(false, now_));
}

TEST_F(read_places, of_other_processes_do_not_replace_newer_ones) {
  begin_at_one();
  at_.adopt({.where = {.oldest = 500}}, 1ms, now_);
  EXPECT_EQ(oldest(), 1);
  at_.adopt({.where = {.oldest = 500}, .read_in = 1000}, 1ms, now_ + 1s);
  EXPECT_EQ(oldest(), 500);
}

TEST(shared_places, are_none_in_any_other_text) {
  EXPECT_FALSE(to_places(""));
  EXPECT_FALSE(to_places(R"({"places":[],"oldest":7})")) << "of version 0.2.0";
  EXPECT_FALSE(to_places("1 2 3 4 5"));
  EXPECT_FALSE(to_places("1 2 3 4 5 6 1 7 2 8")) << "the higher priority comes first";
  EXPECT_TRUE(to_places("1 2 3 4 5 6 2 7 1 8"));
  EXPECT_EQ(to_places("1 2 3 4 5 6 2 7 9").value().where.line, 9);
}

}  // namespace
