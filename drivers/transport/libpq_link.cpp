#include "drivers/transport/libpq_link.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <random>
#include <utility>

#include "drivers/transport.hpp"
#include "drivers/transport/foreign_names.hpp"

namespace tableq::inline v0::drivers::libpq {
namespace {

/// Whether a trigger's own statement failed. Its names may be data. Errors that tell of locks,
/// limits and constraints have names of the schema only.
bool in_function(const PGresult* answer, std::string_view sqlstate) noexcept {
  constexpr std::array<std::string_view, 9> told{"08", "22", "23", "25", "40",
                                                 "53", "55", "57", "P0"};
  const std::string_view context = field_of(answer, PG_DIAG_CONTEXT);
  const auto mentions = [&](std::string_view what) {
    return context.find(what) != std::string_view::npos;
  };
  // Each language's name begins so, and no server translates it. A DO block of tableq's own changes
  // tables, never rows.
  return (mentions("PL/") || mentions("SQL function")) && !mentions("inline_code_block") &&
         std::none_of(told.begin(), told.end(),
                      [&](std::string_view one) { return sqlstate.starts_with(one); });
}

constexpr std::string_view forgets =
    "the server forgot a prepared statement of the session; behind a pooler in transaction mode, "
    "such as pgbouncer, add pooling=transaction to the address";

}  // namespace

std::string_view field_of(const PGresult* answer, int code) noexcept {
  const char* found = answer == nullptr ? nullptr : PQresultErrorField(answer, code);
  return found == nullptr ? std::string_view() : std::string_view(found);
}

void fail(const PGconn* link, const PGresult* answer) {
  native_error what;
  what.sqlstate = field_of(answer, PG_DIAG_SQLSTATE);
  // Without a state the failure is the client library's own, such as a lack of memory for the
  // answer: what the server did is not known.
  what.link_lost = PQstatus(link) != CONNECTION_OK || what.sqlstate.empty();
  // Messages about data quote the value, and functions on the table may quote a row.
  const bool may_quote = what.sqlstate.starts_with("22") ||
                         field_of(answer, PG_DIAG_SOURCE_FUNCTION) == "exec_stmt_raise";
  if (!may_quote) what.sentence = field_of(answer, PG_DIAG_MESSAGE_PRIMARY);
  if (in_function(answer, what.sqlstate)) {
    what.sentence = trigger_failed;
    throw native_failure::judged_as({errc::constraint_violated, advice::never}, std::move(what));
  }
  if (!may_quote && what.sentence.empty()) {
    const std::string_view client = PQerrorMessage(link);
    what.sentence = client.substr(0, client.find('\n'));
  }
  throw native_failure(std::move(what));
}

bool succeeded(const result& answer) noexcept {
  switch (PQresultStatus(answer.get())) {
    case PGRES_COMMAND_OK:
    case PGRES_TUPLES_OK:
    case PGRES_EMPTY_QUERY:
      return true;
    default:
      return false;
  }
}

bool must_prepare_again(const result& answer) noexcept {
  const std::string_view state = field_of(answer.get(), PG_DIAG_SQLSTATE);
  if (in_function(answer.get(), state)) return false;
  return state == "26000" || (state == "0A000" && field_of(answer.get(), PG_DIAG_SOURCE_FUNCTION) ==
                                                      "RevalidateCachedQuery");
}

void refuse_forgotten(bool hopeless) {
  throw native_failure(
      {.sqlstate = hopeless ? "0A000" : "26000", .sentence = std::string(forgets)});
}

std::string random_mark() {
  std::random_device random;
  std::array<char, 16> text{};
  const std::uint64_t bits = (std::uint64_t{random()} << 32U) | random();
  const auto end = std::to_chars(text.data(), text.data() + text.size(), bits, 36);
  return {text.data(), end.ptr};
}

void refuse_beside_a_statement(const libpq_link& link) {
  if (!link.callers) return;
  const char* what = nullptr;
  if (PQtransactionStatus(link.handle) == PQTRANS_ACTIVE) {
    what =
        "a statement or COPY of the application is under way on the enlisted connection; read "
        "all of its results first";
  }
#if defined(LIBPQ_HAS_PIPELINING)
  if (PQpipelineStatus(link.handle) != PQ_PIPELINE_OFF) {
    what = "the enlisted connection is in pipeline mode; leave it first";
  }
#endif
  if (what == nullptr) return;
  throw native_failure::judged_as({errc::invalid_argument, advice::never}, std::string(what));
}

void ignore_notice(void* /*none*/, const PGresult* /*notice*/) {}

void receive_notice(void* link, const PGresult* notice) {
  if (field_of(notice, PG_DIAG_SOURCE_FUNCTION) == "SyncRepWaitForLSN") {
    static_cast<libpq_link*>(link)->unconfirmed = true;
  }
}

void check(libpq_link& link, const result& answer) {
  const bool unconfirmed = std::exchange(link.unconfirmed, false);
  if (!succeeded(answer)) fail(link.handle, answer.get());
  if (!unconfirmed) return;
  throw native_failure(
      {.sqlstate = "40003",
       .sentence = "the server committed, and no longer waits until a synchronous standby has it"});
}

void end_unused(libpq_link& link) {
  if (link.unused.empty() || PQtransactionStatus(link.handle) != PQTRANS_IDLE) return;
  const std::vector<std::string> names = std::exchange(link.unused, {});
  const auto end = [&link](const std::string& statements) {
    const result answer(PQexec(link.handle, statements.c_str()));
    if (PQstatus(link.handle) != CONNECTION_OK) fail(link.handle, answer.get());
    return succeeded(answer);
  };
  std::string all;
  for (const std::string& name : names) all.append("DEALLOCATE ").append(name).append(";");
  if (end(all)) return;
  // The server has forgotten some of them.
  for (const std::string& name : names) end("DEALLOCATE " + name);
}

}  // namespace tableq::inline v0::drivers::libpq
