// A service: it works until SIGTERM or SIGINT, or until a lasting failure ends the worker.
#include <unistd.h>
#include <csignal>
#include <iostream>
#include <tableq/tableq.hpp>

namespace {

using namespace std::chrono_literals;

/// Blocks the signals that end the service. Threads that begin later inherit that.
sigset_t block_ends() {
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  return ends;
}

}  // namespace

int main(int argc, char** argv) try {
  const sigset_t ends = block_ends();  // before the database starts threads
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://service.db");
  auto jobs = db.claim("jobs");
  for (const char* job : {"resize cat.jpg", "resize dog.jpg", "the operator's kill"}) {
    jobs.enqueue(job);
  }

  tableq::worker work(
      jobs,
      [](const tableq::delivery& d) {
        if (d.payload == "the operator's kill") ::kill(::getpid(), SIGTERM);
        std::cout << "done: " << d.payload << std::endl;
      },
      {.threads = 1,
       .observe =
           [](const tableq::worker_event& event) {
             if (event.what == tableq::worker_event::kind::trouble) std::cerr << event.why << '\n';
           },
       // Also after a failure: the main thread must not wait for a signal that never comes.
       .ended = [] { ::kill(::getpid(), SIGTERM); }});

  int got = 0;
  sigwait(&ends, &got);
  if (!work.stop_within(25s)) std::cerr << "what was still running is given back\n";
  work.join();  // throws the failure that ended the worker
  std::cout << "stopped\n";
} catch (const tableq::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
