#pragma once

#include <tableq/export.hpp>

namespace tableq::inline v0 {

/// Optimizations of tableq: results and guarantees are the same without them. Disable one to
/// measure it, or to exclude it as the cause of a fault. The benchmark cases `without_*` show the
/// effect of each (docs/performance.md).
struct shortcuts {
  /// Calls of several threads on a queue, outside of transactions, share statements and commits.
  /// Each call keeps its own result and error.
  bool combining = true;
  /// A call that waits to be combined checks its turn a few times before its thread sleeps.
  bool spinning = true;
  /// If deleted rows stay in indexes (PostgreSQL), reads begin at the read floor, after the rows
  /// that are certainly deleted.
  bool floors = true;
  /// Sessions that write to one SQLite file, in all processes, form a queue for the lock. A process
  /// without this option takes the lock whenever it is free, and may delay others for long.
  bool writers_line = true;
};

}  // namespace tableq::inline v0
