#include <algorithm>

#include "first/place.hpp"
#include "support/tds_client.hpp"

namespace tableq_test::first {
namespace {

using clock = std::chrono::steady_clock;
constexpr int rounds = 3;

int times_for(const place& on) {
  return std::clamp(static_cast<int>(on.time.count() / 60), 5, 1000);
}

double rate(int times, const std::function<void()>& all) {
  const auto began = clock::now();
  all();
  const std::chrono::duration<double> took = clock::now() - began;
  return times / std::max(took.count(), 1e-6);
}

void check(const odbc_outcome& got) {
  if (got.errors.empty()) return;
  const odbc_record& first = got.errors.front();
  throw std::runtime_error("plain statement: " + first.state + " " + std::to_string(first.native) +
                           " " + first.text);
}

struct compared {
  std::vector<double> own = {};
  std::vector<double> plain = {};

  [[nodiscard]] std::string told(const std::string& what) const {
    const auto middle = [](std::vector<double> of) {
      std::sort(of.begin(), of.end());
      return of.empty() ? 0 : of[of.size() / 2];
    };
    return what + ": tableq " + std::to_string(static_cast<long>(middle(own))) +
           "/s, plain statements " + std::to_string(static_cast<long>(middle(plain))) + "/s";
  }
};

}  // namespace

/// One session each, alternating; the middle of three rounds.
void compare_speed(report& to, const place& on) {
  const int times = times_for(on);
  const std::string table = on.name_of("plain_statements");
  tds_client client(on.at.connection_string());
  check(client.run("CREATE TABLE " + table +
                   " (id bigint IDENTITY(1, 1) NOT NULL PRIMARY KEY CLUSTERED,"
                   " payload varbinary(max) NOT NULL)"));
  tableq::database db = on.open();
  auto fifo = db.fifo("fifo");
  fifo.purge();
  const std::string payload(200, 'x');
  compared enqueue;
  compared dequeue;
  for (int round = 0; round < rounds && !interrupted; ++round) {
    enqueue.own.push_back(rate(times, [&] {
      for (int i = 0; i < times; ++i) fifo.enqueue(payload);
    }));
    enqueue.plain.push_back(rate(times, [&] {
      check(client.prepare_and_run(
          "INSERT INTO " + table + " (payload) OUTPUT inserted.id VALUES (?)",
          {binary_parameter(payload)}, times));
    }));
    dequeue.own.push_back(rate(times, [&] {
      for (int i = 0; i < times; ++i) static_cast<void>(fifo.dequeue());
    }));
    dequeue.plain.push_back(rate(times, [&] {
      check(client.prepare_and_run("WITH picked AS (SELECT TOP (1) id, payload FROM " + table +
                                       " WITH (ROWLOCK, READPAST) ORDER BY id)"
                                       " DELETE FROM picked OUTPUT deleted.id, deleted.payload",
                                   {}, times));
    }));
  }
  to.note(std::to_string(times) + " messages of 200 bytes in each of " + std::to_string(rounds) +
          " rounds, one session");
  to.note(enqueue.told("enqueue"));
  to.note(dequeue.told("dequeue"));
}

}  // namespace tableq_test::first
