#pragma once

namespace tableq::inline v0 {

/// What tableq does beside the plain statements, for speed alone: results and guarantees are the
/// same without. Switch one off to measure it, or to rule it out in a search for a fault. The cases
/// `without_*` of the benchmark show what each gives (docs/performance.md).
struct shortcuts {
  /// Calls of several threads on a queue, outside of transactions, share statements and commits.
  /// Each call keeps its own result and error.
  bool combining = true;
  /// A call that waits to be combined checks its turn a few times before its thread sleeps.
  bool spinning = true;
  /// Where deleted rows linger in indexes (PostgreSQL), reads begin after the rows that are
  /// certainly deleted.
  bool floors = true;
  /// Sessions that write to one SQLite file, in all processes, wait in a line. A process without it
  /// takes the lock whenever it is free, and may hold up others for long.
  bool writers_line = true;
  /// A write to a SQLite file does not wake the file watch of its own `database`.
  bool muted_watch = true;
};

}  // namespace tableq::inline v0
