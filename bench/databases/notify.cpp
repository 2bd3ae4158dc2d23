#include "notify.hpp"

#include <poll.h>

#include <memory>
#include <stdexcept>

#include "child_process.hpp"
#include "raw.hpp"

namespace bench {

namespace {

void wait_for_notification(PGconn* link) {
  for (;;) {
    const std::unique_ptr<PGnotify, void (*)(void*)> notice(PQnotifies(link), PQfreemem);
    if (notice) return;
    pollfd readable{PQsocket(link), POLLIN, 0};
    if (::poll(&readable, 1, 30'000) <= 0 || PQconsumeInput(link) == 0) {
      throw std::runtime_error("PostgreSQL: no notification came");
    }
  }
}

}  // namespace

notified::notified(const std::string& address) : sender_(address), receiver_(address) {
  receiver_.run("LISTEN tableq_bench");
  receiver_.prepare("pop",
                    "DELETE FROM plain WHERE id = (SELECT id FROM plain ORDER BY id"
                    " FOR UPDATE SKIP LOCKED LIMIT 1) RETURNING id, payload");
}

double notified::send_and_receive() {
  std::int64_t received = 0;
  std::jthread waiting([this, &received] {
    wait_for_notification(receiver_.handle());
    receiver_.execute("pop", nullptr);
    received = now_ns();
  });
  // Long enough for the reader of the other side to fall asleep.
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  const std::int64_t begin = now_ns();
  sender_.run("INSERT INTO plain (payload) VALUES ('" + std::string(payload()) +
              "'); NOTIFY tableq_bench");
  waiting.join();
  return static_cast<double>(received - begin) / 1000;
}

}  // namespace bench
