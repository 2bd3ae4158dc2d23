#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

namespace tableq_test {

struct sqlserver_operation {
  std::string sends;  ///< The name of its statement.
  std::function<void()> run;
  /// Of a strict queue: between begin, the queue's lock, and commit.
  bool strict = false;
};

/// Every operation outside of a transaction that is one statement, on the queues of a
/// sqlserver_script.
std::vector<sqlserver_operation> sqlserver_operations(tableq::database& db);

}  // namespace tableq_test
