#include "drivers/transport/pooler_check.hpp"

#include <poll.h>

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "drivers/transport.hpp"
#include "drivers/transport/forks.hpp"
#include "drivers/transport/libpq_address.hpp"
#include "drivers/transport/libpq_link.hpp"
#include "drivers/transport/libpq_login.hpp"

namespace tableq::inline v0::drivers {
namespace {

using clock = std::chrono::steady_clock;

/// Another kind of pooler may send a query to any of several servers, unless it begins so.
std::string unbalanced(std::string_view text) {
  return "/*NO LOAD BALANCE*/ " + std::string(text);
}

using libpq::result;

/// The only field of an answer; empty: it failed.
std::string field_of(const result& answer) {
  if (PQresultStatus(answer.get()) != PGRES_TUPLES_OK || PQntuples(answer.get()) != 1) return {};
  return PQgetvalue(answer.get(), 0, 0);
}

std::string asked(PGconn* session, const std::string& text) {
  return field_of(result(PQexec(session, text.c_str())));
}

/// Whether the session's server has a statement under the name that it was prepared with.
bool keeps_statement(PGconn* session, const pooler_texts& texts, const std::string& process) {
  const std::string name = "tableq_probe_" + process;
  const result made(PQprepare(session, name.c_str(), texts.probe.c_str(), 0, nullptr));
  if (PQresultStatus(made.get()) != PGRES_COMMAND_OK) return true;  // the set-up tells the failure
  const char* const given = name.c_str();
  const result found(
      PQexecParams(session, texts.kept.c_str(), 1, nullptr, &given, nullptr, nullptr, 0));
  if (field_of(found) != "1") return false;
  const result gone(PQexec(session, ("DEALLOCATE " + name).c_str()));
  return true;
}

/// A second client, which waits no longer than `until`.
class second_client {
 public:
  second_client(PGconn* first, clock::time_point until) : until_(until) {
    const libpq::options all(PQconninfo(first));
    std::vector<const char*> keys;
    std::vector<const char*> values;
    for (const PQconninfoOption* one = all.get(); one != nullptr && one->keyword != nullptr;
         ++one) {
      const std::string_view key = one->keyword;
      if (one->val == nullptr || key == "host" || key == "hostaddr" || key == "port") continue;
      keys.push_back(one->keyword);
      values.push_back(one->val);
    }
    for (const auto& [key, value] : {std::pair("host", PQhost(first)), {"port", PQport(first)}}) {
      keys.push_back(key);
      values.push_back(value);
    }
    keys.push_back(nullptr);
    values.push_back(nullptr);
    session_.reset(PQconnectStartParams(keys.data(), values.data(), 0));
    if (!libpq::connected_by(until_, session_.get())) {
      session_.reset();
      return;
    }
    PQsetNoticeReceiver(session_.get(), libpq::ignore_notice, nullptr);
  }

  /// Empty: no answer in time.
  [[nodiscard]] std::string asked(const std::string& text) {
    if (!session_ || PQsendQuery(session_.get(), text.c_str()) == 0) return {};
    std::string out;
    for (;;) {
      while (PQisBusy(session_.get()) != 0) {
        if (!libpq::ready_by(until_, session_.get(), POLLIN) ||
            PQconsumeInput(session_.get()) == 0) {
          session_.reset();
          return {};
        }
      }
      const result answer(PQgetResult(session_.get()));
      if (!answer) return out;
      out = field_of(answer);
    }
  }

 private:
  clock::time_point until_;
  libpq::owned_session session_;
};

enum class sharing { no, yes, unknown };

/// Whether a second client meets the session's process, or one of them changes.
sharing shares_process(PGconn* session, const std::string& text, const std::string& process) {
  constexpr std::chrono::seconds longest{1};
  second_client other(session, clock::now() + longest);
  std::string before;
  for (int i = 0; i < 2; ++i) {
    const std::string theirs = other.asked(text);
    if (theirs.empty()) return sharing::unknown;
    if (theirs == process || (!before.empty() && theirs != before)) return sharing::yes;
    before = theirs;
    // Twice by each in turn: some poolers hand out their sessions in a circle.
    if (i == 1 && asked(session, text) != process) return sharing::yes;
  }
  return asked(session, text) != process ? sharing::yes : sharing::no;
}

/// Whether it is a pooler in statement mode. Any other failure comes again in the set-up.
bool refuses_transactions(PGconn* session, const std::string& begin) {
  const result begun(PQexec(session, begin.c_str()));
  if (PQresultStatus(begun.get()) == PGRES_COMMAND_OK) {
    const result ended(PQexec(session, "ROLLBACK"));
    return false;
  }
  // The pooler closes the connection after this answer.
  return std::string_view(PQerrorMessage(session)).find("statement pooling") !=
         std::string_view::npos;
}

[[noreturn]] void refuse_statements() {
  throw native_failure::judged_as(
      {errc::unsupported, advice::never},
      "the address leads to a pooler in statement mode, such as pgbouncer with "
      "pool_mode=statement, which refuses transactions; give the pooler's database "
      "pool_mode=session, or pool_mode=transaction and pooling=transaction in the address");
}

}  // namespace

pooler_check::pooler_check(const pooler_texts& texts)
    : texts_{.begin = texts.begin,
             .process = unbalanced(texts.process),
             .probe = unbalanced(texts.probe),
             .kept = unbalanced(texts.kept)} {}

core::doubt pooler_check::doubt() const noexcept {
  if (!undecided_) return {};
  return {.what =
              "behind the pooler each transaction may run in another session: a second "
              "connection got none in time to find out",
          .remedy =
              "if the pooler is in transaction mode, add pooling=transaction to the "
              "address, else pooling=session"};
}

void pooler_check::refuse_statement_mode(PGconn* session) {
  if (passed_) return;
  if (refuses_transactions(session, texts_.begin)) refuse_statements();
  passed_ = true;
}

void pooler_check::refuse_transaction_mode(PGconn* session) {
  if (passed_) return;
  const std::string process = asked(session, texts_.process);
  const bool direct = process.empty() || process == std::to_string(PQbackendPID(session));
  const fork_guard guard;
  const bool keeps = direct || (asked(session, texts_.process) == process &&
                                keeps_statement(session, texts_, process));
  const sharing found = direct  ? sharing::no
                        : keeps ? shares_process(session, texts_.process, process)
                                : sharing::yes;
  if (found != sharing::yes) {
    undecided_ = found == sharing::unknown;
    passed_ = true;
    return;
  }
  if (refuses_transactions(session, texts_.begin)) refuse_statements();
  throw native_failure::judged_as(
      {errc::unsupported, advice::never},
      "the address leads to a pooler in transaction mode, such as pgbouncer, which would give this "
      "session's settings to other clients; add pooling=transaction to the address");
}

}  // namespace tableq::inline v0::drivers
