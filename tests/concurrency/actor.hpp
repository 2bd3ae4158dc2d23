#pragma once

#include <nlohmann/json.hpp>

#include "support/process.hpp"

namespace tableq_test {

/// Another process that works on the same place: the program tableq_actor with one order. It
/// executes the order, and writes a line for each message.
class actor : public process {
 public:
  explicit actor(const nlohmann::json& order) : process({TABLEQ_TEST_ACTOR, order.dump()}) {}
};

}  // namespace tableq_test
