#include "core/floor/read_floor.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tableq::core::read_floor;

/// A queue with ids from 1 on.
class read_floors : public testing::Test {
 protected:
  /// Reads messages of a level.
  read_floor::start read(std::int64_t first, std::int64_t last, std::int64_t level = 0) {
    const read_floor::start from = low_.begin(now_);
    const read_floor::level_result got{.level = level,
                                       .count = static_cast<std::size_t>(last - first + 1),
                                       .first = first,
                                       .last = last};
    low_.end(from, {&got, 1}, now_);
    return from;
  }
  /// A read of one message that takes this long.
  read_floor::start read_in(std::chrono::milliseconds time) {
    const read_floor::start from = low_.begin(now_);
    const read_floor::level_result got{.level = 0, .count = 1, .first = 9, .last = 9};
    now_ += time;
    low_.end(from, {&got, 1}, now_);
    return from;
  }
  /// Enough reads for a query.
  void read_many(std::int64_t first) {
    for (std::int64_t i = 0; i < 10; ++i) read(first + i * 100, first + i * 100 + 99);
  }
  /// A look that finds this first message and these writers.
  void look(std::optional<std::int64_t> first, const std::string& writers, bool ended = true) {
    const auto asked = low_.ask(now_);
    ASSERT_TRUE(asked);
    low_.answer(*asked, {.first = {first}, .oldest = first, .writers = writers, .ended = ended},
                now_);
  }
  /// The same beside no writer, with the database's clock, and a message that fell due at `due`.
  void look_at(std::int64_t clock, std::optional<std::int64_t> due = {}) {
    read_many(1);
    const auto asked = low_.ask(now_);
    ASSERT_TRUE(asked);
    low_.answer(
        *asked,
        {.first = {1}, .oldest = 1, .due = due, .clock = clock, .writers = "", .ended = true},
        now_);
  }
  /// Has a floor at 1.
  void begin_at_one() {
    for (int i = 0; i < 2; ++i) {
      read(1, 1);
      look(1, "");
    }
    ASSERT_EQ(floor(), 1);
  }
  /// The beginning of the next read.
  read_floor::start next() {
    static_cast<void>(low_.begin(now_));
    read_floor::start from = low_.begin(now_);
    EXPECT_FALSE(from.everything);
    return from;
  }
  std::int64_t floor() { return next().levels.front().floor; }

  read_floor low_;
  read_floor::clock::time_point now_ = read_floor::clock::time_point(1h);
};

TEST_F(read_floors, rises_when_the_writers_of_a_look_have_ended) {
  read_many(1);
  look(1001, "5/1 6/1");
  EXPECT_EQ(floor(), read_floor::lowest) << "they may still add 999";
  read_many(1001);
  look(2001, "6/1", false);
  EXPECT_EQ(floor(), read_floor::lowest);
  read_many(2001);
  look(3001, "7/1", true);
  EXPECT_EQ(floor(), read_floor::lowest) << "the snapshot may be older than the end of 6/1";
  read_many(3001);
  look(4001, "8/1", true);
  EXPECT_EQ(floor(), 1002) << "999 would have shown by now";
  read_many(4001);
  look(5001, "", true);
  read_many(5001);
  look(6001, "", true);
  EXPECT_EQ(floor(), 4002);
}

TEST_F(read_floors, rises_at_the_second_look_beside_no_writers) {
  read_many(1);
  look(1001, "");
  read_many(1001);
  look(2001, "");
  EXPECT_EQ(floor(), 1002) << "the message of the first look was read";
}

TEST_F(read_floors, searches_for_the_writers_of_the_first_look) {
  read_many(1);
  look(1001, "5/1 6/1");
  read_many(1001);
  const auto asked = low_.ask(now_);
  ASSERT_TRUE(asked);
  EXPECT_EQ(asked->writers, "5/1 6/1");
}

TEST_F(read_floors, stops_at_a_message_that_turned_up_late) {
  read_many(1);
  look(1001, "");
  read_many(1001);
  look(999, "");
  EXPECT_EQ(floor(), 999);
}

TEST_F(read_floors, rises_over_all_that_was_read_where_nothing_is_left) {
  read_many(1);
  look(std::nullopt, "");
  read_many(1001);
  look(std::nullopt, "");
  EXPECT_EQ(floor(), 1001);
}

TEST_F(read_floors, rises_in_an_empty_queue_that_others_have_read) {
  low_.adopt(nullptr, 0ms, now_);
  for (int i = 0; i < 3; ++i) {
    const auto asked = low_.ask(now_);
    ASSERT_TRUE(asked);
    low_.answer(*asked, {.first = {{}}, .last = 1000, .writers = "", .ended = true}, now_);
  }
  EXPECT_EQ(floor(), 1001);
}

TEST_F(read_floors, is_asked_for_after_many_messages_and_by_one_at_a_time) {
  begin_at_one();
  for (int i = 1; i < 64; ++i) read(i, i);
  EXPECT_FALSE(low_.ask(now_));
  read(64, 64);
  const auto asked = low_.ask(now_);
  ASSERT_TRUE(asked);
  read_many(65);
  EXPECT_FALSE(low_.ask(now_));
  low_.give_up();
  EXPECT_TRUE(low_.ask(now_));
}

TEST_F(read_floors, is_asked_for_after_few_messages_that_took_long) {
  begin_at_one();
  for (int i = 1; i <= 8; ++i) read(i, i);
  now_ += 9ms;
  EXPECT_FALSE(low_.ask(now_));
  now_ += 1ms;
  EXPECT_TRUE(low_.ask(now_));
  low_.give_up();
  for (int i = 9; i < 16; ++i) read(i, i);
  now_ += 1h;
  EXPECT_FALSE(low_.ask(now_)) << "not for less than eight";
}

TEST_F(read_floors, is_asked_for_after_several_reads_however_many_each_returns) {
  begin_at_one();
  for (int i = 0; i < 7; ++i) read(i * 100 + 1, i * 100 + 100);
  EXPECT_FALSE(low_.ask(now_));
  read(701, 800);
  EXPECT_TRUE(low_.ask(now_));
}

TEST_F(read_floors, is_asked_for_at_once_when_nothing_is_known_but_not_for_ever) {
  for (int i = 0; i < 10; ++i) {
    read(i + 1, i + 1);
    look(i + 2, "5/1", false);  // A writer does not end.
  }
  read(11, 11);
  EXPECT_FALSE(low_.ask(now_));
}

TEST_F(read_floors, forgets_what_it_meant_to_rise_to_when_asking_fails) {
  read_many(1);
  look(1001, "");
  read_many(1001);
  ASSERT_TRUE(low_.ask(now_));
  low_.give_up();
  read_many(2001);
  look(3001, "");
  EXPECT_EQ(floor(), read_floor::lowest);
}

TEST_F(read_floors, is_left_out_now_and_then_and_lowered_to_what_that_finds) {
  EXPECT_TRUE(low_.begin(now_).everything);
  read_many(1);
  look(1001, "");
  read_many(1001);
  look(2001, "");
  EXPECT_EQ(floor(), 1002);
  now_ += 999ms;
  EXPECT_FALSE(read(2001, 2001).everything);
  now_ += 1ms;
  EXPECT_TRUE(read(7, 7).everything);
  EXPECT_EQ(floor(), 7);
  read_many(2002);
  look(std::nullopt, "");
  EXPECT_EQ(floor(), 7) << "what it meant to rise to is forgotten";
}

TEST_F(read_floors, is_each_levels_own) {
  for (int i = 0; i < 2; ++i) {
    read(1 + i * 100, 50 + i * 100, 0);
    read(51 + i * 100, 100 + i * 100, 7);
    const auto asked = low_.ask(now_);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->known, 100 + i * 100);
    ASSERT_EQ(asked->levels.size(), 2U);
    EXPECT_EQ(asked->levels[0].level, 7) << "the higher one comes first";
    low_.answer(*asked,
                {.first = {std::nullopt, 60},
                 .oldest = 40,
                 .clock = 1000 + i,
                 .writers = "",
                 .ended = true},
                now_);
  }
  const read_floor::start from = next();
  EXPECT_EQ(from.levels, (std::vector<read_floor::level_floor>{{7, 101}, {0, 60}}));
  EXPECT_EQ(from.oldest, 40);
  EXPECT_EQ(from.passed, 1000);
}

TEST_F(read_floors, is_lowered_by_what_was_never_read_and_not_by_what_came_back) {
  begin_at_one();
  read_many(1);
  look(1001, "");
  read_many(1001);
  look(2001, "");
  ASSERT_EQ(floor(), 1002);
  read_floor::level_result got{.count = 1, .last = 7};
  low_.end(next(), {&got, 1}, now_);
  EXPECT_EQ(floor(), 1002);
  EXPECT_EQ(next().oldest, 1002);
  got.first = 7;
  low_.end(next(), {&got, 1}, now_);
  EXPECT_EQ(floor(), 7);
  EXPECT_EQ(next().oldest, 7);
}

TEST_F(read_floors, belongs_to_the_levels_that_are_read_from_most) {
  constexpr auto most = static_cast<std::int64_t>(read_floor::most_levels);
  for (std::int64_t i = 1; i <= most; ++i) read(i * 10, i * 10 + 3, i);
  read(500, 500, 99);
  ASSERT_EQ(next().levels.size(), read_floor::most_levels);
  EXPECT_EQ(next().levels.front().level, most) << "all others have been read from";
  // One level is no longer read, while time passes.
  for (int round = 0; round < 10; ++round) {
    for (std::int64_t i = 2; i < 2 * most; ++i) read(i * 10, i * 10 + 9, i / 2 + 1);
    ASSERT_TRUE(low_.ask(now_));
    low_.give_up();
  }
  read(500, 500, 99);
  EXPECT_EQ(next().levels.front().level, 99);
  EXPECT_EQ(next().levels.back().level, 2);
}

TEST_F(read_floors, of_what_is_due_is_none_after_the_clock_was_set_back) {
  // By more than the age of the floor, and by less.
  for (const std::int64_t back : {1, 500, 5000}) {
    SCOPED_TRACE(back);
    for (const std::int64_t time : {15000, 16000, 17000}) look_at(time + back);
    ASSERT_EQ(next().passed, 16000 + back);
    look_at(17000);
    EXPECT_EQ(next().passed, read_floor::lowest) << "what has come since may fall due at any time";
    look_at(17010);
    EXPECT_EQ(next().passed, 17000);
  }
}

TEST_F(read_floors, of_what_is_due_is_not_behind_what_is_still_due) {
  for (const std::int64_t time : {5000, 6000, 7000}) look_at(time, 4000);
  EXPECT_EQ(next().passed, 4000);
}

TEST_F(read_floors, of_what_is_due_is_asked_for_again_after_a_second) {
  for (const std::int64_t time : {5000, 6000}) look_at(time);
  for (int i = 1; i <= 8; ++i) read(i, i);
  EXPECT_FALSE(low_.ask(now_));
  now_ += 1s;
  EXPECT_TRUE(low_.ask(now_)) << "the clock may have been set back";
}

TEST_F(read_floors, of_what_is_due_is_asked_for_after_few_reads_only_if_they_are_slow_or_long_ago) {
  for (const std::int64_t time : {5000, 6000}) look_at(time);
  now_ += 1s;
  for (int i = 0; i < 7; ++i) read_in(1ms);
  EXPECT_FALSE(low_.ask(now_));
  read_in(2ms);
  EXPECT_TRUE(low_.ask(now_));
  low_.give_up();
  read_in(1ms);
  EXPECT_TRUE(low_.ask(now_)) << "the second of two looks";
  low_.give_up();
  now_ += 9s;
  read_in(1ms);
  EXPECT_FALSE(low_.ask(now_));
  now_ += 1s;
  EXPECT_TRUE(low_.ask(now_)) << "the clock may have been set back";
}

TEST_F(read_floors, are_told_to_others_after_a_read_from_the_start_only_if_it_is_not_cheap) {
  const auto starts_over_in = [&](std::chrono::milliseconds time) {
    now_ += 1s;
    EXPECT_TRUE(read_in(time).everything);
  };
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(low_.news(now_));
  starts_over_in(1ms);
  EXPECT_FALSE(low_.news(now_));
  starts_over_in(2ms);
  EXPECT_TRUE(low_.news(now_));
  EXPECT_FALSE(low_.news(now_));
}

TEST_F(read_floors, of_what_is_due_follows_by_two_looks_after_a_rest) {
  for (const std::int64_t time : {5000, 6000}) look_at(time);
  now_ += 3s;
  read(1, 8);
  for (const std::int64_t time : {9000, 9001}) {
    read(1, 1);
    const auto asked = low_.ask(now_);
    ASSERT_TRUE(asked) << time;
    low_.answer(*asked, {.first = {1}, .oldest = 1, .clock = time, .writers = "", .ended = true},
                now_);
  }
  EXPECT_EQ(low_.due(true).passed, 9000);
  read(1, 1);
  EXPECT_FALSE(low_.ask(now_));
}

TEST_F(read_floors, of_what_is_due_is_left_out_once_after_a_read_from_the_start_got_nothing) {
  for (const std::int64_t time : {5000, 6000}) look_at(time);
  EXPECT_EQ(low_.due(true).passed, 5000);
  low_.end(next(), {}, now_);
  EXPECT_EQ(low_.due(true).passed, 5000);
  now_ += 1s;
  const read_floor::start from = low_.begin(now_);
  ASSERT_TRUE(from.everything);
  low_.end(from, {}, now_);
  EXPECT_EQ(low_.due(false).passed, 5000);
  EXPECT_EQ(low_.due(true).passed, read_floor::lowest);
  EXPECT_EQ(low_.due(true).passed, 5000);
}

TEST_F(read_floors, is_left_out_less_often_where_that_takes_long) {
  for (const auto pause : {2s, 4s, 5s, 5s}) {
    const read_floor::start from = low_.begin(now_);
    ASSERT_TRUE(from.everything);
    low_.end(from, {}, now_ + 100ms);
    now_ += pause - 1ms;
    EXPECT_FALSE(low_.begin(now_).everything);
    now_ += 1ms;
  }
}

TEST_F(read_floors, is_not_left_out_after_a_rest_where_that_takes_long) {
  begin_at_one();
  now_ += 1s;
  ASSERT_TRUE(read_in(30ms).everything);
  now_ += 9min;
  EXPECT_FALSE(read_in(1499ms).everything);
  EXPECT_FALSE(read_in(1ms).everything);
  EXPECT_TRUE(read_in(30ms).everything) << "reads took fifty times as long since then";
  now_ += 10min;
  EXPECT_TRUE(read_in(30ms).everything) << "after all, ids may have been drawn by hand";
}

TEST_F(read_floors, is_left_out_after_a_rest_where_nothing_was_found_or_that_takes_no_time) {
  begin_at_one();
  now_ += 1s;
  ASSERT_TRUE(read_in(30ms).everything);
  low_.end(next(), {}, now_);
  now_ += 2s;
  EXPECT_TRUE(read_in(1ms).everything);
  now_ += 1s;
  EXPECT_TRUE(read_in(1ms).everything);
}

TEST_F(read_floors, is_soon_left_out_again_after_a_read_that_waited_for_a_lock) {
  const read_floor::start from = low_.begin(now_);
  low_.end(from, {}, now_ + 5s);
  now_ += 5s;
  const read_floor::start next = low_.begin(now_);
  EXPECT_TRUE(next.everything);
  low_.end(next, {}, now_ + 1ms);
  now_ += 1s;
  EXPECT_TRUE(low_.begin(now_).everything);
}

}  // namespace
