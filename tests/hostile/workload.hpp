#pragma once

#include <tableq/tableq.hpp>

namespace tableq_test {

/// A bit of everything, on queues that are there or may be made: what is stored comes back as it
/// was, in time, and nothing is left. What goes wrong fails the test.
void work_with(tableq::database& db);

/// The same in a transaction, which may be the caller's.
void work_within(tableq::database& db, tableq::transaction& tx);

}  // namespace tableq_test
