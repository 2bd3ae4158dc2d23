#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>

#include "drivers/dialects.hpp"
#include "drivers/key_refusal.hpp"

namespace tableq::inline v0::drivers {
namespace {

struct rule {
  std::array<int, 18> numbers;  ///< The rest are 0, which matches nothing.
  verdict means;
};

struct state_rule {
  std::string_view state;  ///< All five characters of an SQLSTATE, or the first ones.
  verdict means;
};

constexpr std::string_view link_broke =
    "the connection to the server broke, or the server ended it";
constexpr std::string_view unreachable =
    "the server is not to be reached; check host, port, firewall, encryption and way of login";
constexpr std::string_view timed_out =
    "the time for the statement ran out; outside a transaction it is not known whether it took "
    "effect";
constexpr verdict link_lost{errc::connection_lost, advice::session, link_broke};
constexpr verdict unknown{errc::internal, advice::never,
                          "an error that tableq does not know; its number tells which"};

// Rules use the server's number, because drivers report different SQLSTATEs. Every sentence is
// written here, because the server's sentence may quote values. With XACT_ABORT every error ends
// the transaction, so no advice is `statement`.
constexpr rule rules[] = {
    {{1205, 52004},
     {errc::conflict, advice::transaction,
      "a deadlock: the server chose this transaction to end; repeat it"}},
    {{3960, 3957, 3958, 3959, 3961, 3966, 3971, 601},
     {errc::conflict, advice::transaction,
      "rows changed while they were read; repeat the transaction"}},
    {{628, 3902, 3903, 3930, 3998, 6401},
     {errc::conflict, advice::transaction,
      "an earlier error had ended the transaction; repeat all of it"}},
    {{1222, 52001, 52002},
     {errc::busy, advice::transaction,
      "no lock of a row, a group, a strict queue or the catalogue in time; look for "
      "transactions that stay open"}},
    {{1203, 1204, 701, 802, 845, 8645, 8628, 8651},
     {errc::busy, advice::transaction,
      "the server has no memory left for it just now; repeat the transaction later"}},
    {{52003},
     {errc::not_found, advice::never,
      "the queue was dropped, and this handle ended with it; if it exists again, open it"}},
    {{40613, 40501, 49918, 49919, 49920, 10928, 10929, 10936, 4221, 615},
     {errc::busy, advice::session,
      "the database accepts no requests now: it fails over, or is at its limits"}},
    {{921, 922, 924, 926, 927, 942, 952, 976, 978, 983, 17187, 18401, 18451, 35250},
     {errc::busy, advice::session,
      "the database or its server comes up, fails over, or is closed for maintenance"}},
    {{40197, 40020, 40143, 40166, 40540},
     {errc::connection_lost, advice::session,
      "the service failed over during the work; its outcome is unknown"}},
    {{40549, 40550, 40551, 40552, 40553},
     {errc::connection_lost, advice::session,
      "the service ended the session: its transaction lasted too long, or took too much"}},
    {{20003}, {errc::cancelled, advice::session, timed_out}},
    {{20009}, {errc::connection_lost, advice::session, unreachable}},
    {{20004, 20006, 20017, 20047, 10053, 10054, 10060, 233, 121, 64, 596, 4014, 6005, 6006},
     {errc::connection_lost, advice::session, link_broke}},
    {{18456},
     {errc::connection_failed, advice::never,
      "the login failed; check user and password, and that the user may open the database"}},
    {{18452, 18470, 18486, 18487, 18488, 40615, 47073, 17142, 18461, 4064},
     {errc::connection_failed, advice::never,
      "the server refuses the login: disabled, locked, its domain, its address, its database"}},
    {{911, 945, 4060},
     {errc::connection_failed, advice::session,
      "the login found no database: it does not exist, starts, or the user may not open it"}},
    {{2627, 2601},
     {errc::constraint_violated, advice::never,
      "the row is there already: a unique index of the table refused it"}},
    {{547, 515, 8134},
     {errc::constraint_violated, advice::never,
      "a CHECK, a FOREIGN KEY or a column without a default refused the row"}},
    {{208, 1088, 4902, 2760},
     {errc::not_found, advice::never,
      "the table or the schema does not exist, or the user may not use it"}},
    {{229, 230, 262, 297, 300, 916, 3701, 15151},
     {errc::permission_denied, advice::never,
      "the user lacks a right on the table, the schema or the database"}},
    {{207, 220, 241, 242, 245, 248, 308, 517, 535, 2628, 8114, 8115, 8152, 8622, 13608, 13609},
     {errc::schema_mismatch, advice::never,
      "a column or an index is missing or changed, or a value does not fit; `tableq doctor` tells "
      "which"}},
    {{334},
     {errc::schema_mismatch, advice::never,
      "the table has a trigger, and the server refuses OUTPUT beside it; drop the trigger"}},
    {{2714, 1913},
     {errc::schema_mismatch, advice::never,
      "a table or index of that name is there already; choose another or a table_prefix"}},
    {{650, 3952},
     {errc::unsupported, advice::never,
      "begin the transaction with isolation READ COMMITTED or REPEATABLE READ"}},
    {{1934},
     {errc::unsupported, advice::never,
      "the session lacks SET options that the queue's indexes need; see docs/sqlserver.md"}},
    {{52016, 52130},
     {errc::unsupported, advice::never,
      "tableq needs SQL Server 2016 or later, with compatibility level 130 or higher"}},
    {{3906, 3908}, {errc::read_only, advice::never, "the database accepts no writes here"}},
    {{1101, 1105, 9002, 40544},
     {errc::storage_full, advice::never, "the database or its log is full"}},
    {{823, 824, 825, 9001},
     {errc::storage_failed, advice::never,
      "the disk failed a read or a write of the database or its log; the server's log tells "
      "more"}},
};

constexpr std::array state_rules{
    state_rule{"HYT0", {errc::cancelled, advice::session, timed_out}},
    state_rule{
        "HY001",
        {errc::connection_lost, advice::session, "the ODBC driver has no memory left for it"}},
    state_rule{"08001", {errc::connection_lost, advice::session, unreachable}},
    state_rule{"08", link_lost},
    state_rule{"28000", {errc::connection_failed, advice::never, "the server refused the login"}},
};

constexpr verdict no_more_ids{errc::storage_full, advice::never,
                              "the table's IDENTITY has no more values; see DBCC CHECKIDENT"};
constexpr verdict key_was_added{errc::conflict, advice::transaction,
                                "another transaction just added the key; repeat"};

}  // namespace

verdict classify_sqlserver(const native_error& failure) {
  if (failure.number == 2601 && names_index_of_keys(failure.sentence)) return key_was_added;
  if (failure.number == 2627 && names_id(failure)) return id_is_taken;
  if (failure.number == 8115 && failure.sentence.find("IDENTITY") != std::string::npos) {
    return no_more_ids;
  }
  const auto* const known = std::find_if(std::begin(rules), std::end(rules), [&](const rule& one) {
    return failure.number != 0 &&
           std::find(one.numbers.begin(), one.numbers.end(), failure.number) != one.numbers.end();
  });
  if (known != std::end(rules)) {
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
  // The driver's own sentence quotes no values, and may be the only information.
  const bool from_driver = failure.number == 0 && !failure.sqlstate.starts_with("HYT0");
  if (from_driver && failure.sqlstate != "HY000") means.sentence = {};
  return means;
}

}  // namespace tableq::inline v0::drivers
