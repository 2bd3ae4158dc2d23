#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "concurrency/actor.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

constexpr std::size_t producers = 4;

/// How many messages go through a queue: TABLEQ_TEST_MESSAGES, or twenty thousand.
std::size_t message_count() {
  const char* given = std::getenv("TABLEQ_TEST_MESSAGES");
  return given == nullptr ? 20'000 : std::stoul(given);
}

class delivery : public on_each_kind {
 protected:
  using many = std::vector<std::unique_ptr<actor>>;

  std::unique_ptr<actor> start(const std::string& deed, const std::string& name,
                               std::size_t singles) {
    // In a cluster the servers that take differ from those that add.
    const std::string url = deed == "produce" ? here().url() : here().other_url();
    return std::make_unique<actor>(nlohmann::json{{"do", deed},
                                                  {"url", url},
                                                  {"kind", tableq::to_string(kind())},
                                                  {"queue", "mail"},
                                                  {"name", name},
                                                  {"singles", singles},
                                                  {"count", message_count() / producers}});
  }
  /// Four processes produce while `consumers` processes consume. @return the messages of each
  /// consumer.
  std::vector<std::vector<std::string>> exchange(std::size_t consumers) {
    static_cast<void>(make("mail"));
    const std::size_t singles = std::min<std::size_t>(500, message_count() / 20);
    many sending;
    many reading;
    for (std::size_t i = 0; i < consumers; ++i) reading.push_back(start("consume", "", singles));
    for (std::size_t i = 0; i < producers; ++i) {
      sending.push_back(start("produce", std::to_string(i), singles));
    }
    for (auto& each : sending) EXPECT_EQ(each->wait(), 0);
    std::vector<std::vector<std::string>> got;
    for (auto& each : reading) each->let_go();
    for (auto& each : reading) {
      EXPECT_EQ(each->wait(), 0);
      auto& lines = got.emplace_back();
      for (auto& line : each->lines()) lines.push_back(line.get<std::string>());
    }
    return got;
  }
  static void expect_each_once(const std::vector<std::vector<std::string>>& got) {
    std::map<std::string, int> seen;
    std::size_t all = 0;
    for (const auto& one : got) {
      all += one.size();
      for (const std::string& each : one) ++seen[each];
    }
    EXPECT_EQ(all, message_count() / producers * producers);
    EXPECT_EQ(seen.size(), message_count() / producers * producers);
    for (std::size_t p = 0; p < producers; ++p) {
      for (std::size_t n = 0; n < message_count() / producers; ++n) {
        const std::string sent = std::to_string(p) + ":" + std::to_string(n);
        ASSERT_EQ(seen[sent], 1) << sent;
      }
    }
  }
};
TABLEQ_ON_KINDS(delivery, distinct_backends);

TEST_P(delivery, every_message_arrives_exactly_once_between_eight_processes) {
  expect_each_once(exchange(4));
  EXPECT_EQ(make("mail").waiting(), 0U);
}

class order_between_processes : public delivery {};
INSTANTIATE_TEST_SUITE_P(, order_between_processes,
                         testing::Combine(testing::ValuesIn(distinct_backends()),
                                          testing::Values(tableq::kind::fifo, tableq::kind::lifo)),
                         backend_and_kind);

TEST_P(order_between_processes, fifo_and_lifo_order_is_exact_with_one_consumer) {
  const std::size_t count = message_count() / producers;
  ASSERT_EQ(start("produce", "0", 100)->wait(), 0);
  const auto reader = start("consume", "", 200);
  reader->let_go();
  ASSERT_EQ(reader->wait(), 0);
  const auto got = reader->lines();
  ASSERT_EQ(got.size(), count);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t expected = kind() == tableq::kind::fifo ? i : count - 1 - i;
    ASSERT_EQ(got[i].get<std::string>(), "0:" + std::to_string(expected));
  }
}

TEST_P(order_between_processes, one_fifo_consumer_sees_the_messages_of_each_producer_in_order) {
  if (kind() != tableq::kind::fifo) GTEST_SKIP() << "newest first has no such order while it grows";
  const auto got = exchange(1);
  expect_each_once(got);
  std::map<char, long> last;
  for (const std::string& each : got.at(0)) {
    const long n = std::stol(each.substr(2));
    const auto [before, first] = last.try_emplace(each[0], -1);
    ASSERT_GT(n, before->second) << each;
    before->second = n;
  }
}

}  // namespace
