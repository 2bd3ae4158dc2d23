#include <gtest/gtest.h>

#include <algorithm>

#include "concurrency/actor.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

class strict_order : public on_each_backend {
 protected:
  std::unique_ptr<actor> start(const std::string& deed, const std::string& kind,
                               std::size_t count) {
    // In a cluster the servers that take differ from those that add.
    const std::string url = deed == "produce" ? here().url() : here().other_url();
    return std::make_unique<actor>(nlohmann::json{{"do", deed},
                                                  {"url", url},
                                                  {"kind", kind},
                                                  {"queue", "mail"},
                                                  {"log", "log"},
                                                  {"name", deed},
                                                  {"singles", count / 2},
                                                  {"count", count}});
  }
  /// Four processes move everything into the log; the ids in the order in which they were read.
  std::vector<std::int64_t> move_all(const std::string& kind,
                                     std::vector<std::unique_ptr<actor>> senders,
                                     const std::string& deed = "move") {
    static_cast<void>(db().fifo("log"));
    std::vector<std::unique_ptr<actor>> movers;
    for (int i = 0; i < 4; ++i) movers.push_back(start(deed, kind, 0));
    for (auto& each : senders) EXPECT_EQ(each->wait(), 0);
    for (auto& each : movers) each->let_go();
    for (auto& each : movers) EXPECT_EQ(each->wait(), 0);
    std::vector<std::int64_t> ids;
    for (auto log = db().fifo("log");;) {
      const auto some = log.dequeue_batch(1000);
      if (some.empty()) return ids;
      for (const auto& each : some) ids.push_back(std::stoll(each.payload));
    }
  }
};
TABLEQ_ON_BACKENDS(strict_order, shared_backends);

TEST_P(strict_order, of_fifo_is_kept_with_four_consumers) {
  static_cast<void>(db().fifo("mail", {.ordering = tableq::ordering::strict}));
  ASSERT_EQ(start("produce", "fifo", 800)->wait(), 0);
  const auto ids = move_all("fifo", {});
  EXPECT_EQ(ids.size(), 800U);
  EXPECT_TRUE(std::is_sorted(ids.begin(), ids.end()));
}

TEST_P(strict_order, of_fifo_is_kept_while_four_producers_send) {
  static_cast<void>(db().fifo("mail", {.ordering = tableq::ordering::strict}));
  std::vector<std::unique_ptr<actor>> senders;
  for (int i = 0; i < 4; ++i) senders.push_back(start("produce", "fifo", 200));
  const auto ids = move_all("fifo", std::move(senders));
  EXPECT_EQ(ids.size(), 800U);
  // Ids of an emptied table may start again; then only the log has the order.
  EXPECT_TRUE(!can().concurrent_writers || std::is_sorted(ids.begin(), ids.end()));
}

TEST_P(strict_order, of_lifo_is_kept_with_four_consumers) {
  static_cast<void>(db().lifo("mail", {.ordering = tableq::ordering::strict}));
  ASSERT_EQ(start("produce", "lifo", 800)->wait(), 0);
  const auto ids = move_all("lifo", {});
  EXPECT_EQ(ids.size(), 800U);
  EXPECT_TRUE(std::is_sorted(ids.rbegin(), ids.rend()));
}

TEST_P(strict_order, of_an_applications_table_is_kept_with_four_consumers) {
  here().sql(
      "CREATE TABLE mail (Id INTEGER NOT NULL PRIMARY KEY, Place INTEGER NOT NULL, "
      "Busy INTEGER DEFAULT 0 NOT NULL)");
  here().sql("CREATE INDEX waiting_mail ON mail (Busy, Place)");
  here().insert_many("mail", "Id, Place", "n, n * 37 % 401", 400);
  const auto places = move_all("table", {}, "move rows");
  EXPECT_EQ(places.size(), 400U);
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
}

}  // namespace
