#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "drivers/dialects.hpp"
#include "drivers/key_refusal.hpp"

namespace tableq::inline v0::drivers {
namespace {

struct rule {
  std::string_view state;  ///< All five characters of an SQLSTATE, or the two of its class.
  verdict means;
};

// From PostgreSQL's errcodes.txt. After an error only the whole transaction can be repeated, so no
// advice is `statement`. A rule for a state stands before the rule for its class.
constexpr std::array rules{
    rule{"08P01", {errc::internal, advice::never}},
    rule{"08", {errc::connection_lost, advice::session}},
    rule{"09", {errc::constraint_violated, advice::never}},
    rule{"0A", {errc::unsupported, advice::never}},
    rule{
        "22P05",
        {errc::invalid_argument, advice::never,
         "the database's encoding has not all characters of a text, such as a key or a group; keep "
         "queues in a database with ENCODING 'UTF8'"}},
    // The server's sentence quotes the value.
    rule{"22", {errc::invalid_argument, advice::never, "the server refused a value"}},
    rule{"23", {errc::constraint_violated, advice::never}},
    rule{"25006", {errc::read_only, advice::never}},
    // The transaction had failed before, by a statement whose error was kept back: to repeat it
    // would fail again.
    rule{"25P02",
         {errc::invalid_argument, advice::never,
          "a statement failed before in this transaction, and its error was caught; the database "
          "rolls all back: let the error leave the function, or roll back to a savepoint"}},
    // The session's prepared statements are gone; the next transaction prepares them again.
    rule{"26000", {errc::conflict, advice::transaction}},
    rule{"27", {errc::constraint_violated, advice::never}},
    rule{"28", {errc::connection_failed, advice::never}},
    rule{"3D", {errc::connection_failed, advice::never}},
    rule{"3F000", {errc::not_found, advice::never}},
    rule{"40003", {errc::outcome_unknown, advice::never}},
    rule{"40", {errc::conflict, advice::transaction}},
    rule{"42501", {errc::permission_denied, advice::never}},
    rule{"42P01", {errc::not_found, advice::never}},
    // A relation of that name exists.
    rule{"42P07", {errc::schema_mismatch, advice::never}},
    rule{"42710", {errc::schema_mismatch, advice::never}},
    // A column, an index or a type differs from what tableq created.
    rule{"42703", {errc::schema_mismatch, advice::never}},
    rule{"42804", {errc::schema_mismatch, advice::never}},
    rule{"42809", {errc::schema_mismatch, advice::never}},
    rule{"42883", {errc::schema_mismatch, advice::never}},
    rule{"428C9", {errc::schema_mismatch, advice::never}},
    rule{"42P10", {errc::schema_mismatch, advice::never}},
    rule{"44", {errc::constraint_violated, advice::never}},
    rule{"53100", {errc::storage_full, advice::never}},
    rule{"53300", {errc::busy, advice::session}},
    rule{"53400", {errc::storage_full, advice::never}},
    rule{"53", {errc::busy, advice::transaction}},
    rule{"54000", {errc::too_large, advice::never}},
    rule{"55006", {errc::busy, advice::transaction}},
    rule{"55P03", {errc::busy, advice::transaction}},
    rule{"57014", {errc::cancelled, advice::transaction}},
    // Shutting down, crashed, starting up, database dropped, idle for too long.
    rule{"57P", {errc::connection_lost, advice::session}},
    rule{"58030", {errc::storage_failed, advice::never}},
    rule{"58P01", {errc::not_a_database, advice::never}},
    rule{"72000", {errc::conflict, advice::transaction}},
    // An ODBC driver has no memory for the answer.
    rule{"HY001", {errc::connection_lost, advice::session}},
    // An error that a trigger raised; its message may quote the row.
    rule{"P0",
         {errc::constraint_violated, advice::never,
          "a trigger or function of the database refused it; the server's log has its words"}},
    rule{"XX001", {errc::not_a_database, advice::never}},
    rule{"XX002", {errc::not_a_database, advice::never}},
};

// The transaction was idle (25P03) or open (25P04) for longer than the server allows, which then
// ended the session. Another session would meet the same.
struct limit_rule {
  std::string_view state;
  std::string_view words;  ///< Of psqlODBC, which often gives the dead session a state of its own.
  verdict means;
};
constexpr std::array limits_of_transactions{
    limit_rule{
        "25P03",
        "due to idle-in-transaction timeout",
        {errc::cancelled, advice::session,
         "the transaction rested for longer than idle_in_transaction_session_timeout allows, and "
         "the server ended its session",
         true}},
    limit_rule{
        "25P04",
        "due to transaction timeout",
        {errc::cancelled, advice::session,
         "the transaction was open for longer than transaction_timeout allows, and the server "
         "ended its session",
         true}},
};

/// PostgreSQL's shortest limit of a value is that of an entry of an index, 2,704 bytes. If all
/// values are shorter than this, "a limit is exceeded" means that the numbers of transactions are
/// used up: the server refuses all writes.
constexpr std::size_t never_too_large = 2'000;

}  // namespace

verdict classify_postgresql(const native_error& failure) {
  for (const limit_rule& one : limits_of_transactions) {
    const bool told = failure.link_lost && failure.sentence.find(one.words) != std::string::npos;
    if (told || failure.sqlstate == one.state) return one.means;
  }
  if (failure.link_lost) return {errc::connection_lost, advice::session};
  if (failure.sqlstate == "23505" && names_id(failure)) return id_is_taken;
  if (failure.sqlstate == "54000" && failure.sent < never_too_large) {
    return {
        errc::storage_full, advice::never,
        "a limit of the server is reached, as when the numbers of transactions are used up: ask "
        "`tableq doctor`"};
  }
  const auto* const found = std::find_if(rules.begin(), rules.end(), [&](const rule& one) {
    return std::string_view(failure.sqlstate).starts_with(one.state);
  });
  return found == rules.end() ? verdict{errc::internal, advice::never} : found->means;
}

}  // namespace tableq::inline v0::drivers
