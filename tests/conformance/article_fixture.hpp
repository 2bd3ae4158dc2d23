#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "support/fixture.hpp"
#include "support/in_threads.hpp"

namespace tableq_test {

/// The tables of well-known articles on tables as queues. Rows are added by plain SQL.
class on_article_table : public on_each_backend {
 protected:
  /// Rows with the letter a in tests with several readers, and as many with b.
  static constexpr int half = 100;

  void SetUp() override {
    on_each_backend::SetUp();
    if (!IsSkipped() && !HasFatalFailure()) types_ = here().types();
  }

  std::string one(const std::string& sql) { return here().sql(sql).at(0).at(0).value_or("NULL"); }
  std::string count(const std::string& table, const std::string& where = "1 = 1") {
    return one("SELECT COUNT(*) FROM " + table + " WHERE " + where);
  }
  static tableq::delivery next(tableq::table_queue from) {
    auto taken = from.take_one();
    if (!taken) throw std::runtime_error("nothing waited");
    return *std::move(taken);
  }
  /// The payloads of a take.
  static std::vector<std::string> texts(const std::vector<tableq::delivery>& taken) {
    std::vector<std::string> out;
    for (const auto& each : taken) out.push_back(each.row.get<std::string>("Payload"));
    return out;
  }
  static std::vector<std::string> names(char letter, int first, int last) {
    std::vector<std::string> out;
    for (int i = first; i <= last; ++i) out.push_back(letter + std::to_string(100 + i));
    return out;
  }
  static std::string quoted(const std::string& text) { return "'" + text + "'"; }

  /// Several readers take all rows; each comes to one of them.
  static void expect_each_once(tableq::table_queue queue) {
    std::mutex mutex;
    std::vector<std::string> all;
    in_threads(6, [&](int thread) {
      for (;;) {
        const auto taken = queue.take(static_cast<std::size_t>(1 + thread % 3));
        if (taken.empty()) return;
        const std::scoped_lock hold(mutex);
        for (const std::string& each : texts(taken)) all.push_back(each);
      }
    });
    std::sort(all.begin(), all.end());
    std::vector<std::string> wanted = names('a', 1, half);
    for (const std::string& each : names('b', 1, half)) wanted.push_back(each);
    EXPECT_EQ(all, wanted);
    EXPECT_FALSE(queue.take_one());
  }
  /// A take that is rolled back leaves its rows where they were.
  void expect_undone(tableq::table_queue queue, const std::vector<std::string>& first) {
    {
      auto tx = db_with_clock().begin();
      EXPECT_EQ(texts(queue.in(tx).take(first.size())), first);
      tx.rollback();
    }
    EXPECT_EQ(texts(queue.take(first.size())), first);
  }

  // (a) Id, CreatedAt, ProcessingStartedAt, Errors, Payload.
  tableq::table_queue simple() {
    here().sql("CREATE TABLE SimpleQueue (Id " + types_.guid + " NOT NULL PRIMARY KEY, CreatedAt " +
               types_.time + " NOT NULL, ProcessingStartedAt " + types_.time + " NULL, Errors " +
               types_.text + " NULL, Payload " + types_.text + " NOT NULL)");
    return db_with_clock().table("SimpleQueue",
                                 {.key = {"Id"},
                                  .waiting = tableq::null_time("ProcessingStartedAt"),
                                  .order = {{.column = "CreatedAt"}, {.column = "Id"}},
                                  .errors = "Errors"});
  }
  /// The ids fall while the times rise.
  void add_simple(const std::vector<std::string>& payloads) {
    for (const std::string& each : payloads) {
      const int number = 100 + added_++;
      here().sql(
          "INSERT INTO SimpleQueue (Id, CreatedAt, Payload) VALUES ('6f9619ff-8b86-d011-b42d-" +
          std::to_string(999'999'000'999 - number) + "', '2023-12-31 12:0" +
          std::to_string(number / 60 % 10) + ":" + std::to_string(10 + number % 50) + "', " +
          quoted(each) + ")");
    }
  }

  // (b) Id, IsDequeued, EnqueuedAt, DequeuedAt, Payload: rows stay.
  tableq::table_queue for_update() {
    here().sql("CREATE TABLE QueueForUpdateStrategy (Id " + types_.numbered + ", IsDequeued " +
               types_.flag + " DEFAULT '0' NOT NULL, EnqueuedAt " + types_.time +
               " DEFAULT CURRENT_TIMESTAMP NOT NULL, DequeuedAt " + types_.time +
               " NULL, Payload " + types_.text + ")");
    here().sql("CREATE INDEX waits ON QueueForUpdateStrategy (IsDequeued, Id)");
    return db_with_clock().table("QueueForUpdateStrategy",
                                 {.key = {"Id"},
                                  .waiting = tableq::flag("IsDequeued"),
                                  .taken_at = "DequeuedAt",
                                  .completed = tableq::on_complete::leave});
  }
  /// Only the payload is given.
  void add_to(const std::string& table, const std::vector<std::string>& payloads) {
    for (const std::string& each : payloads) {
      here().sql("INSERT INTO " + table + " (Payload) VALUES (" + quoted(each) + ")");
    }
  }

  // (c) Nothing but a payload.
  tableq::table_queue heap() {
    here().sql("CREATE TABLE HeapQueue (Payload " + types_.text + ")");
    return db_with_clock().table("HeapQueue", {});
  }
  tableq::table_queue fifo() {
    here().sql("CREATE TABLE FifoQueue (Id " + types_.numbered + ", Payload " + types_.text + ")");
    return db_with_clock().table("FifoQueue", {.order = {{.column = "Id"}}});
  }

  // (d) Requests with attempts.
  static tableq::table_mapping email_mapping() {
    return {.key = {"Id"},
            .waiting = tableq::flag("IsProcessed"),
            .columns = {"Id", "Payload"},
            .taken_at = "ProcessedAt",
            .attempts = "RetryCount",
            .last_error = "LastError",
            .done = tableq::flag("IsEmailSent"),
            .completed = tableq::on_complete::mark,
            .max_attempts = 3};
  }
  tableq::table_queue emails() {
    here().sql("CREATE TABLE EmailRequests (Id " + types_.numbered + ", Payload " + types_.text +
               " NOT NULL, IsProcessed " + types_.flag + " DEFAULT '0' NOT NULL, IsEmailSent " +
               types_.flag +
               " DEFAULT '0' NOT NULL, RetryCount INTEGER DEFAULT 0 NOT NULL, "
               "ProcessedAt " +
               types_.time + " NULL, LastError " + types_.text + " NULL)");
    here().sql("CREATE INDEX waiting_requests ON EmailRequests (IsProcessed, Id)");
    return db_with_clock().table("EmailRequests", email_mapping());
  }

  // (e) Rows lie in the order of (PROCESSED, ID), and that is their only key.
  tableq::table_queue clustered() {
    here().sql(
        "CREATE TABLE QueueTable (ID INTEGER NOT NULL, PROCESSED INTEGER DEFAULT 0 NOT NULL, "
        "Payload " +
        types_.text + ", PRIMARY KEY (PROCESSED, ID))");
    return db_with_clock().table("QueueTable", {.key = {"PROCESSED", "ID"},
                                                .waiting = tableq::flag("PROCESSED"),
                                                .order = {{.column = "ID"}},
                                                .completed = tableq::on_complete::leave});
  }
  void add_clustered(const std::vector<std::string>& payloads) {
    for (const std::string& each : payloads) {
      here().sql("INSERT INTO QueueTable (ID, Payload) VALUES (" + std::to_string(++added_) + ", " +
                 quoted(each) + ")");
    }
  }

  column_types types_;
  int added_ = 0;
};

}  // namespace tableq_test
