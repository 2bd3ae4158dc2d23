// A pipeline: lines go through a queue, a worker counts the words of each, and a reader adds the
// counts up. A line is completed and its count enqueued in one transaction, so that each line is
// counted once, even if the program is killed and started again.
#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>
#include <tableq/tableq.hpp>
#include <vector>

namespace {

std::size_t words_in(const std::string& line) {
  std::istringstream text(line);
  std::size_t count = 0;
  for (std::string word; text >> word;) ++count;
  return count;
}

std::string line_of(std::size_t number) {
  std::string line = "line";
  for (std::size_t i = 0; i < number % 10; ++i) line += " word";
  return line;
}

/// Enqueues the lines in batches.
void send(tableq::claim_queue lines, std::size_t count) {
  constexpr std::size_t batch_size = 500;
  for (std::size_t done = 0; done < count; done += batch_size) {
    std::vector<tableq::new_claim_message> batch;
    for (std::size_t i = done; i < std::min(done + batch_size, count); ++i) {
      batch.push_back({.payload = line_of(i)});
    }
    lines.enqueue_batch(batch);
  }
}

void run(const std::string& url, std::size_t count) {
  tableq::database db = tableq::database::open(url);
  tableq::claim_queue lines = db.claim("lines");
  tableq::fifo_queue counts = db.fifo("counts");

  send(lines, count);
  tableq::worker counting(lines,
                          [&counts](tableq::transaction& tx, const tableq::delivery& line) {
                            counts.in(tx).enqueue(std::to_string(words_in(line.payload)));
                          },
                          {.threads = 4, .until_empty = true});
  counting.join();

  std::size_t results = 0;
  std::size_t words = 0;
  for (auto batch = counts.dequeue_batch(1000); !batch.empty();
       batch = counts.dequeue_batch(1000)) {
    results += batch.size();
    for (const tableq::message& each : batch) words += std::stoul(each.payload);
  }
  std::cout << "lines: " << results << ", words: " << words << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  try {
    run(argc > 1 ? argv[1] : "sqlite://pipeline.db", argc > 2 ? std::stoul(argv[2]) : 200);
  } catch (const std::exception& failure) {
    std::cerr << failure.what() << '\n';
    return 1;
  }
}
