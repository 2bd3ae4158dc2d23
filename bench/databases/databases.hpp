#pragma once

#include <memory>
#include <string>
#include <vector>

#include "raw.hpp"

namespace bench {

/// A measured database, as data. Only this folder names databases.
struct database_kind {
  std::string name;                      ///< In the command line and the results.
  std::string description;               ///< Explains the name, if necessary.
  std::string address;                   ///< The form of --db; empty: files in --directory.
  std::vector<std::string> modes;        ///< Of commits, the durable one first.
  std::vector<std::string> usual_modes;  ///< Measured by default.
  bool one_writer;                       ///< One transaction writes at a time, in all processes.
  bool native;  ///< Through its own client library. Else only one thread's rates are measured.
  /// @param place the server's address, or the directory for files.
  std::unique_ptr<raw_database> (*open)(const std::string& place, const std::string& mode);
};

/// All of them.
const std::vector<database_kind>& databases();

/// @throws std::runtime_error for another name.
const database_kind& database_called(const std::string& name);

// The places of the kinds.
std::unique_ptr<raw_database> raw_sqlite(const std::string& directory, const std::string& mode);
/// @param address libpq's, in its URI form.
std::unique_ptr<raw_database> raw_postgresql(const std::string& address, const std::string& mode);
/// The same server, raw side and tableq both through ODBC.
std::unique_ptr<raw_database> raw_odbc(const std::string& address, const std::string& mode);

}  // namespace bench
