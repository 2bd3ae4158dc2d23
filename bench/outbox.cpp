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

using message_adder = std::function<void()>;

/// @param adder makes the function that adds the second row in an application's transaction.
operation_maker transactions(const bed& where,
                             const std::function<message_adder(application&)>& adder) {
  return [&where, adder](std::size_t /*index*/) -> operation {
    const std::shared_ptr<application> app = where.raw.of_application();
    return [app, add = adder(*app)] {
      app->run("BEGIN");
      app->add(orders);
      add();
      app->run("COMMIT");
      return std::size_t{1};
    };
  };
}

struct outbox_case {
  const char* name;
  const char* description;
  bool claims = false;
  bool many = false;
  bool kept = false;      ///< The enlistment lasts, and so do its statements.
  bool transact = false;  ///< In a transaction of tableq, to which the application adds its row.
};

void run_outbox(const bed& where, recorder& out, const outbox_case& of) {
  tableq::database db = open(where);
  auto mail = db.fifo("mail");
  auto jobs = db.claim("jobs");
  const shop tables(where);
  const auto enqueue = [&](const tableq::enlistment& joined) {
    if (of.claims) {
      jobs.in(joined).enqueue(payload());
    } else {
      mail.in(joined).enqueue(payload());
    }
  };
  const auto message = [&](application& app) -> message_adder {
    if (!of.kept) return [&] { enqueue(app.enlist(db, {})); };
    const auto joined =
        std::make_shared<tableq::enlistment>(app.enlist(db, {.keep_statements = true}));
    return [joined, enqueue] { enqueue(*joined); };
  };
  const auto transact = [&](std::size_t /*index*/) -> operation {
    const std::shared_ptr<application> app = where.raw.of_application();
    return [&db, &mail, app] {
      db.transact([&](tableq::transaction& tx) {
        app->add_in(tx, orders);
        mail.in(tx).enqueue(payload());
      });
      return std::size_t{1};
    };
  };
  const std::size_t count = of.many ? where.how.threads : 1;
  const side ours{.threads = count,
                  .make = of.transact ? operation_maker(transact) : transactions(where, message)};
  const side limit{.threads = count, .make = transactions(where, [](application& app) {
                                       return [&app] { app.add(events); };
                                     })};
  json result = {
      {"case", of.name}, {"threads", count}, {"batch", 1}, {"limit_of", "two plain rows"}};
  result.update(compare(where.how, ours, limit));
  out.record(where, std::move(result));
  tables.clear();
}

bench_case outbox(const outbox_case& of) {
  return {.name = of.name,
          .description = of.description,
          .fits = of.many ? with_many_writers : natively,
          .run = [of](const bed& where, recorder& out) { run_outbox(where, out, of); }};
}

}  // namespace

std::vector<bench_case> outbox_cases() {
  return {outbox({.name = "outbox_fifo",
                  .description = "a row and a message in the application's transaction"}),
          outbox({.name = "outbox_claim",
                  .description = "the same with a message of a claim queue",
                  .claims = true}),
          outbox({.name = "outbox_fifo_threads",
                  .description = "outbox_fifo in many threads",
                  .many = true}),
          outbox({.name = "outbox_fifo_kept",
                  .description = "outbox_fifo by one enlistment that keeps its statements",
                  .kept = true}),
          outbox({.name = "outbox_claim_kept",
                  .description = "outbox_claim by one enlistment that keeps its statements",
                  .claims = true,
                  .kept = true}),
          outbox({.name = "outbox_fifo_kept_threads",
                  .description = "outbox_fifo_kept in many threads",
                  .many = true,
                  .kept = true}),
          outbox({.name = "outbox_transact",
                  .description = "the row in tableq's transaction of a message",
                  .transact = true})};
}

}  // namespace bench
