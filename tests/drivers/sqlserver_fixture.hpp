#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/tableq.hpp>

#include "drivers/sqlserver_script.hpp"
#include "drivers/transport/odbc_address.hpp"
#include "support/tds_server.hpp"
#include "support/text.hpp"

namespace tableq_test {

/// Never in a message of tableq.
inline constexpr std::string_view canary_password = "pwd-canary-7";

/// A driver, and a form of address.
struct way {
  std::string_view driver;
  bool by_odbc;
  [[nodiscard]] bool microsoft() const { return driver != "FreeTDS"; }
};

inline constexpr std::string_view microsoft_driver = "ODBC Driver 18 for SQL Server";
inline const auto both_drivers =
    testing::Values(way{"FreeTDS", false}, way{microsoft_driver, false});
inline const auto all_ways =
    testing::Values(way{"FreeTDS", false}, way{"FreeTDS", true}, way{microsoft_driver, false},
                    way{microsoft_driver, true});
inline std::string name_of_way(const testing::TestParamInfo<way>& which) {
  return (which.param.microsoft() ? "microsoft" : "freetds") +
         std::string(which.param.by_odbc ? "_odbc" : "_sqlserver");
}

/// The names of the received statements, with blanks between them.
inline std::string names_of(const std::vector<tds_request>& came) {
  std::string out;
  for (const tds_request& each : came) out += (out.empty() ? "" : " ") + read_call(each).name;
  return out;
}

/// A server that answers tableq's statements, and a database that is open on it.
class on_scripted_sqlserver : public testing::TestWithParam<way> {
 protected:
  void SetUp() override {
    const auto installed = tableq::drivers::odbc::installed_drivers();
    if (std::ranges::find(installed, GetParam().driver) != installed.end()) return;
    if (std::getenv("TABLEQ_TEST_MICROSOFT_ODBC") != nullptr) {
      FAIL() << GetParam().driver << " is required by TABLEQ_TEST_MICROSOFT_ODBC";
    }
    GTEST_SKIP() << GetParam().driver
                 << " is not installed: scripts/test.sh --accept-licence fetches it";
  }

  /// @param more `key=value;` of a connection string, or `&key=value` of a URL
  [[nodiscard]] std::string address(const std::string& more = {}) const {
    return address_at(server_, more);
  }
  static std::string address_at(const tds_server& server, const std::string& more = {}) {
    if (GetParam().by_odbc) {
      std::string out = server.connection_string(GetParam().driver);
      return "odbc://" + more + out.replace(out.find("secret"), 6, canary_password);
    }
    const bool quick = contains(more, "login_timeout");
    return "sqlserver://tester:" + std::string(canary_password) +
           "@127.0.0.1:" + std::to_string(server.port()) +
           "/app?driver=" + percent_encoded(std::string(GetParam().driver)) +
           (contains(more, "encrypt") ? "" : "&encrypt=no") + (quick ? "" : "&login_timeout=1m") +
           more;
  }
  [[nodiscard]] tableq::database open(std::chrono::milliseconds retry_for) const {
    return tableq::database::open(address(), {.retry_for = retry_for});
  }

  /// The statements of `work`, except the queries for limits, which depend on the time.
  template <class F>
  std::vector<tds_request> sent_by(F&& work) const {
    const std::size_t mark = server_.requests().size();
    work();
    std::vector<tds_request> came = server_.requests_since(mark);
    // One text stands for both ways to ask.
    std::erase_if(came, [](const auto& each) { return read_call(each).name == "limits.ask"; });
    return came;
  }

  static tableq::receipt receipt_of(std::string_view queue, std::int64_t id) {
    return {.id = {id}, .fence = 5, .queue = sqlserver_script::identity_of(queue)};
  }
  static tds_answer message(std::int64_t id = 7) {
    return with_columns(message_columns).row({id, 1000, nullptr, "seven"});
  }

  sqlserver_script script_;
  tds_server server_{script_.handlers()};
};

}  // namespace tableq_test
