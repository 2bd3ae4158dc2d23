#pragma once

/// @file
/// Sessions of an application that uses SOCI. Separate from the native clients, because SOCI's
/// headers put those of the client libraries into their own namespaces.

#include <memory>
#include <string>

#include <soci/soci.h>

namespace tableq_test {

std::unique_ptr<soci::session> soci_sqlite_session(const std::string& path);
std::unique_ptr<soci::session> soci_postgresql_session(const std::string& connect);
std::unique_ptr<soci::session> soci_odbc_session(const std::string& connect);

}  // namespace tableq_test
