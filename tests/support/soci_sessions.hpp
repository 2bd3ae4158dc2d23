#pragma once

/// @file
/// Sessions as an application that speaks SOCI opens them. Apart from the native clients: SOCI's
/// headers draw the client libraries' into namespaces of their own.

#include <memory>
#include <string>

#include <soci/soci.h>

namespace tableq_test {

std::unique_ptr<soci::session> soci_sqlite_session(const std::string& path);
std::unique_ptr<soci::session> soci_postgresql_session(const std::string& connect);
std::unique_ptr<soci::session> soci_odbc_session(const std::string& connect);

}  // namespace tableq_test
