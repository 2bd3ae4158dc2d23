#include <unistd.h>

#include <utility>
#include <vector>

#include <tableq/libpq.hpp>

#include "databases.hpp"
#include "libpq_client.hpp"
#include "notify.hpp"
#include "postgresql_place.hpp"

namespace bench {

namespace {

class client : public raw_client {
 public:
  client(const std::string& address, std::size_t batch, const raw_words& words)
      : on_(address),
        payload_(payload()),
        payloads_(binary_array(std::vector<std::string_view>(batch, payload()))),
        batch_(batch) {
    const std::string next = " FOR UPDATE SKIP LOCKED LIMIT " + std::to_string(batch);
    const std::string first = batch == 1 ? "id = (" : "id = ANY (ARRAY(";
    const std::string last = batch == 1 ? ")" : "))";
    on_.prepare("insert",
                batch == 1 ? "INSERT INTO " + words.mail + " (payload) VALUES ($1)"
                           : "INSERT INTO " + words.mail + " (payload) SELECT unnest($1::bytea[])");
    on_.prepare("pop", "DELETE FROM " + words.mail + " WHERE " + first + "SELECT id FROM " +
                           words.mail + " ORDER BY id" + next + last + " RETURNING id, payload");
    on_.prepare("claim", "UPDATE " + words.claims + " SET " + words.taken + " WHERE " + first +
                             "SELECT id FROM " + words.claims + " WHERE " + words.waiting +
                             " ORDER BY " + words.order + next + last + " RETURNING id, payload");
    on_.prepare("remove", "DELETE FROM " + words.claims + " WHERE id = ANY ($1::bigint[])");
    on_.prepare("remove_one", "DELETE FROM " + words.claims + " WHERE id = $1");
  }

  void insert() override { on_.execute("insert", batch_ == 1 ? &payload_ : &payloads_); }
  std::size_t pop() override {
    const libpq_result taken = on_.execute("pop", nullptr);
    copy(taken);
    return static_cast<std::size_t>(PQntuples(taken.get()));
  }
  std::size_t claim() override {
    const libpq_result taken = on_.execute("claim", nullptr);
    const int rows = PQntuples(taken.get());
    if (rows == 0) return 0;
    copy(taken);
    if (batch_ == 1) {
      const std::string id(PQgetvalue(taken.get(), 0, 0), sizeof(std::int64_t));
      on_.execute("remove_one", &id);
    } else {
      std::vector<std::int64_t> ids;
      for (int row = 0; row < rows; ++row) ids.push_back(binary_number(taken.get(), row, 0));
      const std::string all = binary_array(ids);
      on_.execute("remove", &all);
    }
    return static_cast<std::size_t>(rows);
  }

 private:
  /// As a caller would.
  void copy(const libpq_result& taken) {
    for (int row = 0; row < PQntuples(taken.get()); ++row) {
      row_.assign(PQgetvalue(taken.get(), row, 1),
                  static_cast<std::size_t>(PQgetlength(taken.get(), row, 1)));
    }
  }

  libpq_connection on_;
  std::string payload_;
  std::string payloads_;
  std::size_t batch_;
  std::string row_;
};

/// A snapshot of a transaction that writes elsewhere: it has a number.
class old_snapshot : public held {
 public:
  explicit old_snapshot(const std::string& address) : on_(address) {
    on_.run("BEGIN ISOLATION LEVEL REPEATABLE READ");
    on_.run("SELECT txid_current()");
    on_.run("SELECT count(*) FROM pg_class");
  }

 private:
  libpq_connection on_;
};

class open_writer : public held {
 public:
  open_writer(const std::string& address, std::string_view table) : on_(address) {
    on_.run("BEGIN");
    on_.run(postgresql_place::addition(table, 1));
  }

 private:
  libpq_connection on_;
};

class libpq_application : public application {
 public:
  explicit libpq_application(const std::string& address) : on_(address) {}
  void run(const char* text) override { on_.run(text); }
  void add(std::string_view table) override {
    on_.run_with("INSERT INTO " + std::string(table) + " (payload) VALUES ($1)", payload());
  }
  void add_in(tableq::transaction& tx, std::string_view table) override {
    libpq_connection borrowed(tableq::libpq_session_of(tx));
    borrowed.run_with("INSERT INTO " + std::string(table) + " (payload) VALUES ($1)", payload());
  }
  tableq::enlistment enlist(const tableq::database& db,
                            const tableq::enlist_options& options) override {
    return tableq::enlist(db, on_.handle(), options);
  }

 private:
  libpq_connection on_;
};

class database : public raw_database {
 public:
  database(const std::string& address, const std::string& synchronous)
      : place_(address, synchronous) {}

  std::string url() const override { return place_.url(); }
  std::unique_ptr<raw_client> connect(std::size_t batch, owner whose) override {
    return std::make_unique<client>(
        place_.url(), batch, whose == owner::tableq ? words_of_jobs() : postgresql_place::words());
  }
  std::unique_ptr<application> of_application() override {
    return std::make_unique<libpq_application>(place_.url());
  }
  void run(owner /*whose*/, const std::string& text) override { place_.run(text); }
  void clear(owner /*whose*/, std::string_view table) override { place_.clear(table); }
  void add(owner /*whose*/, std::string_view table, std::size_t messages) override {
    place_.add(table, messages);
  }
  void tidy(owner /*whose*/, std::string_view table) override { place_.tidy(table); }
  std::unique_ptr<held> hold_snapshot(owner /*whose*/) override {
    return std::make_unique<old_snapshot>(place_.url());
  }
  std::unique_ptr<held> hold_writer(std::string_view table) override {
    return std::make_unique<open_writer>(place_.url(), table);
  }
  std::unique_ptr<hand_over> notifications() override {
    return std::make_unique<notified>(place_.url());
  }
  std::optional<double> log_bytes() override { return place_.log_bytes(); }
  json describe() override { return place_.describe(); }

 private:
  postgresql_place place_;
};

}  // namespace

std::unique_ptr<raw_database> raw_postgresql(const std::string& address, const std::string& mode) {
  return std::make_unique<database>(address, mode);
}

}  // namespace bench
