#include <array>
#include <utility>

#include "first/report.hpp"
#include "support/text.hpp"

namespace tableq_test::first {
namespace {

/// A part of a message, and what to do. The first that fits counts.
constexpr std::array<std::pair<std::string_view, std::string_view>, 29> known = {{
    {"this address cannot be read",
     "write sqlserver://user:password@host:1433/database, with %XX for / ? # @ : and % in names "
     "and "
     "the password"},
    {" 20013", "the host's name is unknown: check it in the address, and the names' server"},
    {" 18456", "check user, password and authentication in the address"},
    {" 4060", "check the database's name, and that the login has a user there"},
    {" 8622",
     "the optimizer matched no plan to the text's hints: send the file; the statement cannot work "
     "here"},
    {" 8180",
     "the statement could not be prepared: the other numbers beside it say why; send the file"},
    {" 1205", "a deadlock that was not repeated: send the file"},
    {" 1222",
     "a lock was held for too long: look for other sessions on the same database, and run again"},
    {" 1934",
     "a SET option is wrong in the session: look for a pooler or a login trigger; send the file"},
    {" 650",
     "READPAST is refused at this isolation level: look for a pooler that changes it; send the "
     "file"},
    {" 229", "the user lacks a right: grant it as docs/security.md says, or run as db_owner"},
    {" 262", "the user lacks a right: grant it as docs/security.md says, or run as db_owner"},
    {" 2760", "the user may not create the schema: grant CREATE SCHEMA and ALTER on it"},
    {" 2627", "a key was added twice where a lock excludes that: send the file"},
    {" 2601", "a key was added twice where a lock excludes that: send the file"},
    {" 102 ", "the server does not know the syntax: send the file with the version above"},
    {" 156 ", "the server does not know the syntax: send the file with the version above"},
    {" 207 ", "a name does not resolve: send the file"},
    {" 208 ",
     "a table is missing, perhaps because an earlier step failed: begin with the first finding"},
    {" 6522", "send the file"},
    {"HY104",
     "the driver refuses a size that tableq binds: send the file with the driver's version above"},
    {"HYT00", "the server did not answer in time: check host, port and firewall, then its load"},
    {"08001", "the server cannot be reached: check host, port, firewall and encryption"},
    {"08S01", "the connection broke: check the network and the server's log, and run again"},
    {"IM002",
     "the driver is not installed: apt install tdsodbc, or Microsoft's msodbcsql18; see driver= in "
     "docs/sqlserver.md"},
    {"01000", "the driver's library cannot be loaded: install it again"},
    {"not found", "an earlier step failed: begin with the first finding"},
    {"scan", "a plan reads more than it needs, and grows with the table: send the file"},
    {"of all that", "a plan gathers all rows, and grows with the table: send the file"},
}};

}  // namespace

std::string advice_for(std::string_view message) {
  for (const auto& [part, advice] : known) {
    if (contains(message, part)) return std::string(advice);
  }
  return "send the file";
}

}  // namespace tableq_test::first
