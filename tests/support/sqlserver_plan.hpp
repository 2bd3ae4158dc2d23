#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tableq_test {

/// The parts of SQL Server's plans (SHOWPLAN_XML) whose cost grows with the table; empty for good
/// ones. A Top above the reading step bounds the other steps, also sorts.
std::optional<std::string> sqlserver_complaint(std::string_view showplan);

}  // namespace tableq_test
