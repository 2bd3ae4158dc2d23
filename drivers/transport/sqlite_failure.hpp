#pragma once

#include <string>

#include "drivers/transport.hpp"

namespace sqlite_api {
struct sqlite3;
}

namespace tableq::inline v0::drivers {

/// Whose session it is. That of tableq keeps temporary tables in memory.
enum class session_of { tableq, caller };

/// What SQLite says of the last call that failed in a session, and what the system says of it where
/// SQLite's number leaves that open: a used-up quota, a file or folder that accepts no writes.
native_failure sqlite_failure(sqlite_api::sqlite3* handle, session_of whose);

/// Why SQLite can write nothing beside a file, or not the file itself; empty if it can.
std::string refused_writes(const std::string& file);

}  // namespace tableq::inline v0::drivers
