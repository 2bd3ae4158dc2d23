// Sends letters with a pool of threads. A failed letter is tried again after growing pauses. A
// letter that can never be sent goes to a dead-letter queue at once, for inspection by a person.
#include <iostream>
#include <stdexcept>
#include <string>
#include <tableq/tableq.hpp>

namespace {

using namespace std::chrono_literals;

tableq::handled send(const tableq::delivery& letter) {
  if (letter.payload.find('@') == std::string::npos) {
    return tableq::handled::give_up("not an address");
  }
  // The first attempt finds a busy server.
  if (letter.attempt == 1) throw std::runtime_error("try again later");
  return tableq::handled::completed();
}

}  // namespace

int main(int argc, char** argv) try {
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://letters.db");
  auto letters = db.claim("letters", {.lease = 10s,
                                      .max_attempts = 5,
                                      .retry = tableq::retry_delays::exponential(10ms, 1min),
                                      .time_to_live = 24h * 3,
                                      .dead_letters = "returned"});
  for (const char* to : {"first@example.org", "second@example.org", "nobody"}) letters.enqueue(to);

  tableq::worker work(letters, send, {.threads = 4, .until_empty = true});
  work.join();

  std::cout << "sent: " << work.counts().completed << '\n';
  for (const tableq::stored_message& dead : db.claim("returned").peek(10)) {
    std::cout << "returned: " << dead.payload << ": " << dead.errors.back().error << '\n';
  }
} catch (const tableq::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
