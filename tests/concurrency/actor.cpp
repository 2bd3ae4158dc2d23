/// @file
/// A process of the concurrency tests. Its one argument is an order in JSON: `do`, `url`, and the
/// members that each action below reads. It writes one JSON value for each message, at once.

#if defined(_WIN32)
#include <windows.h>
#else
#include <poll.h>
#include <unistd.h>
#endif

#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <string>

#include <tableq/tableq.hpp>

#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using order = nlohmann::json;

/// These tests check delivery, so the wait for a lock has no limit.
const tableq::open_options patient{.retry_for = 5min,
                                   .shortcuts = {.combining = tableq_test::combining()}};

void say(const nlohmann::json& line) {
  const std::string text = line.dump() + "\n";
  std::fwrite(text.data(), 1, text.size(), stdout);
}

/// Whether the test has closed our input. Nothing is ever written to it.
bool let_go(int milliseconds) {
#if defined(_WIN32)
  const HANDLE input = ::GetStdHandle(STD_INPUT_HANDLE);
  for (int waited = 0; ::PeekNamedPipe(input, nullptr, 0, nullptr, nullptr, nullptr) != 0;
       ++waited) {
    if (waited == milliseconds) return false;
    ::Sleep(1);
  }
  return true;
#else
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  return ::poll(&input, 1, milliseconds) > 0;
#endif
}

any_queue queue_of(tableq::database& db, const order& given) {
  return {db, tableq::parse_kind(given.at("kind").get<std::string>()),
          given.at("queue").get<std::string>()};
}

/// Sends `count` messages `<name>:<n>`: the first `singles` one by one, the rest in batches.
void produce(tableq::database& db, const order& given) {
  any_queue queue = queue_of(db, given);
  const auto count = given.at("count").get<std::size_t>();
  const auto singles = given.at("singles").get<std::size_t>();
  const std::string name = given.at("name").get<std::string>() + ":";
  std::size_t next = 0;
  for (; next < std::min(singles, count); ++next) queue.put(name + std::to_string(next));
  while (next < count) {
    std::vector<std::string> batch;
    for (; batch.size() < 200 && next < count; ++next) batch.push_back(name + std::to_string(next));
    queue.put_all(batch);
  }
}

/// Reads until its input is closed and nothing is left, and reports each payload.
void consume(tableq::database& db, const order& given) {
  any_queue queue = queue_of(db, given);
  const auto singles = given.at("singles").get<std::size_t>();
  for (std::size_t got = 0;;) {
    const bool last_look = let_go(0);
    const auto taken = queue.take_up_to(got < singles ? 1 : 200, 50ms);
    for (const item& each : taken) say(each.payload);
    got += taken.size();
    if (taken.empty() && last_look) return;
  }
}

/// Moves messages one by one into a log, in the same transaction: the log has the order of reads.
void move_to_log(tableq::database& db, const order& given) {
  any_queue queue = queue_of(db, given);
  any_queue log(db, tableq::kind::fifo, given.at("log").get<std::string>());
  for (;;) {
    const bool last_look = let_go(0);
    const bool moved = db.transact([&](tableq::transaction& tx) {
      const auto taken = queue.in(tx).take();
      if (taken) log.in(tx).put(std::to_string(taken->id.value) + " " + taken->payload);
      return taken.has_value();
    });
    if (!moved && last_look) return;
  }
}

/// The same with rows of an application's table, some at a time.
void move_rows_to_log(tableq::database& db, const order& given) {
  auto table =
      db.table(given.at("queue").get<std::string>(), {.key = {"Id"},
                                                      .waiting = tableq::flag("Busy"),
                                                      .order = {{.column = "Place"}},
                                                      .ordering = tableq::ordering::strict});
  any_queue log(db, tableq::kind::fifo, given.at("log").get<std::string>());
  for (std::size_t max = 1;; max = max % 3 + 1) {
    const bool last_look = let_go(0);
    const bool moved = db.transact([&](tableq::transaction& tx) {
      const auto taken = table.in(tx).take(max);
      for (const auto& each : taken) {
        log.in(tx).put(std::to_string(each.row.get<std::int64_t>("Place")));
      }
      return !taken.empty();
    });
    if (!moved && last_look) return;
  }
}

/// Waits for the start, then opens the place and makes all five kinds.
void create(const order& given) {
  let_go(-1);
  auto db = tableq::database::open(given.at("url").get<std::string>(), patient);
  for (const char* kind : {"heap", "fifo", "lifo", "pending", "claim"}) {
    open_queue(db, tableq::parse_kind(kind), kind);
  }
  any_queue(db, tableq::kind::fifo, "fifo").put("made");
}

/// Reads from a queue that stays empty, and so follows the rules of others, by a clock that is fast
/// and wrong.
void follow(const order& given) {
  const tableq::timestamp base(std::chrono::milliseconds(given.at("base").get<std::int64_t>()));
  const std::chrono::milliseconds ahead(given.at("ahead").get<std::int64_t>());
  const int speed = given.at("speed").get<int>();
  tableq::open_options options = patient;
  options.clock = tableq::testing::clock_of([=] {
    const auto now =
        std::chrono::time_point_cast<std::chrono::milliseconds>(std::chrono::system_clock::now());
    return base + (now - base) * speed + ahead;
  });
  auto db = tableq::database::open(given.at("url").get<std::string>(), options);
  auto idle = db.fifo(given.at("queue").get<std::string>());
  say("begun");
  std::fflush(stdout);
  while (!let_go(0)) static_cast<void>(idle.dequeue({.wait = 10ms}));
}

/// Takes one message at a time, reports it, and completes it; a process that will be killed never
/// ends.
void work(tableq::database& db, const order& given) {
  auto jobs = db.claim(given.at("queue").get<std::string>());
  const bool immortal = given.at("immortal").get<bool>();
  for (;;) {
    const bool last_look = let_go(0);
    const auto taken = jobs.take(3, {.wait = 50ms});
    for (const auto& each : taken) {
      say({{"taken", each.payload}});
      std::fflush(stdout);
      if (jobs.complete(each.receipt) == tableq::settle_result::applied)
        say({{"completed", each.payload}});
    }
    if (taken.empty() && last_look && !immortal) return;
  }
}

void obey(const order& given) {
  const auto deed = given.at("do").get<std::string>();
  if (deed == "create") return create(given);
  if (deed == "follow") return follow(given);
  auto db = tableq::database::open(given.at("url").get<std::string>(), patient);
  if (deed == "produce") return produce(db, given);
  if (deed == "consume") return consume(db, given);
  if (deed == "move") return move_to_log(db, given);
  if (deed == "move rows") return move_rows_to_log(db, given);
  if (deed == "work") return work(db, given);
  throw std::invalid_argument("unknown deed " + deed);
}

}  // namespace

int main(int count, char** arguments) {
  try {
    if (count != 2) throw std::invalid_argument("one order, please");
    obey(order::parse(arguments[1]));
    std::fflush(stdout);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "actor: %s\n", failure.what());
    return 1;
  }
}
