// The example of README.md; the lint test keeps the two alike.
// [readme]
#include <iostream>
#include <tableq/tableq.hpp>

int main(int argc, char** argv) {
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://hello.db");
  auto jobs = db.claim("jobs", {.lease = std::chrono::seconds{30}, .max_attempts = 5});

  db.transact([&](tableq::transaction& tx) {  // with your own rows, or not at all
    jobs.in(tx).enqueue("resize cat.jpg");
  });

  for (const tableq::delivery& d : jobs.take(10)) {  // ours until the lease ends
    std::cout << "job: " << d.payload << ", attempt " << d.attempt << '\n';
    if (jobs.complete(d) == tableq::settle_result::lease_lost) std::cout << "too late\n";
  }
}
// [/readme]
