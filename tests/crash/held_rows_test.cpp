#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "crash/server_fixture.hpp"
#include "support/any_queue.hpp"
#include "support/postgresql_client.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using std::chrono::steady_clock;

constexpr std::array kinds = {tableq::kind::heap, tableq::kind::fifo, tableq::kind::lifo,
                              tableq::kind::pending, tableq::kind::claim};

/// All at once that keeps deleted rows in the tables: transactions that are idle, with a number and
/// without, that wrote elsewhere, are left prepared, or have an old snapshot, four readers of the
/// tables by turns, a standby that reports its reader's snapshot, and a slot whose log stays.
class holders {
 public:
  explicit holders(own_postgresql& server)
      : sql_([&server](const std::string& text) { return server.sql(text); }) {
    sql_("SELECT pg_create_physical_replication_slot('unread', true)");
    sql_("CREATE TABLE elsewhere (n integer)");
    for (const char* const work :
         {"BEGIN; SELECT 1", "BEGIN; SELECT txid_current()",
          "BEGIN; INSERT INTO elsewhere VALUES (1)",
          "BEGIN; INSERT INTO elsewhere VALUES (2); PREPARE TRANSACTION 'left'",
          "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM elsewhere"}) {
      sessions_.push_back(std::make_unique<postgresql_client>(server.url()));
      sessions_.back()->run(work);
    }
    for (auto& each : readers_) each = std::make_unique<postgresql_client>(server.url());
    for (std::size_t i = 0; i < readers_.size(); ++i) begin_reader(i);
    standby_ = std::make_unique<postgresql_client>(server.standby_url());
    standby_->run("BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM elsewhere");
    while (sql_("SELECT 1 FROM pg_stat_replication WHERE backend_xmin IS NOT NULL").empty()) {
    }
  }
  holders(const holders&) = delete;
  holders& operator=(const holders&) = delete;
  ~holders() { sql_("ROLLBACK PREPARED 'left'"); }

  /// The oldest of the four readers ends, and begins again.
  void next_reader() { begin_reader(next_++ % readers_.size()); }

 private:
  void begin_reader(std::size_t which) {
    std::string work = "ROLLBACK; BEGIN ISOLATION LEVEL REPEATABLE READ";
    for (const tableq::kind each : kinds) {
      work.append("; SELECT count(payload) FROM ").append(to_string(each));
    }
    readers_.at(which)->run(work);
  }

  plain_sql sql_;
  std::vector<std::unique_ptr<postgresql_client>> sessions_;
  std::array<std::unique_ptr<postgresql_client>, 4> readers_;
  std::unique_ptr<postgresql_client> standby_;
  std::size_t next_ = 0;
};

/// Reads a second of one kind, by slices.
struct speeds {
  std::vector<double> one;      ///< One message a call.
  std::vector<double> hundred;  ///< A hundred a call.
  std::vector<double> anew;     ///< One message by a database that is opened for it.
};

template <class Read>
double rate(std::size_t calls, Read read) {
  const auto begun = steady_clock::now();
  for (std::size_t i = 0; i < calls; ++i) read();
  return static_cast<double>(calls) /
         std::chrono::duration<double>(steady_clock::now() - begun).count();
}

double median(std::vector<double> all) {
  std::ranges::sort(all);
  return all.empty() ? 0 : all[all.size() / 2];
}

/// Reads beside all holders, in long runs. TABLEQ_TEST_MESSAGES, TABLEQ_TEST_SECONDS: their number,
/// and the time over which they are spread. read_floor_postgresql_test.cpp has a short form.
class held_rows : public on_own_server {
 protected:
  static constexpr std::size_t batch = 100;

  /// It costs processor time, also before the first holder. Commits need not wait for it.
  static void add_standby() {
    sql()("ALTER SYSTEM SET hot_standby_feedback = on");
    server().add_standby();
    sql()("ALTER SYSTEM RESET synchronous_standby_names");
    sql()("SELECT pg_reload_conf()");
  }

  /// One slice of one kind: what is put into the queue is read from it.
  void read_slice(any_queue& queue, std::size_t batches, speeds& told) {
    const std::vector<std::string> payloads(batch, "a payload of some length");
    constexpr std::size_t openings = 10;
    for (std::size_t i = 0; i < batches + 2; ++i) queue.put_all(payloads);
    told.anew.push_back(rate(openings, [&] {
      auto once = tableq::database::open(server().url());
      EXPECT_TRUE(any_queue(once, queue.kind(), to_string(queue.kind())).take());
    }));
    told.one.push_back(
        rate(2 * batch - openings, [&] { EXPECT_TRUE(queue.take()) << to_string(queue.kind()); }));
    told.hundred.push_back(
        rate(batches, [&] { EXPECT_EQ(queue.take_up_to(batch).size(), batch); }));
  }

  /// Pages of the indexes of the kind's table that were looked at so far: also entries that an
  /// index compares without returning them cost pages. Sessions report at their end.
  static std::uint64_t pages(tableq::kind of) {
    return std::stoull(sql()("SELECT sum(idx_blks_hit + idx_blks_read) FROM pg_statio_user_indexes"
                             " WHERE relname = '" +
                             std::string(to_string(of)) + "'")
                           .at(0)
                           .at(0)
                           .value());
  }
};

TEST_F(held_rows, cost_reads_of_no_kind_much) {
  const char* const given = std::getenv("TABLEQ_TEST_MESSAGES");
  if (given == nullptr) GTEST_SKIP() << "in long runs only: TABLEQ_TEST_MESSAGES";
  const char* const spread = std::getenv("TABLEQ_TEST_SECONDS");
  const std::chrono::seconds time(spread == nullptr ? 0 : std::stoi(spread));
  constexpr std::size_t slices = 60;
  constexpr std::size_t before = 3;
  const std::size_t batches = std::stoull(given) / kinds.size() / slices / batch;
  std::array<speeds, kinds.size()> told;
  add_standby();
  {
    auto db = tableq::database::open(server().url());
    std::vector<any_queue> queues;
    for (const tableq::kind each : kinds) queues.emplace_back(db, each, to_string(each));
    const auto read_all = [&] {
      for (std::size_t i = 0; i < kinds.size(); ++i) read_slice(queues[i], batches, told.at(i));
    };
    for (std::size_t i = 0; i < before; ++i) read_all();
    holders beside(server());
    const auto begun = steady_clock::now();
    for (std::size_t i = 0; i < slices && !HasFailure(); ++i) {
      read_all();
      beside.next_reader();
      const auto left = begun + time * static_cast<int>(i + 1) / int{slices} - steady_clock::now();
      if (left > left.zero()) {
        EXPECT_TRUE(queues[0]
                        .take_up_to(1, std::chrono::duration_cast<std::chrono::milliseconds>(left))
                        .empty());
      }
    }
  }
  while (!sql()("SELECT 1 FROM pg_stat_activity WHERE datname = current_database()"
                " AND pid <> pg_backend_pid() AND backend_type = 'client backend'")
              .empty()) {
  }
  const std::uint64_t read = (batches + 2) * batch * (slices + before);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const auto share = [](const std::vector<double>& all) {
      const auto first = all.begin() + before;
      const auto last = all.end() - std::max<std::ptrdiff_t>((all.end() - first) / 10, 1);
      char out[32];
      std::snprintf(out, sizeof out, "%.2f",
                    median({last, all.end()}) / median({all.begin(), first}));
      return std::string(out);
    };
    const std::uint64_t seen = pages(kinds.at(i)) / read;
    // A read that begins at the table's beginning steps over all that was read before it.
    EXPECT_LE(seen, 50U) << to_string(kinds.at(i));
    const speeds& of = told.at(i);
    report_injected("all that holds deleted rows, " + std::string(to_string(kinds.at(i))),
                    "postgresql", read,
                    share(of.one) + " of the speed before with single reads, " + share(of.hundred) +
                        " with a hundred, " + share(of.anew) + " with one after opening; " +
                        std::to_string(seen) + " pages of indexes for each message");
  }
}

}  // namespace
