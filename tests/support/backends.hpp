#pragma once

/// @file
/// The list of backends: a new one adds its line here and in backend.cpp.

#include "support/backend.hpp"

namespace tableq_test {

const backend& sqlite_file_backend();
const backend& sqlite_memory_backend();
const backend& postgresql_backend();
const backend& sqlite_odbc_backend();
const backend& postgresql_odbc_backend();
const backend& citus_backend();
const backend& sqlserver_backend();

}  // namespace tableq_test
