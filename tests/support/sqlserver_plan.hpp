#pragma once

#include <optional>
#include <string>

namespace tableq_test {

/// `Top > Index Seek [claim_next] > ...`: the steps of a plan with their indexes.
std::string sqlserver_steps(const std::string& showplan);
/// The parts of SQL Server's plans (SHOWPLAN_XML) whose cost grows with the table; empty for good
/// ones. A Top above the reading step bounds the other steps, also sorts.
std::optional<std::string> sqlserver_complaint(const std::string& showplan);

}  // namespace tableq_test
