#include <gtest/gtest.h>
#include <soci/soci.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// What reads cost while an old snapshot keeps everything that was read in the index.
class held_snapshot : public on_each_kind {
 protected:
  void SetUp() override {
    on_each_kind::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    reader_ = here().session();
    *reader_ << "BEGIN ISOLATION LEVEL REPEATABLE READ";
    *reader_ << "SELECT txid_current_snapshot()";
  }
  void TearDown() override {
    reader_.reset();
    on_each_kind::TearDown();
  }
  /// Entries of the table's indexes that were looked at so far. Sessions tell when they end.
  std::int64_t entries_seen() {
    const auto told = here().sql(
        "SELECT sum(idx_tup_read) FROM pg_stat_user_indexes"
        " WHERE relid = CAST('mail' AS regclass)");
    return std::stoll(told.at(0).at(0).value());
  }
  /// Reads all through sessions of its own, `max` at a time.
  /// @return how many entries that took.
  std::int64_t read(int reads, std::size_t max) {
    const std::int64_t before = entries_seen();
    {
      tableq::database once = open();
      any_queue mail(once, kind(), "mail");
      for (int i = 0; i < reads; ++i) EXPECT_EQ(mail.take_up_to(max).size(), max);
    }
    const auto until = std::chrono::steady_clock::now() + std::chrono::minutes{1};
    const auto at_work = [&] {
      return !here()
                  .sql(
                      "SELECT 1 FROM pg_stat_activity WHERE application_name = current_schema()"
                      " AND pid <> pg_backend_pid() AND xact_start IS NULL")
                  .empty();
    };
    while (at_work() && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return entries_seen() - before;
  }

 private:
  std::unique_ptr<soci::session> reader_;
};

TEST_P(held_snapshot, makes_reads_step_over_what_was_read_now_and_then_and_not_each_time) {
  constexpr int stale = 20'000;
  constexpr int fresh = 500;
  for (int i = 0; i < stale + fresh; i += 500) {
    make("mail").put_all(std::vector<std::string>(500, "x"));
  }
  clear_database();
  read(stale / 1000, 1000);
  // A read from the very start steps over all that was read, which on a loaded machine may happen
  // each second; the first one in any case. Each time it would be 500 times 20,000. What writes
  // elsewhere on the server keeps the floor down as long as it lasts: then it is tried again.
  constexpr std::int64_t most = std::int64_t{stale} * fresh / 10;
  std::int64_t least = read(fresh, 1);
  for (int i = 0; i < 40 && least > most; ++i) {
    make("mail").put_all(std::vector<std::string>(fresh, "x"));
    clear_database();
    least = std::min(least, read(fresh, 1));
  }
  EXPECT_LE(least, most);
}

INSTANTIATE_TEST_SUITE_P(, held_snapshot,
                         testing::Combine(testing::Values(&postgresql_backend()),
                                          testing::Values(tableq::kind::heap, tableq::kind::fifo)),
                         backend_and_kind);

}  // namespace
