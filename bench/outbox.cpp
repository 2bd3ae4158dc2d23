// A message in the application's own transaction, against a plain row in its place.
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "cases.hpp"
#include "compare.hpp"
#include "subject.hpp"

namespace bench {

namespace {

constexpr const char* orders = "orders";
constexpr const char* events = "events";

/// The application's tables, in tableq's place.
class shop {
 public:
  explicit shop(const bed& where) : raw_(where.raw) {
    const bool one_writer = where.kind.one_writer;
    for (const std::string name : {orders, events}) {
      raw_.run(owner::tableq,
               "CREATE TABLE " + name +
                   (one_writer ? " (id INTEGER PRIMARY KEY, payload BLOB NOT NULL)"
                               : " (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, payload "
                                 "bytea NOT NULL)"));
    }
  }
  shop(const shop&) = delete;
  shop& operator=(const shop&) = delete;
  ~shop() {
    for (const std::string name : {orders, events}) raw_.run(owner::tableq, "DROP TABLE " + name);
  }

  void clear() const {
    for (const char* name : {orders, events, "mail", "jobs"}) raw_.clear(owner::tableq, name);
    raw_.tidy(owner::tableq, orders);
  }

 private:
  raw_database& raw_;
};

/// @param message adds the second row.
operation_maker transactions(const bed& where, const std::function<void(application&)>& message) {
  return [&where, message](std::size_t /*index*/) -> operation {
    const std::shared_ptr<application> app = where.raw.of_application();
    return [app, message] {
      app->run("BEGIN");
      app->add(orders);
      message(*app);
      app->run("COMMIT");
      return std::size_t{1};
    };
  };
}

void run_outbox(const bed& where, recorder& out, const std::string& name, bool claims, bool many) {
  tableq::database db = open(where);
  auto mail = db.fifo("mail");
  auto jobs = db.claim("jobs");
  const shop tables(where);
  const auto enqueue = [&](application& app) {
    auto joined = app.enlist(db);
    if (claims) {
      jobs.in(joined).enqueue(payload());
    } else {
      mail.in(joined).enqueue(payload());
    }
  };
  const std::size_t count = many ? where.how.threads : 1;
  const side ours{.threads = count, .make = transactions(where, enqueue)};
  const side limit{.threads = count,
                   .make = transactions(where, [](application& app) { app.add(events); })};
  json result = {{"case", name}, {"threads", count}, {"batch", 1}, {"limit_of", "two plain rows"}};
  result.update(compare(where.how, ours, limit));
  out.record(where, std::move(result));
  tables.clear();
}

bench_case outbox(const std::string& name, const std::string& description, bool claims, bool many,
                  bool (*fits)(const database_kind&)) {
  return {
      .name = name,
      .description = description,
      .fits = fits,
      .run = [=](const bed& where, recorder& out) { run_outbox(where, out, name, claims, many); }};
}

}  // namespace

std::vector<bench_case> outbox_cases() {
  return {
      outbox("outbox_fifo", "a row and a message in the application's transaction", false, false,
             natively),
      outbox("outbox_claim", "the same with a message of a claim queue", true, false, natively),
      outbox("outbox_fifo_threads", "the same in many threads", false, true, with_many_writers)};
}

}  // namespace bench
