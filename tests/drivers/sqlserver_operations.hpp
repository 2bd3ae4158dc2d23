#pragma once

#include <functional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

namespace tableq_test {

struct sqlserver_operation {
  std::string sends;  ///< The name of its statement.
  std::function<void()> run;
};

/// Every operation outside of a transaction that is one statement, on the queues of a
/// sqlserver_script.
std::vector<sqlserver_operation> sqlserver_operations(tableq::database& db);

}  // namespace tableq_test
