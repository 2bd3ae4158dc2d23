#pragma once

namespace tableq::inline v0::drivers {

/// After this call a child of fork() can open SQLite files that its parent does not have open.
///
/// Other threads may hold the mutexes that SQLite has for the whole process. In a child they would
/// stay locked forever. Therefore the forking thread takes them during the fork.
void prepare_sqlite_for_forks();

}  // namespace tableq::inline v0::drivers
