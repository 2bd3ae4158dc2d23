/// @file
/// A process that is killed, or whose database dies. Its one argument is an order in JSON: `do`,
/// `url`, `name`, `retry` (milliseconds), `pause` between messages, `count` of messages. It reports
/// each step that is certainly done in a line of JSON, with one write, at once.

#include <poll.h>
#include <soci/soci.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <utility>

#include <tableq/soci.hpp>
#include <tableq/tableq.hpp>

#include "crash/queues.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using order = nlohmann::json;

void say(const order& line) {
  const std::string text = line.dump() + "\n";
  if (::write(STDOUT_FILENO, text.data(), text.size()) < 0) std::abort();
}

/// Whether the test has closed the input; waits at most this long.
bool let_go(std::chrono::milliseconds limit) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, static_cast<int>(limit.count())) > 0;
}

/// A message has been worked on twice. The process ends, which fails the test.
struct twice : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The state of an actor, and its waits for a database that cannot be reached.
class actor {
 public:
  explicit actor(const order& given)
      : name_(given.at("name").get<std::string>()),
        pause_(given.at("pause").get<int>()),
        count_(given.at("count").get<int>()),
        db_(tableq::database::open(given.at("url").get<std::string>(),
                                   {.retry_for = std::chrono::milliseconds(given.at("retry"))})),
        to_(db_) {
    say({{"ready", name_}});
  }

  void produce() {
    std::thread keyed([this] { ends_on_failure([this] { produce_with_keys(); }); });
    std::thread async([this] { ends_on_failure([this] { produce_async(); }); });
    ends_on_failure([this] { produce_singles_and_batches(); });
    keyed.join();
    async.join();
  }

  /// Message, row and next message in one transaction.
  void move() {
    while (!done("moves")) {
      std::string moving;
      bearing([&](bool& unknown) {
        if (std::exchange(unknown, false) && settles_move(moving)) return;
        db_.transact([&](tableq::transaction& tx) {
          moving.clear();
          const auto got = to_.in.in(tx).dequeue();
          if (!got) return;
          moving = got->payload;
          dawdle();
          if (!insert(tx, "moved", moving)) throw twice(moving);
          to_.jobs.in(tx).enqueue(moving);
        });
        if (!moving.empty()) say({{"moved", moving}});
      });
      if (moving.empty()) let_go(5ms);
    }
  }

  /// A message is completed in the transaction that writes the result of its work.
  void work() {
    while (!done("works")) {
      bearing([&](bool& /*unknown*/) {
        for (const auto& each : to_.jobs.take(3, {.wait = 20ms})) {
          bearing([&](bool& unknown) { finish(each, unknown); });
        }
      });
    }
  }

  /// The library's own worker, in threads.
  void chores() {
    tableq::worker crew(to_.chores, [](const tableq::delivery&) {},
                        {.threads = 2, .observe = [](const tableq::worker_event& told) {
                           using kind = tableq::worker_event::kind;
                           if (told.what == kind::completed) say({{"completed", told.id.value}});
                           if (told.what == kind::unknown) say({{"unknown", "completion"}});
                           if (told.what == kind::trouble) say({{"trouble", "worker"}});
                         }});
    while (!done("chores") && !crew.wait_for(20ms)) {
    }
    crew.stop();
    crew.join();
  }

 private:
  /// In the middle of a transaction, so that many faults come at that point.
  static void dawdle() { let_go(1ms); }

  /// The input is closed, and no message is left for this kind of actor.
  bool done(std::string_view deed) {
    if (!let_go(0ms)) return false;
    bool nothing = false;
    bearing([&](bool& /*unknown*/) { nothing = nothing_left(deed); });
    return nothing;
  }
  [[nodiscard]] bool nothing_left(std::string_view deed) const {
    if (deed == "moves") return to_.in.stats().waiting == 0;
    const auto left = deed == "works" ? to_.jobs.stats() : to_.chores.stats();
    return left.ready + left.leased + left.delayed == 0;
  }

  /// Repeats a step until it is done. Waits for a database that cannot be reached, and passes an
  /// unknown outcome to the next attempt; any other error ends the process.
  template <class Step>
  void bearing(Step step) {
    for (bool unknown = false;;) {
      try {
        step(unknown);
        return;
      } catch (const soci::soci_error&) {
        // The application's own statement had the error. Nothing was committed.
        say({{"trouble", "own statement"}});
      } catch (const tableq::error& failure) {
        using tableq::errc;
        switch (failure.code()) {
          case errc::outcome_unknown:
            unknown = true;
            say({{"unknown", failure.operation()}});
            break;
          case errc::connection_failed:
          case errc::connection_lost:
          case errc::busy:
          case errc::conflict:
          case errc::read_only:
            say({{"trouble", tableq::to_string(failure.code())}});
            break;
          default:
            throw;
        }
      }
      let_go(10ms);
    }
  }

  template <class Part>
  void ends_on_failure(Part part) {
    try {
      part();
    } catch (const std::exception& failure) {
      std::fprintf(stderr, "actor %s: %s\n", name_.c_str(), failure.what());
      ::_exit(1);
    }
  }

  /// Calls `send(n)` for each message.
  template <class Send>
  void each_number(Send send) {
    for (int n = 0; n < count_ && !let_go(pause_); ++n) send(std::to_string(n));
    while (!let_go(1000ms)) {
    }
  }

  /// Without keys: a message with an unknown outcome is not sent again.
  void produce_singles_and_batches() {
    each_number([this](const std::string& n) {
      std::vector<std::string> payloads{name_ + "s:" + n};
      if (std::stoi(n) % 4 == 3) {
        payloads.push_back(payloads.front() + "b");
        payloads.push_back(payloads.front() + "c");
      }
      bearing([&](bool& unknown) {
        if (unknown) return say({{"lost", payloads}});
        if (payloads.size() == 1) {
          to_.in.enqueue(payloads.front());
        } else {
          std::vector<tableq::new_message> batch;
          for (const std::string& each : payloads) batch.push_back({.payload = each});
          to_.in.enqueue_batch(batch);
        }
        say({{"put", payloads}});
      });
    });
  }

  /// With keys: a message with an unknown outcome is sent again, and the key decides.
  void produce_with_keys() {
    each_number([this](const std::string& n) {
      const std::string key = name_ + "k:" + n;
      bearing([&](bool& unknown) {
        const auto added = to_.chores.enqueue(key, {.key = key});
        if (unknown) say({{"resolved", !added.created() ? "happened" : "not happened"}});
        if (!unknown && !added.created()) throw twice(key);
        say({{"put", order::array({key})}, {"keyed", true}});
      });
    });
  }

  void produce_async() {
    each_number([&](const std::string& n) {
      const std::string payload = name_ + "a:" + n;
      ++under_way_;
      to_.in.enqueue_async(
          payload, {}, [&, payload](const tableq::outcome<tableq::message_id>& was) {
            // If it was not stored, or the outcome is unknown, an asynchronous caller continues.
            const bool unknown =
                !was.ok() && was.failure()->code() == tableq::errc::outcome_unknown;
            say({{was.ok() ? "put" : unknown ? "lost" : "refused", order::array({payload})}});
            --under_way_;
            under_way_.notify_all();
          });
    });
    for (int left = under_way_; left != 0; left = under_way_) under_way_.wait(left);
  }

  /// Inserts a row into a table of the application, in the transaction. Waits for another insert of
  /// the same row. @return false when the row existed.
  static bool insert(tableq::transaction& tx, const std::string& table,
                     const std::string& payload) {
    const std::string row = "'" + payload + "'";
    try {
      soci::statement put =
          (tableq::session_of(tx).prepare << "INSERT INTO " + table + " (payload) SELECT " + row +
                                                 " WHERE NOT EXISTS (SELECT 1 FROM " + table +
                                                 " WHERE payload = " + row + ")");
      put.execute(true);
      return put.get_affected_rows() == 1;
    } catch (const soci::soci_error& failure) {
      if (failure.get_error_category() == soci::soci_error::constraint_violation) return false;
      throw;
    }
  }

  /// Whether the move with the lost commit has happened: its row shows that.
  bool settles_move(const std::string& moving) {
    if (moving.empty()) return true;
    bool there = false;
    bearing([&](bool& /*unknown*/) {
      tableq::transaction tx = db_.begin();
      there = !insert(tx, "moved", moving);
      tx.rollback();
    });
    say({{"resolved", there ? "happened" : "not happened"}});
    if (there) say({{"moved", moving}});
    return there;
  }

  void finish(const tableq::delivery& of, bool unknown) {
    bool mine = false;
    db_.transact([&](tableq::transaction& tx) {
      mine = to_.jobs.in(tx).complete(of.receipt) == tableq::settle_result::applied;
      dawdle();
      if (mine && !insert(tx, "finished", of.payload)) throw twice(of.payload);
    });
    // Without the lease, the lost commit has finished it, or another worker has it.
    if (unknown) say({{"resolved", mine ? "not happened" : "happened or lease lost"}});
    if (mine) say({{"finished", of.payload}});
  }

  std::string name_;
  std::chrono::milliseconds pause_;
  int count_;
  std::atomic<int> under_way_ = 0;
  tableq::database db_;
  crash_queues to_;
};

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count != 2) throw std::invalid_argument("one order, please");
    const order given = order::parse(arguments[1]);
    const auto deed = given.at("do").get<std::string>();
    actor one(given);
    if (deed == "produce") one.produce();
    if (deed == "move") one.move();
    if (deed == "work") one.work();
    if (deed == "chores") one.chores();
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "actor: %s\n", failure.what());
    return 1;
  }
}
