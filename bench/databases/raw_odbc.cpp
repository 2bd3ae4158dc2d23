#include <utility>
#include <vector>

#include "databases.hpp"
#include "odbc_client.hpp"
#include "postgresql_place.hpp"

namespace bench {

namespace {

/// The driver's connection string for the address that libpq would use.
std::string driver_string(const std::string& address) {
  // Protocol 7.4-0: no savepoint of the driver's own before each statement.
  std::string out = "Driver={PostgreSQL Unicode};Protocol=7.4-0;ByteaAsLongVarBinary=1";
  std::string rest;
  PQconninfoOption* all = PQconninfoParse(address.c_str(), nullptr);
  for (const PQconninfoOption* each = all; each != nullptr && each->keyword != nullptr; ++each) {
    if (each->val == nullptr) continue;
    const std::string key = each->keyword;
    const char* word = key == "host"       ? "Servername"
                       : key == "port"     ? "Port"
                       : key == "dbname"   ? "Database"
                       : key == "user"     ? "UID"
                       : key == "password" ? "PWD"
                       : key == "sslmode"  ? "SSLmode"
                                           : nullptr;
    if (word != nullptr) {
      out += ';' + std::string(word) + '=' + each->val;
    } else {
      rest += key + "='" + each->val + "' ";
    }
  }
  PQconninfoFree(all);
  return out + ";pqopt={" + rest + '}';
}

std::string hexadecimal(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    out += digits[byte >> 4];
    out += digits[byte & 15];
  }
  return out;
}

std::string text_array(const std::vector<std::string>& items) {
  std::string out = "{";
  for (const std::string& item : items) out += (out.size() > 1 ? "," : "") + item;
  return out + '}';
}

std::string next(std::size_t batch, const std::string& rows) {
  const std::string found =
      "SELECT id FROM " + rows + " FOR UPDATE SKIP LOCKED LIMIT " + std::to_string(batch);
  return batch == 1 ? "id = (" + found + ")" : "id = ANY (ARRAY(" + found + "))";
}

class client : public raw_client {
 public:
  client(const std::string& connection_string, std::size_t batch, const raw_words& words)
      : on_(connection_string),
        batch_(batch),
        insert_(on_, batch == 1 ? "INSERT INTO " + words.mail + " (payload) VALUES (?)"
                                : "INSERT INTO " + words.mail +
                                      " (payload) SELECT unnest(CAST(? AS bytea[]))"),
        pop_(on_, "DELETE FROM " + words.mail + " WHERE " +
                      next(batch, words.mail + " ORDER BY id") + " RETURNING id, payload"),
        claim_(on_, "UPDATE " + words.claims + " SET " + words.taken + " WHERE " +
                        next(batch, words.claims + " WHERE " + words.waiting + " ORDER BY " +
                                        words.order) +
                        " RETURNING id, payload"),
        remove_(on_, "DELETE FROM " + words.claims +
                         (batch == 1 ? " WHERE id = ?" : " WHERE id = ANY (CAST(? AS bigint[]))")),
        payload_(payload()) {}

  void insert() override {
    if (batch_ == 1) {
      insert_.bind_bytes(payload_);
    } else {
      const std::string item = R"("\\x)" + hexadecimal(payload_) + '"';
      insert_.bind_text(text_array(std::vector<std::string>(batch_, item)));
    }
    insert_.run();
  }
  std::size_t pop() override { return pop_.run().size(); }
  std::size_t claim() override {
    const std::vector<std::int64_t>& taken = claim_.run();
    if (taken.empty()) return 0;
    if (batch_ == 1) {
      remove_.bind_number(taken.front());
    } else {
      std::vector<std::string> ids;
      for (const std::int64_t id : taken) ids.push_back(std::to_string(id));
      remove_.bind_text(text_array(ids));
    }
    remove_.run();
    return taken.size();
  }

 private:
  odbc_connection on_;
  std::size_t batch_;
  odbc_statement insert_;
  odbc_statement pop_;
  odbc_statement claim_;
  odbc_statement remove_;
  std::string payload_;
};

class database : public raw_database {
 public:
  database(const std::string& address, const std::string& synchronous)
      : place_(address, synchronous), connection_string_(driver_string(place_.url())) {}

  std::string url() const override { return "odbc://" + connection_string_; }
  std::unique_ptr<raw_client> connect(std::size_t batch, owner whose) override {
    return std::make_unique<client>(
        connection_string_, batch,
        whose == owner::tableq ? words_of_jobs() : postgresql_place::words());
  }
  void run(owner /*whose*/, const std::string& text) override { place_.run(text); }
  void clear(owner /*whose*/, std::string_view table) override { place_.clear(table); }
  void add(owner /*whose*/, std::string_view table, std::size_t messages) override {
    place_.add(table, messages);
  }
  void tidy(owner /*whose*/, std::string_view table) override { place_.tidy(table); }
  std::unique_ptr<held> hold_snapshot(owner /*whose*/) override { return {}; }
  std::optional<double> log_bytes() override { return place_.log_bytes(); }
  json describe() override { return place_.describe(); }

 private:
  postgresql_place place_;
  std::string connection_string_;
};

}  // namespace

std::unique_ptr<raw_database> raw_odbc(const std::string& address, const std::string& mode) {
  return std::make_unique<database>(address, mode);
}

}  // namespace bench
