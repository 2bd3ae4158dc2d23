#pragma once

#include <functional>

#include "core/database/transaction_state.hpp"
#include "core/queue/queue_table.hpp"

namespace tableq::inline v0::core {

/// Runs `work` as a part of a unit of work. On a database with one writer at a time calls of other
/// threads may share the unit: any of these threads may run `work`, and after a failure of the unit
/// it runs again. Elsewhere the unit is this part alone, and is not repeated.
/// @param table whose combiner has the calls of other threads.
void in_shared_unit(const queue_table& table, const std::function<void(transaction_state&)>& work);

}  // namespace tableq::inline v0::core
