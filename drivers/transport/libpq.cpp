#include <libpq-fe.h>
#include <poll.h>
#include <soci/postgresql/soci-postgresql.h>
#include <soci/soci.h>
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/transport.hpp"
#include "drivers/transport/foreign_names.hpp"
#include "drivers/transport/forks.hpp"
#include "drivers/transport/libpq_address.hpp"
#include "drivers/transport/libpq_link.hpp"
#include "drivers/transport/libpq_listener.hpp"
#include "drivers/transport/libpq_login.hpp"
#include "drivers/transport/libpq_values.hpp"
#include "drivers/transport/pooler_check.hpp"

namespace tableq::inline v0::drivers {
namespace {

using libpq::bound_values;
using libpq::check;
using libpq::end_unused;
using libpq::fail;
using libpq::field_of;
using libpq::ignore_notice;
using libpq::libpq_link;
using libpq::must_prepare_again;
using libpq::parameter_type;
using libpq::read_rows;
using libpq::receive_notice;
using libpq::refuse_beside_a_statement;
using libpq::refuse_forgotten;
using libpq::result;
using libpq::succeeded;

PGconn* handle_of(soci::session& session) {
  return static_cast<soci::postgresql_session_backend*>(session.get_backend())->conn_;
}

PGconn* handle_of(const core::any_session& session) {
  return session.soci != nullptr ? handle_of(*session.soci) : static_cast<PGconn*>(session.handle);
}

/// Joins several lines, without SOCI's own line, which tells only that the connection failed.
std::string one_line(std::string_view lines) {
  std::string out;
  while (!lines.empty()) {
    std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(line.size() + 1, lines.size()));
    line.remove_prefix(std::min(line.find_first_not_of(" \t\r"), line.size()));
    if (line.empty() || line.starts_with("Cannot establish connection")) continue;
    if (!out.empty()) out += "; ";
    out += line;
  }
  return out;
}

class libpq_prepared final : public prepared {
 public:
  libpq_prepared(std::shared_ptr<libpq_link> link, text statement, bool keep)
      : link_(std::move(link)), text_(std::move(statement)), keep_(keep) {
    for (const parameter& place : text_.parameters) types_.push_back(parameter_type(place));
    if (keep_) make();
  }
  libpq_prepared(const libpq_prepared&) = delete;
  libpq_prepared& operator=(const libpq_prepared&) = delete;
  ~libpq_prepared() override { leave(); }

#if defined(LIBPQ_HAS_PIPELINING)
  /// Call it outside of the pipeline mode.
  void prepare_for_pipeline() {
    if (keep_) ensure();
  }
  [[nodiscard]] bound_values bound(const arguments& given) const {
    return {text_.parameters, given};
  }
  /// In the pipeline mode. @return whether it could be sent.
  [[nodiscard]] bool send_only(const bound_values& values) const {
    const int sent =
        keep_ ? PQsendQueryPrepared(link_->handle, name_.c_str(), values.count(), values.pointers(),
                                    values.lengths(), values.formats(), 1)
              : PQsendQueryParams(link_->handle, text_.sql.c_str(), values.count(), types_.data(),
                                  values.pointers(), values.lengths(), values.formats(), 1);
    return sent == 1;
  }
  void receive(const PGresult* answer, core::row_set& out) const {
    if (!text_.columns.empty()) read_rows(answer, text_.columns, out);
  }
#endif
  /// The server forgot it, or its table was altered.
  void forget(const result& answer) noexcept {
    if (field_of(answer.get(), PG_DIAG_SQLSTATE) == "26000") {
      name_.clear();
      ++link_->forgotten;
    }
    leave();
  }

  void run(const arguments& given, core::row_set& out) override {
    refuse_beside_a_statement(*link_);
    const bound_values values(text_.parameters, given);
    if (keep_) ensure();
    result answer = send(values);
    if (keep_ && must_prepare_again(answer)) {
      // A reset session forgets the statement once; a pooler may switch sessions each time.
      constexpr int too_often = 3;
      const bool hopeless = !link_->callers &&
                            field_of(answer.get(), PG_DIAG_SQLSTATE) == "26000" &&
                            ++forgotten_ >= too_often;
      forget(answer);
      if (hopeless || PQtransactionStatus(link_->handle) != PQTRANS_IDLE) {
        refuse_forgotten(hopeless);
      }
      make();
      answer = send(values);
    }
    check(*link_, answer);
    if (!text_.columns.empty()) read_rows(answer.get(), text_.columns, out);
  }

 private:
  /// Prepares it, unless the server has it.
  void ensure() {
    if (made_after_ != link_->forgotten) leave();
    if (name_.empty()) make();
  }

  /// Names are never used twice, so an old statement cannot conflict.
  void make() {
    end_unused(*link_);
    std::string name = "tableq_" + link_->mark + "_";
    name += std::to_string(++link_->statements);
    const result answer(PQprepare(link_->handle, name.c_str(), text_.sql.c_str(),
                                  static_cast<int>(types_.size()), types_.data()));
    if (!succeeded(answer)) fail(link_->handle, answer.get());
    name_ = std::move(name);
    made_after_ = link_->forgotten;
  }

  /// Leaves the statement to end_unused.
  void leave() noexcept {
    try {
      if (!name_.empty()) link_->unused.push_back(name_);
    } catch (const std::bad_alloc&) {
      // noexcept: the session ends it.
    }
    name_.clear();
  }

  [[nodiscard]] result send(const bound_values& values) const {
    if (keep_) {
      return result(PQexecPrepared(link_->handle, name_.c_str(), values.count(), values.pointers(),
                                   values.lengths(), values.formats(), 1));
    }
    return result(PQexecParams(link_->handle, text_.sql.c_str(), values.count(), types_.data(),
                               values.pointers(), values.lengths(), values.formats(), 1));
  }

  std::shared_ptr<libpq_link> link_;
  text text_;
  bool keep_;
  std::vector<Oid> types_;
  std::string name_;
  std::uint64_t made_after_ = 0;  // libpq_link::forgotten
  int forgotten_ = 0;
};

class libpq_executor final : public transport {
 public:
  /// @param callers null: the session is tableq's.
  libpq_executor(PGconn* handle, const endpoint& address,
                 const core::any_session* callers = nullptr)
      : link_(std::make_shared<libpq_link>()),
        pooled_(address.pooled),
        callers_(callers == nullptr ? std::nullopt : std::optional(*callers)),
        server_process_(PQbackendPID(handle)),
        not_for_children_(callers == nullptr ? PQsocket(handle) : -1) {
    link_->handle = handle;
    link_->callers = callers != nullptr;
    if (callers == nullptr) PQsetNoticeReceiver(handle, receive_notice, link_.get());
  }
  libpq_executor(const libpq_executor&) = delete;
  libpq_executor& operator=(const libpq_executor&) = delete;
  ~libpq_executor() override {
    if (!callers_) PQsetNoticeReceiver(link_->handle, ignore_notice, nullptr);
    if (!callers_ || link_->unused.empty() || !attached()) return;
    try {
      end_unused(*link_);
    } catch (const std::exception&) {
      // noexcept: the statements end with the connection.
    }
  }

  std::unique_ptr<prepared> prepare(text statement, bool keep) override {
    return std::make_unique<libpq_prepared>(link_, std::move(statement), keep && !pooled_);
  }

  void script(const std::string& sql, boundary what) override {
    refuse_beside_a_statement(*link_);
    // An application may do all its work in transactions.
    if (what == boundary::begin) end_unused(*link_);
    const result answer(PQexec(link_->handle, sql.c_str()));
    check(*link_, answer);
    // COMMIT of a failed transaction answers ROLLBACK, and no error.
    if (what == boundary::commit && std::string_view(PQcmdStatus(answer.get())) == "ROLLBACK") {
      throw native_failure({.sqlstate = "25P02",
                            .sentence = "the transaction had failed and was rolled back instead"});
    }
  }

#if !defined(LIBPQ_HAS_PIPELINING)
  bool run_together(const std::string& /*begin*/, bool /*needed*/,
                    std::span<const bound_statement> /*all*/) override {
    return false;
  }
#else
  bool run_together(const std::string& begin, bool needed,
                    std::span<const bound_statement> all) override {
    refuse_beside_a_statement(*link_);
    PGconn* const link = link_->handle;
    const bool alone = PQtransactionStatus(link) == PQTRANS_IDLE;
    // Statements before one sync are a transaction. Before 14.5 libpq lost the error of its commit.
    constexpr int tells_failed_commit = 140005;
    const bool own =
        alone && (needed || callers_ || pooled_ || PQlibVersion() < tells_failed_commit);
    const auto statement_at = [&](std::size_t i) {
      // Its own; NOLINTNEXTLINE(cppcoreguidelines-pro-type-static-cast-downcast)
      return static_cast<libpq_prepared*>(all[i].what);
    };
    end_unused(*link_);
    // Until the session has left the pipeline mode, nothing throws: it would keep the mode.
    std::vector<bound_values> values;
    values.reserve(all.size());
    for (std::size_t i = 0; i < all.size(); ++i) {
      statement_at(i)->prepare_for_pipeline();
      values.push_back(statement_at(i)->bound(all[i].given));
    }
    std::vector<result> answers;
    answers.reserve(all.size() + 3);
    const auto send = [&](const char* sql) {
      return PQsendQueryParams(link, sql, 0, nullptr, nullptr, nullptr, nullptr, 1) == 1;
    };
    bool sent = PQenterPipelineMode(link) == 1 && (!own || send(begin.c_str()));
    for (std::size_t i = 0; sent && i < all.size(); ++i)
      sent = statement_at(i)->send_only(values[i]);
    sent = sent && (!own || send("COMMIT")) && PQpipelineSync(link) == 1;
    values.clear();
    const std::size_t first = own ? 1 : 0;  // the place of the first statement's answer
    while (sent && answers.size() < all.size() + 2 * first) {
      answers.emplace_back(PQgetResult(link));
      while (result(PQgetResult(link)) != nullptr) {
      }
      sent = PQstatus(link) == CONNECTION_OK;
    }
    if (sent) {
      result end(PQgetResult(link));
      if (PQresultStatus(end.get()) == PGRES_FATAL_ERROR) {
        answers.push_back(std::move(end));  // the commit's
        static_cast<void>(result(PQgetResult(link)));
        end.reset(PQgetResult(link));
      }
      sent = PQresultStatus(end.get()) == PGRES_PIPELINE_SYNC && PQexitPipelineMode(link) == 1;
    }
    const auto failed = std::ranges::find_if_not(answers, succeeded);
    if (!sent) {
      // The server may have committed the statements.
      native_error lost{.sqlstate = failed == answers.end()
                                        ? std::string()
                                        : std::string(field_of(failed->get(), PG_DIAG_SQLSTATE)),
                        .link_lost = true};
      const std::string_view words = PQerrorMessage(link);
      lost.sentence = words.substr(0, words.find('\n'));
      throw native_failure(std::move(lost));
    }
    if (own && failed != answers.end()) static_cast<void>(result(PQexec(link, "ROLLBACK")));
    if (failed != answers.end() && must_prepare_again(*failed)) {
      const auto place = static_cast<std::size_t>(failed - answers.begin());
      if (place >= first && place < first + all.size())
        statement_at(place - first)->forget(*failed);
      if (alone) return false;
      refuse_forgotten(false);
    }
    for (const result& each : answers) check(*link_, each);
    for (std::size_t i = 0; i < all.size(); ++i)
      statement_at(i)->receive(answers[i + first].get(), *all[i].out);
    return true;
  }
#endif

  bool alive() noexcept override {
    // A server that ended the session has left a last message and an end of file in the socket.
    // Other input (a notice, a notification) comes before the end, so it is read first.
    constexpr int most_reads = 16;
    for (int reads = 0; reads < most_reads; ++reads) {
      if (PQstatus(link_->handle) != CONNECTION_OK) return false;
      pollfd socket{.fd = PQsocket(link_->handle), .events = POLLIN, .revents = 0};
      if (poll(&socket, 1, 0) <= 0) return true;
      if (PQconsumeInput(link_->handle) == 0) return false;
    }
    return PQstatus(link_->handle) == CONNECTION_OK;
  }

  core::transaction_status transaction() noexcept override {
    using enum core::transaction_status;
    if (callers_ && !attached()) return closed;
    switch (PQtransactionStatus(link_->handle)) {
      case PQTRANS_IDLE:
        return none;
      case PQTRANS_INERROR:
        return failed;
      case PQTRANS_UNKNOWN:
        return unknown;
      default:
        return open;
    }
  }

  const session_files* files() noexcept override {
    return nullptr;
  }

 private:
  /// The caller may have connected the session anew, to any database. Another connection may get
  /// the address of the old one, but not its server process.
  [[nodiscard]] bool attached() const noexcept {
    soci::session* const soci = callers_->soci;
    return (soci == nullptr ||
            (soci->get_backend_name() == "postgresql" && handle_of(*soci) == link_->handle)) &&
           PQbackendPID(link_->handle) == server_process_;
  }

  std::shared_ptr<libpq_link> link_;
  bool pooled_;
  std::optional<core::any_session> callers_;
  int server_process_;
  closed_in_child not_for_children_;
};

void connect(soci::session& session, const endpoint& address) {
  const fork_guard guard;
  try {
    session.open(soci::postgresql, address.connect);
  } catch (const soci::soci_error& failure) {
    const std::string words = failure.get_error_message();
    throw native_failure({.sqlstate = libpq::state_of_refusal(address.connect, words),
                          .link_lost = true,
                          .sentence = one_line(words)});
  }
}

void open_callers(soci::session& session, const endpoint& address) {
  connect(session, address);
  if (PQsetClientEncoding(handle_of(session), "UTF8") != 0) fail(handle_of(session), nullptr);
}

/// A search path as the address's `options` and the server write it, without blanks and quotes.
std::string bare(std::string_view path) {
  std::string out;
  std::copy_if(path.begin(), path.end(), std::back_inserter(out),
               [](char c) { return c != ' ' && c != '"' && c != '\\'; });
  return out;
}

/// The search path that the login asks for with `-c search_path=...`; empty: none.
std::string wanted_path(PGconn* link) {
  const libpq::options given(PQconninfo(link));
  const PQconninfoOption* const found = given ? libpq::find(given, "options") : nullptr;
  if (found == nullptr || found->val == nullptr) return {};
  constexpr std::string_view key = "search_path=";
  const std::string_view all = found->val;
  const std::size_t at = all.rfind(key);
  if (at == std::string_view::npos) return {};
  // A blank ends the value unless a backslash is before it.
  std::size_t end = at + key.size();
  while (end < all.size() && (all[end] != ' ' || all[end - 1] == '\\')) ++end;
  return bare(all.substr(at + key.size(), end - at - key.size()));
}

/// Some poolers accept a search path and drop it. Tables would be looked for, and made, elsewhere.
void check_search_path(PGconn* link) {
  const std::string wanted = wanted_path(link);
  if (wanted.empty()) return;
  const result answer(PQexec(link, "SHOW search_path"));
  if (!succeeded(answer)) fail(link, answer.get());
  if (PQntuples(answer.get()) == 1 && bare(PQgetvalue(answer.get(), 0, 0)) == wanted) return;
  throw native_failure::judged_as(
      {errc::unsupported, advice::never},
      "the pooler does not pass on the search_path in the address; leave it out and name the "
      "schema (schema_name, --schema), or set the path for the role or in the "
      "pooler");
}

std::unique_ptr<soci::session> open(const endpoint& address) {
  auto session = std::make_unique<soci::session>();
  connect(*session, address);
  PGconn* handle = handle_of(*session);
  PQsetNoticeReceiver(handle, ignore_notice, nullptr);
  if (address.pooled) {
    check_search_path(handle);
    if (address.pooler != nullptr) address.pooler->refuse_statement_mode(handle);
  } else if (address.pooler != nullptr) {
    address.pooler->refuse_transaction_mode(handle);
  }
  std::string setup;
  for (const std::string& statement : address.setup) setup += statement + ";";
  if (!setup.empty()) libpq_executor(handle, address).script(setup, boundary::none);
  return session;
}

/// Texts are sent as UTF-8. With another client encoding the server would store wrong characters.
void check_encoding(const PGconn* link) {
  if (PQstatus(link) != CONNECTION_OK) {
    throw native_failure::judged_as({errc::invalid_argument, advice::never},
                                    "the enlisted connection is lost; connect it again");
  }
  const std::string_view encoding = pg_encoding_to_char(PQclientEncoding(link));
  if (encoding == "UTF8" || encoding == "SQL_ASCII") return;
  throw native_failure::judged_as({errc::invalid_argument, advice::never},
                                  "the client encoding of the enlisted session is " +
                                      std::string(encoding) +
                                      "; SET client_encoding TO 'UTF8' before it is enlisted");
}

std::unique_ptr<transport> attach(const core::any_session& session, const endpoint& address,
                                  bool callers) {
  if (!callers) return std::make_unique<libpq_executor>(handle_of(session), address);
  check_encoding(handle_of(session));
  return std::make_unique<libpq_executor>(handle_of(session), address, &session);
}

session_place place(const core::any_session& session, const session_files* /*files*/) {
  const PGconn* const link = handle_of(session);
  std::string name;
  for (const char* const part : {PQhost(link), PQport(link), PQdb(link)}) {
    name.append(part == nullptr ? "" : part).append("\n");
  }
  return {.name = std::move(name)};
}

core::doubt doubt(const endpoint& address) noexcept {
  return address.pooler == nullptr ? core::doubt() : address.pooler->doubt();
}

void give_up(const core::any_session& session) noexcept {
  shutdown(PQsocket(handle_of(session)), SHUT_RDWR);
}

std::optional<native_error> answer_in(const std::exception& thrown,
                                      const core::any_session& session) {
  if (const PGconn* const link = handle_of(session); PQstatus(link) != CONNECTION_OK) {
    return native_error{.sentence = PQerrorMessage(link)};
  }
  const auto* const known = dynamic_cast<const soci::postgresql_soci_error*>(&thrown);
  if (known == nullptr) return std::nullopt;
  return native_error{.sqlstate = known->sqlstate()};
}

}  // namespace

const transport_kind libpq_transport {
  .name = "libpq", .backend = "postgresql", .markers = marker::numbered, .arrays = true,
  .open = open, .open_callers = open_callers, .attach = attach, .fits = nullptr, .place = place,
  .handle_of = [](soci::session& session) -> void* { return handle_of(session); },
  .listen = listen_through_libpq, .answer_in = answer_in, .doubt = doubt, .give_up = give_up,
#if defined(LIBPQ_HAS_PIPELINING)
  .pipelines = true,
#endif
  .scripts = true
};

}  // namespace tableq::inline v0::drivers
