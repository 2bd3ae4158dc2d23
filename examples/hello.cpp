// The example of README.md; the lint test keeps the two alike.
// [readme]
#include <iostream>
#include <tableq/tableq.hpp>

int main(int argc, char** argv) try {
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://hello.db");

  auto mail = db.fifo("mail");  // or heap(), lifo(), pending(): a read deletes
  mail.enqueue("hello");
  if (auto m = mail.dequeue()) std::cout << "mail: " << m->payload << '\n';

  auto jobs = db.claim("jobs", {.lease = std::chrono::seconds{30}, .max_attempts = 5});
  jobs.enqueue("resize cat.jpg");
  for (const tableq::delivery& d : jobs.take(10)) {  // ours until the lease ends
    std::cout << "job: " << d.payload << ", attempt " << d.attempt << '\n';
    if (jobs.complete(d) == tableq::settle_result::lease_lost) std::cout << "too late\n";
  }

  db.transact([&](tableq::transaction& tx) {  // both or neither
    mail.in(tx).enqueue("the job is done");
    jobs.in(tx).enqueue("resize dog.jpg");
  });
} catch (const tableq::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
// [/readme]
