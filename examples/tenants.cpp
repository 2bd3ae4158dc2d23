// Tenants share a queue: each may run two messages at a time, and a paying one more. The rules are
// in the database, and change while workers run.
#include <iostream>
#include <map>
#include <string>
#include <tableq/tableq.hpp>

int main(int argc, char** argv) try {
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://tenants.db");
  auto jobs = db.claim("tenant_jobs", {.groups = tableq::group_options()});
  jobs.set_group_limits({.running = 2});
  jobs.set_group_limits({.running = 5, .rate = 100.0, .burst = 50}, "paying");
  for (int i = 0; i < 10; ++i) {
    for (const char* tenant : {"large", "small", "paying"}) {
      jobs.enqueue("job " + std::to_string(i), {.group = tenant});
    }
  }
  std::map<std::string, int> running;
  const auto taken = jobs.take(100);
  for (const tableq::delivery& job : taken) ++running[*job.group];
  for (const auto& [tenant, count] : running) std::cout << tenant << ": " << count << " running\n";
  std::cout << jobs.stats().held << " are held\n";
  for (const tableq::delivery& job : taken) {
    if (jobs.complete(job) != tableq::settle_result::applied) std::cout << "lost a lease\n";
  }
  std::cout << jobs.take(100).size() << " more\n";
  db.drop("tenant_jobs");
} catch (const tableq::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
