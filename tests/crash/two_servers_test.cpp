// One worker that serves queues on two servers, of which one stops and returns.
#include <soci/soci.h>

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include <tableq/soci.hpp>

#include "crash/server_fixture.hpp"
#include "support/becomes.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// A queue with its producer, and what became of the messages, by the number in their payloads.
class traffic {
 public:
  explicit traffic(tableq::claim_queue queue) : queue_(std::move(queue)) {}

  /// Enqueues one message after the other until it is told to stop; some always wait.
  void produce() {
    producer_ = std::jthread([this](const std::stop_token& stop) {
      for (int number = 0; !stop.stop_requested(); ++number) {
        if (!wait_until_few_wait(stop)) return;
        try {
          queue_.enqueue(std::to_string(number));
          const std::scoped_lock hold(mutex_);
          acknowledged_.insert(number);
        } catch (const tableq::error& failed) {
          const std::scoped_lock hold(mutex_);
          unknown_.insert(number);
          EXPECT_TRUE(failed.code() == tableq::errc::outcome_unknown ||
                      failed.code() == tableq::errc::connection_lost ||
                      failed.code() == tableq::errc::connection_failed)
              << failed.what();
        }
      }
    });
  }
  void stop_producing() { producer_ = {}; }

  void handle(const tableq::delivery& delivery) {
    const std::scoped_lock hold(mutex_);
    if (completed_.count(delivery.receipt.id.value) != 0) ++handled_after_completion_;
    handled_.insert(std::stoi(delivery.payload));
  }
  void note(const tableq::worker_event& event) {
    if (event.what != tableq::worker_event::kind::completed) return;
    const std::scoped_lock hold(mutex_);
    if (!completed_.insert(event.id.value).second) ++completed_twice_;
    completes_.notify_all();
  }

  /// Whether fifty more messages are completed.
  [[nodiscard]] bool goes_on() const {
    std::unique_lock lock(mutex_);
    const std::size_t enough = completed_.size() + 50;
    return completes_.wait_for(lock, for_ever, [&] { return completed_.size() >= enough; });
  }
  [[nodiscard]] bool is_empty() const {
    const auto stats = queue_.stats();
    return stats.ready + stats.leased + stats.delayed + stats.dead == 0;
  }
  /// Nothing acknowledged is lost, nothing else was handled, and no completion came twice.
  void balance(const std::string& name) const {
    const std::scoped_lock hold(mutex_);
    for (const int number : acknowledged_) {
      EXPECT_EQ(handled_.count(number), 1U) << name << ": lost message " << number;
    }
    for (const int number : handled_) {
      EXPECT_TRUE(acknowledged_.count(number) != 0 || unknown_.count(number) != 0) << number;
    }
    EXPECT_EQ(handled_after_completion_, 0) << name;
    EXPECT_EQ(completed_twice_, 0) << name;
    std::printf("[ %s    ] %d enqueued, %d unknown, %d completed\n", name.c_str(),
                static_cast<int>(acknowledged_.size()), static_cast<int>(unknown_.size()),
                static_cast<int>(completed_.size()));
  }
  /// @param effects the numbers that handlers have written.
  void expect_each_once(const rows& effects) const {
    const std::scoped_lock hold(mutex_);
    std::set<int> found;
    for (const row& each : effects) EXPECT_TRUE(found.insert(std::stoi(*each.at(0))).second);
    EXPECT_EQ(found, handled_);
  }
  [[nodiscard]] const tableq::claim_queue& queue() const { return queue_; }

 private:
  /// @return false when it is told to stop.
  bool wait_until_few_wait(const std::stop_token& stop) {
    constexpr std::size_t few = 200;
    std::unique_lock lock(mutex_);
    return completes_.wait(lock, stop, [this] {
      return acknowledged_.size() < completed_.size() + few;
    }) && !stop.stop_requested();
  }

  tableq::claim_queue queue_;
  mutable std::mutex mutex_;  // guards all below
  mutable std::condition_variable_any completes_;
  std::set<int> acknowledged_;
  std::set<int> unknown_;
  std::set<int> handled_;
  std::set<std::int64_t> completed_;
  int handled_after_completion_ = 0;
  int completed_twice_ = 0;
  std::jthread producer_;
};

class two_servers : public on_own_server {
 protected:
  static void SetUpTestSuite() {
    on_own_server::SetUpTestSuite();
    if (!postgresql_backend().missing()) second_ = std::make_unique<own_postgresql>();
  }
  static void TearDownTestSuite() {
    second_.reset();
    on_own_server::TearDownTestSuite();
  }
  void SetUp() override {
    on_own_server::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    second_->begin_database();
    stays_ = queue_on(server(), "shop");
    returns_ = queue_on(*second_, "mail");
  }
  static std::unique_ptr<traffic> queue_on(own_postgresql& at, const std::string& schema) {
    static_cast<void>(at.sql("CREATE SCHEMA " + schema));
    static_cast<void>(at.sql("CREATE TABLE " + schema + ".effects (number BIGINT NOT NULL)"));
    auto db = tableq::database::open(at.url(), {.schema_name = schema, .retry_for = 100ms});
    return std::make_unique<traffic>(db.claim("jobs"));
  }
  /// One worker, with the handler of each queue, while the second server stops and returns.
  void stop_and_return(const tableq::handler& of_first, const tableq::handler& of_second) {
    traffic* const all[] = {stays_.get(), returns_.get()};
    tableq::worker pool(
        {{.queue = stays_->queue(), .work = of_first},
         {.queue = returns_->queue(), .work = of_second}},
        {.threads = 4, .lease = 3s, .observe = [&](const tableq::worker_event& event) {
           all[event.source]->note(event);
         }});
    stays_->produce();
    returns_->produce();
    EXPECT_TRUE(stays_->goes_on());
    EXPECT_TRUE(returns_->goes_on());
    second_->stop("immediate");
    for (int i = 0; i < 5; ++i) EXPECT_TRUE(stays_->goes_on()) << "while the other server is away";
    second_->start();
    EXPECT_TRUE(returns_->goes_on()) << "after its server's return";
    EXPECT_TRUE(stays_->goes_on());
    for (traffic* const each : all) each->stop_producing();
    for (traffic* const each : all) EXPECT_TRUE(becomes([&] { return each->is_empty(); }));
    pool.stop();
    EXPECT_TRUE(pool.wait_for(for_ever));
    EXPECT_NO_THROW(pool.join());
    stays_->balance("stays  ");
    returns_->balance("returns");
  }
  static rows effects(const own_postgresql& at, const std::string& schema) {
    return at.sql("SELECT number FROM " + schema + ".effects");
  }
  [[nodiscard]] static own_postgresql& second() { return *second_; }

  std::unique_ptr<traffic> stays_;
  std::unique_ptr<traffic> returns_;

 private:
  inline static std::unique_ptr<own_postgresql> second_;
};

TEST_F(two_servers, of_one_worker_do_not_hold_each_other_up_and_lose_nothing) {
  stop_and_return([&](const tableq::delivery& d) { stays_->handle(d); },
                  [&](const tableq::delivery& d) { returns_->handle(d); });
}

TEST_F(two_servers, of_one_worker_have_each_effect_of_a_transaction_once) {
  const auto effect = [](traffic& of, const std::string& schema) -> tableq::handler {
    return [&of, schema](tableq::transaction& tx, const tableq::delivery& d) {
      of.handle(d);
      tableq::session_of(tx) << "INSERT INTO " + schema + ".effects (number) VALUES (" + d.payload +
                                    ")";
    };
  };
  stop_and_return(effect(*stays_, "shop"), effect(*returns_, "mail"));
  stays_->expect_each_once(effects(server(), "shop"));
  returns_->expect_each_once(effects(second(), "mail"));
}

}  // namespace
