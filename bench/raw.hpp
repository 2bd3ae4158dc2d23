#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include <tableq/tableq.hpp>

namespace bench {

using json = nlohmann::ordered_json;

/// One connection without tableq: plain prepared statements on a plain table, made for a fixed
/// number of messages at a time. Used by one thread at a time.
class raw_client {
 public:
  raw_client() = default;
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;
  virtual ~raw_client() = default;

  /// One transaction, of one statement if one takes all the messages.
  virtual void insert() = 0;
  /// One statement that deletes and returns. @return how many.
  virtual std::size_t pop() = 0;
  /// One statement that leases and returns, and one that deletes by id, each in its own
  /// transaction.
  /// @return how many.
  virtual std::size_t claim() = 0;
};

/// The owner of the tables.
enum class owner { raw, tableq };

/// The tables of a raw_client, and the words of its claims.
struct raw_words {
  std::string mail;  ///< Of insert and pop.
  std::string claims;
  std::string waiting;  ///< The condition of the rows that may be taken.
  std::string order;
  std::string taken;  ///< What a take sets.
};
/// All of them on the claim queue `jobs`, as tableq makes its table.
raw_words words_of_jobs();

/// A resource that is held until the object is destroyed.
class held {
 public:
  held() = default;
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  virtual ~held() = default;
};

/// Passes one message to a waiting session by the database's own means.
class hand_over {
 public:
  hand_over() = default;
  hand_over(const hand_over&) = delete;
  hand_over& operator=(const hand_over&) = delete;
  virtual ~hand_over() = default;

  /// @return microseconds from the sending to the receipt.
  virtual double send_and_receive() = 0;
};

/// A connection of an application, which adds rows to its tables `orders` and `events` in
/// transactions. Its statements are not prepared. Used by one thread at a time.
class application {
 public:
  application() = default;
  application(const application&) = delete;
  application& operator=(const application&) = delete;
  virtual ~application() = default;

  virtual void run(const char* text) = 0;
  virtual void add(std::string_view table) = 0;
  /// The same row in a transaction of tableq.
  virtual void add_in(tableq::transaction& tx, std::string_view table) = 0;
  virtual tableq::enlistment enlist(const tableq::database& db,
                                    const tableq::enlist_options& options) = 0;
};

/// A separate place in one database, removed with the object, for the side without tableq.
class raw_database {
 public:
  raw_database() = default;
  raw_database(const raw_database&) = delete;
  raw_database& operator=(const raw_database&) = delete;
  virtual ~raw_database() = default;

  /// tableq's address of the same place.
  [[nodiscard]] virtual std::string url() const = 0;
  /// tableq's address of the raw side's tables.
  [[nodiscard]] virtual std::string plain_url() const { return url(); }
  /// @param batch messages at a time. @param whose tables: the raw side's, or the claim queue
  /// `jobs`.
  [[nodiscard]] virtual std::unique_ptr<raw_client> connect(std::size_t batch, owner whose) = 0;

  /// A connection to tableq's place; null: the bench has none for this client library.
  [[nodiscard]] virtual std::unique_ptr<application> of_application() { return nullptr; }

  /// Runs a statement.
  virtual void run(owner whose, const std::string& text) = 0;

  /// Deletes everything from a table. Those of the raw side are `plain` and `claims`.
  virtual void clear(owner whose, std::string_view table) = 0;
  /// Adds this number of messages by plain SQL.
  virtual void add(owner whose, std::string_view table, std::size_t messages) = 0;
  /// Removes deleted rows from storage, so that a measurement begins with a clean table.
  virtual void tidy(owner whose, std::string_view table) = 0;
  /// Clears all three tables.
  void fill(owner whose, std::string_view table, std::size_t messages);

  /// Prevents the clean-up of rows that are deleted from now on.
  [[nodiscard]] virtual std::unique_ptr<held> hold_snapshot(owner whose) = 0;
  /// A transaction that has added a message to this table, and stays open; null with one writer.
  [[nodiscard]] virtual std::unique_ptr<held> hold_writer(std::string_view /*table*/) {
    return nullptr;
  }

  /// The simplest notification of a message; null if the database has none.
  [[nodiscard]] virtual std::unique_ptr<hand_over> notifications() { return nullptr; }

  /// All bytes that the database has ever written to its log; nothing if it does not tell.
  [[nodiscard]] virtual std::optional<double> log_bytes() { return {}; }

  /// The database's version and the settings that matter for speed.
  [[nodiscard]] virtual json describe() = 0;
};

/// All databases get the same payload: 200 bytes, but in cases about larger ones.
std::string_view payload();

/// Another payload until the object is destroyed.
class other_payload {
 public:
  explicit other_payload(std::string text);
  other_payload(const other_payload&) = delete;
  other_payload& operator=(const other_payload&) = delete;
  ~other_payload();
};

}  // namespace bench
