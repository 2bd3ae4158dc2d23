#pragma once

#include <tableq/tableq.hpp>

namespace tableq_test {

/// Some of all operations, on queues that exist or may be created: stored messages return
/// unchanged, in time, and none is left. An error fails the test.
void work_with(tableq::database& db);

/// The same in a transaction, which may be the caller's.
void work_within(tableq::database& db, tableq::transaction& tx);

}  // namespace tableq_test
