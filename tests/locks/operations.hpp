#pragma once

#include <string_view>
#include <vector>

#include "locks/world.hpp"

namespace tableq_test::locks {

/// What core sends for the operations of a claim queue, each a transaction.
const std::vector<transaction>& claim_operations();
/// Of the destructive kinds: heap, fifo and lifo share a table.
const std::vector<transaction>& plain_operations();
const std::vector<transaction>& pending_operations();
/// Reads and writes of a strict queue.
std::vector<transaction> strict_operations(order of);

/// The operation of that name. @throws std::runtime_error without one.
const transaction& operation(std::string_view name);

}  // namespace tableq_test::locks
