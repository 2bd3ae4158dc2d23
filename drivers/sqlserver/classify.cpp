#include <algorithm>
#include <array>
#include <string_view>

#include "drivers/dialects.hpp"

namespace tableq::inline v0::drivers {
namespace {

struct rule {
  std::array<int, 12> numbers;  ///< The rest are 0, which no rule is for.
  verdict means;
};

constexpr rule on(const std::array<int, 12>& numbers, errc code, advice safe,
                  std::string_view sentence) {
  return {numbers, {code, safe, sentence}};
}

struct state_rule {
  std::string_view state;  ///< All five characters of an SQLSTATE, or how it begins.
  verdict means;
};

constexpr std::string_view link_broke = "the connection to the server broke";
constexpr std::string_view unreachable =
    "the server is not to be reached; check the host, the port, the firewall and encryption";
constexpr std::string_view timed_out =
    "the time for the statement ran out; it is not known whether it took effect";
constexpr verdict link_lost{errc::connection_lost, advice::session, link_broke};
constexpr verdict unknown{
    errc::internal, advice::never,
    "the server reported an error that tableq does not know; its number tells which"};

// By the server's number: one driver's SQLSTATE is another's warning. Every sentence is tableq's
// own, because the server's may quote values. With XACT_ABORT every error ends the transaction, so
// no advice is `statement`.
constexpr std::array rules{
    on({1205}, errc::conflict, advice::transaction,
       "a deadlock: the server undid this transaction so that another could go on; repeat it"),
    on({3960, 601}, errc::conflict, advice::transaction,
       "rows changed while they were read; repeat the transaction"),
    on({3902, 3903, 3930, 3998}, errc::conflict, advice::transaction,
       "an earlier error had ended the transaction; repeat all of it"),
    on({1222}, errc::busy, advice::transaction,
       "no lock in time; look for transactions that stay open"),
    on({1203, 1204, 701, 8645}, errc::busy, advice::transaction,
       "the server has no memory left for it just now; repeat the transaction later"),
    on({52001}, errc::busy, advice::transaction,
       "the catalogue is locked: another transaction creates or drops a queue"),
    on({52002}, errc::busy, advice::transaction,
       "a group of messages is locked; look for transactions that stay open"),
    on({52003}, errc::not_found, advice::never,
       "the queue was dropped, and this handle ended with it; if there is one again, open it"),
    on({40613, 40501, 49918, 49919, 49920, 10928, 10929, 4221, 615, 926, 976, 978}, errc::busy,
       advice::session, "the database accepts no requests now: it fails over, or is at its limits"),
    on({40197, 40020, 40143, 40166, 40540}, errc::connection_lost, advice::session,
       "the service failed over during the work; its outcome is unknown"),
    on({20003}, errc::connection_lost, advice::session, timed_out),
    on({20009}, errc::connection_lost, advice::session, unreachable),
    on({20004, 20006, 20017, 20047, 10053, 10054, 10060, 233, 121, 64}, errc::connection_lost,
       advice::session, link_broke),
    on({596, 6005, 6006}, errc::connection_lost, advice::session,
       "the server shuts down, or ended the session"),
    // Comes with the record that has the reason.
    on({20002}, errc::internal, advice::never, "the server did not accept the connection"),
    on({18456, 4060}, errc::connection_failed, advice::never,
       "the login failed; check user and password, and that the user may open the database"),
    on({18452}, errc::connection_failed, advice::never,
       "the server does not trust the login's domain; check Windows authentication"),
    on({18470, 18486}, errc::connection_failed, advice::never, "the login is disabled or locked"),
    on({18487, 18488}, errc::connection_failed, advice::never,
       "the login's password must be changed first"),
    on({911, 945}, errc::connection_failed, advice::never,
       "the database does not exist, or the server cannot open its files"),
    on({2627, 2601}, errc::constraint_violated, advice::never,
       "the row is there already: a unique index of the table refused it"),
    on({547}, errc::constraint_violated, advice::never,
       "a CHECK or FOREIGN KEY of the table refused the row"),
    on({515}, errc::constraint_violated, advice::never,
       "a foreign column needs a value; give it a default"),
    on({208, 1088, 4902}, errc::not_found, advice::never,
       "the table does not exist, or the user may not see it; check the schema"),
    on({2760}, errc::not_found, advice::never,
       "the schema does not exist, or the user may not create tables in it"),
    on({229, 230, 262, 3701, 15151}, errc::permission_denied, advice::never,
       "the user lacks a right on the table, the schema or the database"),
    on({207, 245, 8114, 8115}, errc::schema_mismatch, advice::never,
       "a column is missing or of another type; `tableq doctor` tells which"),
    on({8152, 2628}, errc::schema_mismatch, advice::never,
       "a column is too short for its value; `tableq doctor` tells which"),
    on({308, 8622}, errc::schema_mismatch, advice::never,
       "an index of the queue is missing or changed; `tableq doctor` tells which"),
    on({334}, errc::schema_mismatch, advice::never,
       "the table has a trigger, and the server refuses OUTPUT beside it; drop the trigger"),
    on({2714, 1913}, errc::schema_mismatch, advice::never,
       "a table or index of that name is there already; choose another or a table_prefix"),
    on({650}, errc::unsupported, advice::never,
       "begin the transaction with isolation READ COMMITTED or REPEATABLE READ"),
    on({1934}, errc::unsupported, advice::never,
       "the session lacks SET options that the queue's indexes need; docs/sqlserver.md has them"),
    on({52016}, errc::unsupported, advice::never, "tableq needs SQL Server 2016 or later"),
    on({52130}, errc::unsupported, advice::never,
       "tableq needs a database with compatibility level 130 or higher"),
    on({3906}, errc::read_only, advice::never, "the database accepts no writes here"),
    on({1101, 1105, 9002, 40544}, errc::storage_full, advice::never,
       "the database or its log is full"),
};

constexpr std::array state_rules{
    state_rule{"HYT0", {errc::connection_lost, advice::session, timed_out}},
    state_rule{"08001", {errc::connection_lost, advice::session, unreachable}},
    state_rule{"08", link_lost},
    state_rule{"28000", {errc::connection_failed, advice::never, "the server refused the login"}},
};

}  // namespace

verdict classify_sqlserver(const native_error& failure) {
  const auto* const known = std::find_if(rules.begin(), rules.end(), [&](const rule& one) {
    return failure.number != 0 &&
           std::find(one.numbers.begin(), one.numbers.end(), failure.number) != one.numbers.end();
  });
  if (known != rules.end()) {
    const errc code = known->means.code;
    const bool says_why = code == errc::connection_failed || known->means.advice == advice::session;
    if (failure.link_lost && !says_why) return link_lost;
    return known->means;
  }
  const auto* const state =
      std::find_if(state_rules.begin(), state_rules.end(), [&](const state_rule& one) {
        return std::string_view(failure.sqlstate).starts_with(one.state);
      });
  verdict means = failure.link_lost ? link_lost : unknown;
  if (state != state_rules.end()) means = state->means;
  // The driver's own sentence quotes nothing, and may be the only one.
  const bool of_the_driver = failure.number == 0 && !failure.sqlstate.starts_with("HYT0");
  if (of_the_driver && failure.sqlstate != "HY000") means.sentence = {};
  return means;
}

}  // namespace tableq::inline v0::drivers
