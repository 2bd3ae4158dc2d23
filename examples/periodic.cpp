// A program that declares its periodic messages at its start, and handles them as any others:
// each reader of the queue follows the schedules. Start it several times: each time still has one
// message.
#include <chrono>
#include <iostream>
#include <tableq/tableq.hpp>

using namespace std::chrono_literals;

int main(int argc, char** argv) try {
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://periodic.db");
  auto jobs = db.claim("periodic_jobs");
  db.schedules().declare("periodic.cpp", {{.name = "nightly report",
                                           .queue = "periodic_jobs",
                                           .cron = "30 2 * * mon-fri",
                                           .zone = "Europe/Berlin",
                                           .payload = "report",
                                           .not_later_than = 6h},
                                          {.name = "heartbeat",
                                           .queue = "periodic_jobs",
                                           .every = 1s,
                                           .payload = "beat",
                                           .catch_up = 0}});
  int beats = 0;
  while (beats < 2) {
    for (const tableq::delivery& job : jobs.take(10, {.wait = 1min})) {
      if (jobs.complete(job) == tableq::settle_result::applied && job.payload == "beat") ++beats;
    }
  }
  db.schedules().declare("periodic.cpp", std::vector<tableq::schedule>{});
  std::cout << "schedules left: " << db.schedules().list().size() << '\n';
} catch (const tableq::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
