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

/// The client library's own handles below them; null for a closed session.
void* sqlite_handle(soci::session& session);
void* postgresql_handle(soci::session& session);
void* odbc_handle(soci::session& session);

}  // namespace tableq_test
