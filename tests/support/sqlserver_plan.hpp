#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tableq_test {

/// What in plans of SQL Server (SHOWPLAN_XML) betrays a cost that grows with the table; nothing in
/// good ones. A Top above the reading bounds what others do with the rows, sorting too.
std::optional<std::string> sqlserver_complaint(std::string_view showplan);

}  // namespace tableq_test
