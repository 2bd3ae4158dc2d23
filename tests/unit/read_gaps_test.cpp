#include "core/floor/read_gaps.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

namespace {

using namespace std::chrono_literals;
using tableq::core::read_gaps;

constexpr auto lowest = read_gaps::lowest;
constexpr auto highest = read_gaps::highest;
using ranges = std::vector<read_gaps::range>;

/// A queue that is read from its highest id.
class gaps_between_messages : public testing::Test {
 protected:
  void put(std::int64_t low, std::int64_t high) {
    for (std::int64_t id = low; id <= high; ++id) waiting_.insert(id);
  }
  /// Reads these messages in two parts, with a look after each.
  void read(std::int64_t high, std::int64_t low) {
    const std::int64_t middle = low + (high - low) / 2;
    read_at_once(high, middle + 1);
    read_at_once(middle, low);
  }
  void read_at_once(std::int64_t high, std::int64_t low) {
    std::vector<std::int64_t> ids;
    for (std::int64_t id = low; id <= high; ++id) {
      if (waiting_.erase(id) > 0) ids.push_back(id);
    }
    gaps_.end(gaps_.begin(now_), ids, now_);
    look();
  }
  /// Beside no writer.
  void look() {
    now_ += 20ms;
    const auto asked = gaps_.ask(now_);
    ASSERT_TRUE(asked);
    std::optional<std::int64_t> first;
    for (const auto& each : asked->ranges) {
      const auto after = waiting_.upper_bound(each.high);
      if (!first && after != waiting_.begin() && *std::prev(after) >= each.low)
        first = *std::prev(after);
    }
    gaps_.answer(*asked, {.first = first, .last = drawn_, .writers = "", .ended = true}, now_);
  }
  ranges searched() {
    static_cast<void>(gaps_.begin(now_));
    return gaps_.begin(now_).ranges;
  }

  std::set<std::int64_t> waiting_;
  std::optional<std::int64_t> drawn_;
  read_gaps gaps_;
  read_gaps::clock::time_point now_ = read_gaps::clock::time_point(1h);
};

TEST_F(gaps_between_messages, are_not_searched) {
  put(1, 1000);
  read(1000, 501);
  EXPECT_EQ(searched(), (ranges{{highest, 1001}, {500, lowest}}));
}

TEST_F(gaps_between_messages, that_touch_become_one) {
  put(1, 1000);
  read(1000, 501);
  read(500, 401);
  EXPECT_EQ(searched(), (ranges{{highest, 1001}, {400, lowest}}));
  put(1001, 2000);
  read(2000, 1501);
  EXPECT_EQ(searched(), (ranges{{highest, 2001}, {1500, 1001}, {400, lowest}}));
  read(1500, 1001);
  EXPECT_EQ(searched(), (ranges{{highest, 2001}, {400, lowest}}));
}

TEST_F(gaps_between_messages, may_reach_down_to_the_end) {
  put(1, 1000);
  read(1000, 1);
  EXPECT_EQ(searched(), (ranges{{highest, 1001}}));
}

TEST_F(gaps_between_messages, are_found_above_all_that_was_read) {
  put(1, 400);
  // Another process has read the ids up to 1,000.
  drawn_ = 1000;
  read(400, 301);
  read(300, 201);
  EXPECT_EQ(searched(), (ranges{{highest, 1001}, {200, lowest}}));
}

TEST_F(gaps_between_messages, are_forgotten_when_a_read_from_the_start_finds_a_message_there) {
  put(1, 1000);
  read(1000, 501);
  now_ += 1s;
  const std::vector<std::int64_t> by_hand{700};
  const auto from = gaps_.begin(now_);
  ASSERT_TRUE(from.everything);
  gaps_.end(from, by_hand, now_);
  EXPECT_EQ(searched(), (ranges{{highest, lowest}}));
}

TEST_F(gaps_between_messages, are_the_largest_ones) {
  for (std::int64_t i = 1; i <= 9; ++i) {
    put(i * 1000, i * 1000 + 50 * i);
    read(i * 1000 + 50 * i, i * 1000 + 1);
  }
  const ranges all = searched();
  ASSERT_EQ(all.size(), read_gaps::most_gaps + 1);
  EXPECT_EQ(all.back(), (read_gaps::range{2000, lowest})) << "the gap after 1,000 is gone";
}

}  // namespace
