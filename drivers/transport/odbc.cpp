// SOCI's header of the backend needs this one first.
#include "drivers/transport/odbc_api.hpp"

#include <soci/odbc/soci-odbc.h>
#include <soci/soci.h>

#include <algorithm>
#include <boost/locale/encoding_utf.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/at_end.hpp"
#include "drivers/transport.hpp"
#include "drivers/transport/common_file.hpp"
#include "drivers/transport/foreign_names.hpp"
#include "drivers/transport/forks.hpp"
#include "drivers/transport/odbc_address.hpp"
#include "drivers/transport/odbc_drivers.hpp"
#include "drivers/transport/odbc_options.hpp"
#include "drivers/transport/odbc_records.hpp"
#include "drivers/transport/odbc_values.hpp"

namespace tableq::inline v0::drivers {
namespace odbc {
namespace {

bool dead(SQLHDBC link) noexcept {
  SQLUINTEGER state = SQL_CD_FALSE;
  const SQLRETURN result =
      SQLGetConnectAttr(link, SQL_ATTR_CONNECTION_DEAD, &state, SQL_IS_UINTEGER, nullptr);
  return SQL_SUCCEEDED(result) && state == SQL_CD_TRUE;
}

}  // namespace

void fail(SQLSMALLINT kind, SQLHANDLE handle, SQLHDBC link) {
  std::vector<native_error> records = records_of(kind, handle);
  if (records.empty()) records.push_back({.sentence = "the ODBC driver failed without a word"});
  // Of a cut link the server's own error may come first. IMC: Microsoft's driver could not restore
  // a lost connection.
  const bool lost = std::ranges::any_of(records, [](const native_error& one) {
    return one.sqlstate.starts_with("08") || one.sqlstate.starts_with("IMC");
  });
  native_error first = std::move(records.front());
  records.erase(records.begin());
  first.link_lost = lost || dead(link);
  throw native_failure(std::move(first), std::move(records));
}

namespace {

SQLHDBC handle_of(soci::session& session) {
  return static_cast<soci::odbc_session_backend*>(session.get_backend())->hdbc_;
}

SQLHDBC handle_of(const core::any_session& session) {
  return session.soci != nullptr ? handle_of(*session.soci) : session.handle;
}

/// Shared by a session's executor and its statements.
struct odbc_link {
  SQLHDBC handle;
  std::optional<std::chrono::milliseconds> statement_timeout;
  bool wide_text;
  bool unlimited;  ///< The driver's.
  /// An SQL statement began the open transaction. ODBC reports only those that the driver began.
  bool open = false;
  /// A statement failed within a transaction. Drivers and servers handle this differently, so the
  /// session is not used again.
  bool spoiled = false;

  [[nodiscard]] bool in_transaction() const noexcept {
    if (open) return true;
    SQLUINTEGER automatic = SQL_AUTOCOMMIT_ON;
    const SQLRETURN result =
        SQLGetConnectAttr(handle, SQL_ATTR_AUTOCOMMIT, &automatic, SQL_IS_UINTEGER, nullptr);
    return SQL_SUCCEEDED(result) && automatic == SQL_AUTOCOMMIT_OFF;
  }
};

/// The text of a statement, as UTF-16 where the dialect wants it: a driver manager would widen the
/// other form byte by byte. Borrows a text that stays UTF-8.
class statement_text {
 public:
  statement_text(const std::string& sql, bool wide) : sql_(sql) {
    if (wide) wide_ = boost::locale::conv::utf_to_utf<char16_t>(sql);
  }

  // ODBC's functions take non-const pointers, but do not write.
  [[nodiscard]] SQLCHAR* narrow() const noexcept {
    return const_cast<SQLCHAR*>(reinterpret_cast<const SQLCHAR*>(sql_.data()));
  }
  [[nodiscard]] SQLWCHAR* wide() const noexcept {
    return const_cast<SQLWCHAR*>(reinterpret_cast<const SQLWCHAR*>(wide_.data()));
  }
  /// In units of the form that is sent.
  [[nodiscard]] SQLINTEGER size() const noexcept {
    return static_cast<SQLINTEGER>(wide_.empty() ? sql_.size() : wide_.size());
  }

 private:
  const std::string& sql_;
  std::u16string wide_;
};

/// A statement handle. Owns it.
class statement_handle {
 public:
  explicit statement_handle(odbc_link& link) : link_(link) {
    if (!SQL_SUCCEEDED(SQLAllocHandle(SQL_HANDLE_STMT, link.handle, &handle_))) {
      fail(SQL_HANDLE_DBC, link.handle, link.handle);
    }
    if (link.statement_timeout) {
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(*link.statement_timeout).count();
      // NOLINTNEXTLINE(performance-no-int-to-ptr): ODBC's way of passing a number
      SQLSetStmtAttr(handle_, SQL_ATTR_QUERY_TIMEOUT, reinterpret_cast<SQLPOINTER>(seconds), 0);
    }
  }
  statement_handle(const statement_handle&) = delete;
  statement_handle& operator=(const statement_handle&) = delete;
  ~statement_handle() { SQLFreeHandle(SQL_HANDLE_STMT, handle_); }

  [[nodiscard]] SQLHSTMT get() const noexcept { return handle_; }

  void prepare(const std::string& sql) {
    const statement_text text(sql, link_.wide_text);
    check(link_.wide_text ? SQLPrepareW(handle_, text.wide(), text.size())
                          : SQLPrepare(handle_, text.narrow(), text.size()));
    prepared_ = true;
  }

  /// Runs a text, which must be the prepared one if there is one, and reads all its results. The
  /// rows are valid only then: a server may send rows, and then an error that undoes the change
  /// that they report.
  void run(const std::string& sql, const std::vector<core::value_type>& columns,
           core::row_set& out) {
    const core::at_end closed([this]() noexcept {
      SQLFreeStmt(handle_, SQL_CLOSE);
      SQLFreeStmt(handle_, SQL_RESET_PARAMS);
    });
    SQLRETURN result = prepared_ ? SQLExecute(handle_) : execute(sql);
    bool wanted = !columns.empty();
    bool kept_back = false;
    do {
      SQLSMALLINT width = 0;
      if (result != SQL_NO_DATA) {  // a change of no rows
        check(result);
        check(SQLNumResultCols(handle_, &width));
      }
      if (width > 0) {
        fetch_all(width, wanted ? columns : std::vector<core::value_type>(), out);
        wanted = false;
      } else if (wanted) {
        kept_back = kept_back || changed_rows();
      }
      result = SQLMoreResults(handle_);
    } while (result != SQL_NO_DATA);
    // A driver may decide by the first word of a text whether it returns rows.
    if (wanted && kept_back) {
      throw native_failure({.sqlstate = "07005",
                            .sentence = "the ODBC driver keeps back the rows of a change; begin "
                                        "the statement's text with WITH"});
    }
  }

 private:
  SQLRETURN execute(const std::string& sql) {
    const statement_text text(sql, link_.wide_text);
    return link_.wide_text ? SQLExecDirectW(handle_, text.wide(), text.size())
                           : SQLExecDirect(handle_, text.narrow(), text.size());
  }

  void check(SQLRETURN result) {
    if (SQL_SUCCEEDED(result)) return;
    link_.spoiled = link_.spoiled || link_.in_transaction();
    fail(SQL_HANDLE_STMT, handle_, link_.handle);
  }

  /// Whether the current result, one without columns, counts changed rows.
  [[nodiscard]] bool changed_rows() const {
    SQLLEN changed = 0;
    return SQL_SUCCEEDED(SQLRowCount(handle_, &changed)) && changed > 0;
  }

  void fetch_all(SQLSMALLINT width, const std::vector<core::value_type>& columns,
                 core::row_set& out) {
    if (static_cast<std::size_t>(width) < columns.size()) {
      throw native_failure({.sqlstate = "42S22", .sentence = "a column of the answer is missing"});
    }
    const field_reader reader(handle_, link_.handle, link_.wide_text);
    for (SQLRETURN result = SQLFetch(handle_); result != SQL_NO_DATA; result = SQLFetch(handle_)) {
      check(result);
      SQLUSMALLINT column = 0;
      for (const core::value_type type : columns) out.add(reader.read(++column, type));
    }
  }

  odbc_link& link_;
  SQLHSTMT handle_ = SQL_NULL_HSTMT;
  bool prepared_ = false;
};

/// The server forgot the plan, or its table was altered. Nothing was run.
bool must_prepare_again(const native_error& failure) noexcept {
  return failure.sqlstate == "26000" || failure.sqlstate == "0A000";
}

class odbc_prepared final : public prepared {
 public:
  odbc_prepared(std::shared_ptr<odbc_link> link, text statement, bool keep)
      : link_(std::move(link)), text_(std::move(statement)), keep_(keep) {}

  void run(const arguments& given, core::row_set& out) override {
    const fork_guard guard;
    try {
      run_once(given, out);
    } catch (const native_failure& failure) {
      refuse_foreign_name(failure.details(), text_.sql);
      if (!ran_ || !must_prepare_again(failure.details())) throw;
      statement_.reset();
      if (link_->in_transaction()) {  // the transaction is lost, and may be repeated as a whole
        native_error what = failure.details();
        what.sqlstate = "26000";
        throw native_failure(std::move(what));
      }
      run_once(given, out);
    }
    ran_ = keep_;
  }

 private:
  void run_once(const arguments& given, core::row_set& out) {
    if (!statement_) {
      statement_.emplace(*link_);
      if (keep_) statement_->prepare(text_.sql);
    }
    const bound_values values(statement_->get(), link_->handle, link_->wide_text, link_->unlimited,
                              text_.parameters, given);
    statement_->run(text_.sql, text_.columns, out);
  }

  std::shared_ptr<odbc_link> link_;
  text text_;
  bool keep_;
  bool ran_ = false;  ///< The prepared statement has run: if its plan is lost later, it is prepared
                      ///< again.
  std::optional<statement_handle> statement_;
};

/// The database file. A driver for files reports its path as the address gives it. A relative path
/// could also be the name of a server's database.
std::optional<session_files> files_behind(SQLHDBC link) {
  const std::string name = information(link, SQL_DATABASE_NAME);
  if (!name.starts_with('/')) return {};
  return session_files{.main = named_file(name)};
}

/// A statement that ran out of time holds its caller no longer than the driver must. The settings
/// of a caller's session stay as they are.
void limit_attention(SQLHDBC link) {
  const auto longest = ways_of(information(link, SQL_DRIVER_NAME)).attention;
  if (longest.count() == 0) return;
  // NOLINTNEXTLINE(performance-no-int-to-ptr): ODBC's way of passing a number
  auto* const seconds = reinterpret_cast<SQLPOINTER>(longest.count());
  SQLSetConnectAttr(link, SQL_ATTR_CONNECTION_TIMEOUT, seconds, SQL_IS_UINTEGER);
}

class odbc_executor final : public transport {
 public:
  /// @param callers null: the session is not the caller's.
  odbc_executor(SQLHDBC handle, const endpoint& address, const core::any_session* callers = nullptr)
      : link_(std::make_shared<odbc_link>(
            odbc_link{handle, address.statement_timeout, address.wide_text,
                      ways_of(information(handle, SQL_DRIVER_NAME)).unlimited})),
        prepares_(address.prepares),
        files_(files_behind(handle)),
        callers_(callers == nullptr ? nullptr : callers->soci) {
    if (callers == nullptr) limit_attention(handle);
  }

  std::unique_ptr<prepared> prepare(text statement, bool keep) override {
    return std::make_unique<odbc_prepared>(link_, std::move(statement), keep && prepares_);
  }

  void script(const std::string& sql, boundary what) override {
    const fork_guard guard;
    core::row_set nothing;
    statement_handle(*link_).run(sql, {}, nothing);
    if (what == boundary::none || what == boundary::savepoint) return;
    link_->open = what == boundary::begin;
  }

  bool run_together(const std::string& /*begin*/, bool /*needed*/,
                    std::span<const bound_statement> /*all*/) override {
    return false;
  }

  bool alive() noexcept override {
    const fork_guard guard;
    return !link_->spoiled && !dead(link_->handle);
  }
  /// A transaction that a caller's plain BEGIN has opened is not seen.
  core::transaction_status transaction() noexcept override {
    if (callers_ != nullptr && !attached()) return core::transaction_status::closed;
    const fork_guard guard;
    return link_->in_transaction() ? core::transaction_status::open
                                   : core::transaction_status::none;
  }
  const session_files* files() noexcept override { return files_ ? &*files_ : nullptr; }

 private:
  /// The caller may have connected the session anew, to any database.
  [[nodiscard]] bool attached() const noexcept {
    return callers_->get_backend_name() == "odbc" && handle_of(*callers_) == link_->handle;
  }

  std::shared_ptr<odbc_link> link_;
  bool prepares_;
  std::optional<session_files> files_;
  soci::session* callers_;  // null also for a handle without SOCI
};

/// @param limited as for explained. @param more the driver's other records; empty: not known
[[noreturn]] void fail_to_connect(native_error what, const std::string& connect, bool limited,
                                  std::vector<native_error> more = {}) {
  what.link_lost = !refused_by_server(what.sqlstate);
  if (const std::string mistake = mistake_in(connect, what); !mistake.empty()) {
    what.sentence = without_secrets(plain_sentence(mistake), connect);
    throw native_failure::judged_as({errc::invalid_argument, advice::never}, std::move(what));
  }
  // psqlODBC has one SQLSTATE and one number for all. By another one the next logins wait:
  // login_pauses.hpp.
  if (what.sentence.find("authentication failed") != std::string::npos) {
    what.sqlstate = "28000";
    what.number = 0;
  }
  what.sentence = plain_sentence(what.sentence);
  if (gives_no_reason(what)) {
    if (more.empty()) more = refusal_of(connect);  // SOCI keeps the first record only
    for (native_error& other : more) {
      if (other.number == 0 || other.number == what.number) continue;
      what.number = other.number;
      what.sentence = std::move(other.sentence);
      break;
    }
  }
  if (what.sqlstate == "01S00") what.sentence = "the ODBC driver failed without a reason";
  what.sentence = without_secrets(std::move(what.sentence), connect);
  const native_failure told = explained(what, connect, limited);
  if (told.judged()) throw native_failure(told);
  if (what.number == 0 || !refused_by_server(what.sqlstate)) {
    what.sentence += advice_for_connect(what.sqlstate);
  }
  if (!loads_driver(what.sqlstate)) {
    throw native_failure::judged_as({errc::connection_failed, advice::never}, std::move(what));
  }
  throw native_failure(std::move(what));
}

/// The addresses whose last login failed: for each failed one SOCI 4.0 keeps an environment and a
/// link of ODBC for ever, some 80 kB. So the next one is tried without SOCI first.
class failed_addresses {
 public:
  [[nodiscard]] bool has(std::size_t address) {
    const std::scoped_lock hold(mutex_);
    return all_.contains(address);
  }
  void keep(std::size_t address) {
    const std::scoped_lock hold(mutex_);
    all_.insert(address);
  }
  void drop(std::size_t address) {
    const std::scoped_lock hold(mutex_);
    all_.erase(address);
  }

 private:
  std::mutex mutex_;
  std::set<std::size_t> all_;  // guarded by mutex_; hashes, because addresses hold passwords
};

failed_addresses& failed_before() {
  // Never destroyed: static objects may hold databases.
  static auto* const all = new failed_addresses;
  return *all;
}

void try_without_soci(const std::string& connect, bool limited) {
  std::vector<native_error> records = refusal_in_full(connect);
  if (records.empty()) return;
  native_error first = std::move(records.front());
  records.erase(records.begin());
  fail_to_connect(std::move(first), connect, limited, std::move(records));
}

void refuse_option(const std::string& complaint) {
  if (complaint.empty()) return;
  throw native_failure::judged_as({errc::invalid_argument, advice::never}, complaint);
}

/// @param known the address, the same for each of its logins
void open_known(soci::session& session, const endpoint& address, const std::string& known) {
  const std::string connect = with_needs(address.connect);
  // Addresses with a time for statements have one for logins.
  const bool limited = address.statement_timeout.has_value();
  const std::size_t key = std::hash<std::string>{}(known);
  soci::connection_parameters parameters(soci::odbc, connect);
  // Otherwise a driver may open a dialog for a missing value.
  parameters.set_option(soci::odbc_option_driver_complete, "0");
  const fork_guard guard;
  if (failed_before().has(key)) try_without_soci(connect, limited);
  try {
    session.open(parameters);
    failed_before().drop(key);
  } catch (const soci::odbc_soci_error& failure) {
    failed_before().keep(key);
    const auto* state = reinterpret_cast<const char*>(failure.odbc_error_code());
    const auto* message = reinterpret_cast<const char*>(failure.odbc_error_message());
    // No record of the driver manager's: the connection was made, and a statement of SOCI failed.
    if (std::string_view(message).starts_with("[SOCI]")) {
      refuse_option(refused_option_of(connect));
    }
    fail_to_connect({.sqlstate = state,
                     .number = static_cast<int>(failure.native_error_code()),
                     .sentence = message},
                    connect, limited);
  } catch (const soci::soci_error& failure) {
    fail_to_connect({.sentence = failure.get_error_message()}, connect, limited);
  }
  refuse_option(refused_option(handle_of(session)));
}

void open_callers(soci::session& session, const endpoint& address) {
  open_known(session, address, address.connect);
}

std::unique_ptr<soci::session> open(const endpoint& address) {
  // The driver manager may pool sessions: one that others have used would come with their settings
  // and locks, or with a file that has been replaced, and this one's settings would go to others.
  endpoint alone = address;
  alone.connect = unshared(address.connect);
  auto session = std::make_unique<soci::session>();
  open_known(*session, alone, address.connect);
  odbc_executor executor(handle_of(*session), address);
  if (executor.files() != nullptr) common_file::refuse_inherited(executor.files()->main);
  for (const std::string& statement : address.setup) executor.script(statement, boundary::none);
  return session;
}

std::unique_ptr<transport> attach(const core::any_session& session, const endpoint& address,
                                  bool callers) {
  if (callers) refuse_option(refused_option(handle_of(session)));
  return std::make_unique<odbc_executor>(handle_of(session), address, callers ? &session : nullptr);
}

std::string product_of(SQLHDBC link) {
  std::string name = information(link, SQL_DBMS_NAME);
  if (name.empty()) fail(SQL_HANDLE_DBC, link, link);
  return name;
}

bool fits(const core::any_session& session, const dialect& definition) {
  const auto& known = definition.products;
  return std::find(known.begin(), known.end(), product_of(handle_of(session))) != known.end();
}

session_place place(const core::any_session& /*session*/, const session_files* files) {
  if (files == nullptr || !files->main.there()) return {};
  return {.name = files->main.number(), .exclusive = true};
}

std::optional<native_error> answer_in(const std::exception& thrown,
                                      const core::any_session& /*session*/) {
  const auto* const known = dynamic_cast<const soci::odbc_soci_error*>(&thrown);
  if (known == nullptr) return std::nullopt;
  return native_error{.sqlstate = reinterpret_cast<const char*>(known->odbc_error_code()),
                      .number = static_cast<int>(known->native_error_code()),
                      .sentence = reinterpret_cast<const char*>(known->odbc_error_message())};
}

}  // namespace
}  // namespace odbc

std::string odbc_product(const endpoint& address) {
  return odbc::product_of(odbc::handle_of(*odbc::open(address)));
}

const transport_kind odbc_transport{
    .name = "odbc",
    .backend = "odbc",
    .markers = marker::question,
    .arrays = false,
    .open = odbc::open,
    .open_callers = odbc::open_callers,
    .attach = odbc::attach,
    .fits = odbc::fits,
    .place = odbc::place,
    .handle_of = [](soci::session& session) -> void* { return odbc::handle_of(session); },
    .listen = nullptr,
    .answer_in = odbc::answer_in};

}  // namespace tableq::inline v0::drivers
