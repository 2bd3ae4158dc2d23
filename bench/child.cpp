#include "child.hpp"

#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <iostream>
#include <string_view>

#include <tableq/tableq.hpp>

#include "child_process.hpp"
#include "measure.hpp"
#include "raw.hpp"
#include "statistics.hpp"
#include "subject.hpp"

namespace bench {

namespace {

void print_line(const json& line) {
  std::cout << line.dump() << std::endl;
}

/// Receives until a message is marked as the last one.
void receive(tableq::database& db) {
  auto mail = db.fifo("mail");
  print_line({{"ready", true}});
  for (;;) {
    const auto got = mail.dequeue({.wait = std::chrono::seconds{30}});
    const std::int64_t now = now_ns();
    if (!got || got->payload == last_message) return;
    print_line({{"received", now}});
  }
}

void work(const tableq::database& db, const json& order) {
  const auto what = order["action"].get<action>();
  const auto make = on_tableq(db, what, 1);
  // The first call opens the session and prepares its statement.
  tableq::database own = db;
  static_cast<void>(own.fifo(queue_of(action::dequeue)).peek());
  print_line({{"ready", true}});
  std::string start;
  std::getline(std::cin, start);
  const outcome did = measure(1, {order["seconds"].get<double>()}, make);
  print_line({{"messages", did.messages},
              {"seconds", did.seconds},
              {"longest_us", percentile(did.latency, 1)},
              {"p50_us", percentile(did.latency, 0.5)},
              {"p99_us", percentile(did.latency, 0.99)}});
}

/// Keeps a processor busy as long as the parent runs.
void compute() {
  const ::pid_t parent = ::getppid();
  while (::getppid() == parent) continue;
}

}  // namespace

bool is_child(int argc, char** argv) {
  return argc == 3 && std::string_view(argv[1]) == child_argument;
}

int run_child(const std::string& text) {
  const json order = json::parse(text);
  if (order["do"] == "compute") {
    compute();
    return 0;
  }
  tableq::database db = tableq::database::open(order["url"].get<std::string>());
  if (order["do"] == "receive") {
    receive(db);
  } else {
    work(db, order);
  }
  return 0;
}

}  // namespace bench
