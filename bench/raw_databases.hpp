#pragma once

#include <filesystem>
#include <memory>
#include <string>

#include "raw.hpp"

namespace bench {

/// @param synchronous `full` or `normal`.
std::unique_ptr<raw_database> raw_sqlite(const std::filesystem::path& directory,
                                         const std::string& synchronous);

/// @param address libpq's, in its URI form. @param synchronous `on` or `off`.
std::unique_ptr<raw_database> raw_postgresql(const std::string& address,
                                             const std::string& synchronous);

/// The same server, raw side and tableq both through ODBC.
std::unique_ptr<raw_database> raw_odbc(const std::string& address, const std::string& synchronous);

}  // namespace bench
