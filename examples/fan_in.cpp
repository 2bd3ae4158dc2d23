// Fan-out and fan-in: many parts of a job, and one message when all of them are done.
//
//   fan_in sqlite:///tmp/fan_in.db

#include <chrono>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string>

#include <tableq/tableq.hpp>

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fan_in URL\n";
    return 2;
  }
  try {
    auto db = tableq::database::open(argv[1]);
    auto parts = db.claim("parts", {.batches = true});
    auto reports = db.claim("reports");

    // The parts and the batch are stored together, or not at all.
    db.transact([&](tableq::transaction& tx) {
      tableq::batch import = parts.in(tx).begin_batch(
          {.then = tableq::batch_end{.queue = "reports", .payload = "import"}});
      for (int part = 1; part <= 10; ++part) {
        parts.in(tx).enqueue("part " + std::to_string(part), {.batch = import});
      }
      import.seal();
    });

    tableq::worker handlers(
        parts,
        [](const tableq::delivery& part) {
          if (part.payload == "part 7") throw std::runtime_error("cannot read it");
        },
        {.threads = 4, .retry_delay = std::chrono::milliseconds{0}, .until_empty = true});
    handlers.join();

    const auto report = reports.take_one({.wait = std::chrono::seconds{30}});
    if (!report) throw std::runtime_error("no report came");
    std::cout << report->payload << ": " << report->headers.at("tableq-batch-completed")
              << " parts done, " << report->headers.at("tableq-batch-dead") << " dead\n";
    return reports.complete(*report) == tableq::settle_result::applied ? 0 : 1;
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
