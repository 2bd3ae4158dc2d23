#pragma once

/// @file
/// Transports run statements on the native handle below a SOCI session. A transport depends on a
/// client library, and on no database's SQL.

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <tableq/testing.hpp>
#include <tableq/unstable/dialect.hpp>

#include "core/seam/driver.hpp"
#include "core/seam/fields.hpp"
#include "core/seam/value.hpp"
#include "drivers/text.hpp"
#include "drivers/transport/named_file.hpp"

namespace soci {
class session;
}

namespace tableq::inline v0::drivers {

/// The failures that transports report to drivers/session.cpp, where the dialect classifies them.
class native_failure : public std::exception {
 public:
  explicit native_failure(native_error what) : what_(std::move(what)) {}
  /// @param more the client library's other records of the same failure.
  native_failure(native_error what, std::vector<native_error> more)
      : what_(std::move(what)), more_(std::move(more)) {}
  [[nodiscard]] const native_error& details() const noexcept { return what_; }
  [[nodiscard]] const std::vector<native_error>& more() const noexcept { return more_; }
  /// The verdict, if the dialect must not classify the failure.
  [[nodiscard]] const std::optional<verdict>& judged() const noexcept { return judged_; }
  void judge(const verdict& decided) { judged_ = decided; }
  /// A failure with a fixed verdict; the dialect does not classify it.
  static native_failure judged_as(const verdict& decided, native_error what) {
    native_failure out(std::move(what));
    out.judge(decided);
    return out;
  }
  static native_failure judged_as(const verdict& decided, std::string sentence) {
    return judged_as(decided, native_error{.sentence = std::move(sentence)});
  }
  [[nodiscard]] const char* what() const noexcept override { return what_.sentence.c_str(); }

 private:
  native_error what_;
  std::vector<native_error> more_;
  std::optional<verdict> judged_;
};

/// Whether, by its SQLSTATE, the server itself refused a login.
[[nodiscard]] inline bool refused_by_server(std::string_view sqlstate) noexcept {
  return sqlstate.starts_with("28") || sqlstate.starts_with("42") || sqlstate == "08004";
}

/// Whether the session ended with the failure: by a limit on its time, or without a reason.
[[nodiscard]] inline bool ends_session(const verdict& means) noexcept {
  return means.code == errc::connection_lost ||
         (means.code == errc::cancelled && means.advice == advice::session);
}

/// The values for a run of a prepared statement.
struct arguments {
  std::span<const core::value> shared;
  std::span<const core::value> items;  ///< One item, or for array parameters any number.
  std::size_t item_width = 0;          ///< Values of each item.
  core::value identity = {};           ///< Of the queue.
  /// A test's; null: there is none.
  const testing::set_clock* clock = nullptr;
  mutable core::value now = {};  ///< By the clock, once it was asked.

  /// The value of a parameter that is not an array.
  [[nodiscard]] const core::value& value_of(const parameter& place) const {
    static const core::value null;
    if (place.identity) return identity;
    if (place.clock && clock != nullptr && now.is == core::value::shape::null)
      now = core::to_value(clock->now());
    if (place.clock) return now;
    if (!place.item) return shared[place.source];
    const std::size_t at = place.row * item_width + place.source;
    return at < items.size() ? items[at] : null;
  }
};

/// The effect of a text on the session's transaction. A savepoint's texts leave it open.
enum class boundary { none, begin, commit, rollback, savepoint };

/// A statement prepared in one session, which keeps it until soon after the object's end.
class prepared {
 public:
  prepared() = default;
  prepared(const prepared&) = delete;
  prepared& operator=(const prepared&) = delete;
  virtual ~prepared() = default;

  /// Runs the statement to its end and adds the fields of all rows to `out`. Leaves nothing open.
  /// @throws native_failure; the statement is reset and may be run again unless the connection is
  ///   lost.
  virtual void run(const arguments& given, core::row_set& out) = 0;
};

/// A prepared statement with its values, and where its rows go.
struct bound_statement {
  prepared* what = nullptr;
  arguments given = {};
  core::row_set* out = nullptr;
};

/// The place of a session's connection, with the client library's name for it.
struct session_place {
  std::string name = {};   ///< Equal for the same database. Empty: unknown, or in memory.
  bool exclusive = false;  ///< A database has no other name.
};

/// The executor of one session.
class transport {
 public:
  transport() = default;
  transport(const transport&) = delete;
  transport& operator=(const transport&) = delete;
  virtual ~transport() = default;

  /// @param keep false: used once, and nothing may stay in the session.
  virtual std::unique_ptr<prepared> prepare(text statement, bool keep) = 0;
  /// Runs a statement without parameters and rows.
  virtual void script(const std::string& sql, boundary what) = 0;
  /// Runs statements of this transport in one round trip. Outside a transaction they run in one of
  /// their own, which the text `begin` begins.
  /// @param needed false: the transaction may also be the one that the round trip is by itself.
  /// @return false: it cannot, or one must be prepared again; nothing was run.
  virtual bool run_together(const std::string& begin, bool needed,
                            std::span<const bound_statement> all) = 0;
  /// Whether the connection is alive, as far as the client library knows without asking the server.
  virtual bool alive() noexcept = 0;
  /// Call it only while the session has the backend that it was attached with.
  virtual core::transaction_status transaction() noexcept = 0;
  [[nodiscard]] bool in_transaction() noexcept {
    const core::transaction_status now = transaction();
    return now == core::transaction_status::open || now == core::transaction_status::failed;
  }

  /// The files that the session has opened; null for a server or a database in memory.
  virtual const session_files* files() noexcept = 0;
};

/// A kind of transport: how its sessions are opened.
struct transport_kind {
  std::string_view name;
  std::string_view backend;  ///< SOCI's name for it.
  marker markers;
  bool arrays;  ///< Whether parameters can be arrays.
  /// Opens a session. Throws native_failure with link_lost when that fails.
  std::unique_ptr<soci::session> (*open)(const endpoint& address);
  /// Opens a closed session of the caller, for its own use. Throws as `open` does.
  void (*open_callers)(soci::session& session, const endpoint& address);
  /// The executor for a session.
  /// @param callers whether the session is the caller's, whose settings stay as they are.
  std::unique_ptr<transport> (*attach)(const core::any_session& session, const endpoint& address,
                                       bool callers);
  /// Whether an open session of this kind belongs to the dialect's database, as far as the client
  /// library knows. A null function: it always does.
  bool (*fits)(const core::any_session& session, const dialect& definition);
  /// The place of an open session's connection.
  /// @param files the files that the session has opened; may be null.
  session_place (*place)(const core::any_session& session, const session_files* files);
  /// The native handle of an open session of this kind.
  void* (*handle_of)(soci::session& session);
  /// A listener for changes by other sessions; null if this address has none. A null function: no
  /// address has one.
  /// @param session an open session, which the listener may keep.
  std::unique_ptr<core::listener> (*listen)(std::unique_ptr<core::connection> session,
                                            const endpoint& address);
  /// The database's answer behind an exception of SOCI's backend for this kind. Its words may hold
  /// data; they are only to classify it. Empty: the exception is another one.
  std::optional<native_error> (*answer_in)(const std::exception& thrown,
                                           const core::any_session& session) = nullptr;
  /// The doubt that is left about an address. A null function: none.
  core::doubt (*doubt)(const endpoint& address) noexcept = nullptr;
  /// As core::give_up, for an open session of this kind. A null function: it cannot.
  void (*give_up)(const core::any_session& session) noexcept = nullptr;
  bool bare = false;  ///< Whether it reports the ids of changed rows to texts that return none.
  /// Whether it reads the database's clock itself, for less than the database's function costs, and
  /// supplies it as `:now`.
  bool tells_time = false;
  bool pipelines = false;  ///< Whether `run_together` works.
  bool scripts = false;    ///< Whether `script` takes several statements at once, in a transaction.
};

/// The transports of this build: drivers/registry.cpp.
const transport_kind* find_transport(std::string_view name) noexcept;

#if defined(TABLEQ_WITH_SQLITE)
extern const transport_kind sqlite_transport;
#endif
#if defined(TABLEQ_WITH_POSTGRESQL)
extern const transport_kind libpq_transport;
#endif
#if defined(TABLEQ_WITH_ODBC)
extern const transport_kind odbc_transport;
/// The product's name from the driver of an address. Opens a session for that. Throws
/// native_failure with link_lost when that fails.
std::string odbc_product(const endpoint& address);
#endif

}  // namespace tableq::inline v0::drivers
