#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/tableq.hpp>

#include "drivers/sqlserver_script.hpp"
#include "support/tds_server.hpp"

namespace tableq_test {

/// Never in a message of tableq.
inline constexpr std::string_view canary_password = "pwd-canary-7";

/// Through ODBC's own connection string, which names no dialect.
inline std::string odbc_address(const tds_server& server) {
  std::string out = "odbc://" + server.connection_string();
  constexpr std::string_view usual = "secret";
  return out.replace(out.find(usual), usual.size(), canary_password);
}

inline std::string sqlserver_address(const tds_server& server, const std::string& query = {}) {
  return "sqlserver://tester:" + std::string(canary_password) +
         "@127.0.0.1:" + std::to_string(server.port()) + "/app?driver=FreeTDS" +
         (query.find("login_timeout") == std::string::npos ? "&login_timeout=10m" : "") + query;
}

/// The names of the received statements, with blanks between them.
inline std::string names_of(const std::vector<tds_request>& came) {
  std::string out;
  for (const tds_request& each : came) {
    out += (out.empty() ? "" : " ") + read_call(each).name;
  }
  return out;
}

/// A server that answers tableq's statements, and a database that is open on it.
class on_scripted_sqlserver : public testing::Test {
 protected:
  tableq::database open(std::chrono::milliseconds retry_for) const {
    return tableq::database::open(address(), {.retry_for = retry_for});
  }
  virtual std::string address() const { return sqlserver_address(server_); }

  /// The statements of `work`, except the queries for limits and for the queue's identity, which
  /// depend on the time.
  template <class F>
  std::vector<tds_request> sent_by(F&& work) const {
    const std::size_t mark = server_.mark();
    work();
    std::vector<tds_request> came = server_.requests_since(mark);
    // One text stands for both ways to ask, and the last one for its name.
    std::string before;
    std::erase_if(came, [&before](const auto& each) {
      const std::string name = read_call(each).name;
      const bool opens = before == "catalog.exists";
      before = name;
      return name == "limits.ask" || (name == "catalog.find" && !opens);
    });
    return came;
  }

  static tableq::receipt receipt_of(std::string_view queue, std::int64_t id,
                                    std::int64_t fence = 5) {
    return {.id = {id}, .fence = fence, .queue = sqlserver_script::queue(queue).identity};
  }

  sqlserver_script script_;
  tds_server server_{script_.handlers()};
};

/// By both forms of address.
class on_each_address : public on_scripted_sqlserver, public testing::WithParamInterface<bool> {
 protected:
  std::string address() const override {
    return GetParam() ? odbc_address(server_) : sqlserver_address(server_);
  }
};

inline std::string address_name(const testing::TestParamInfo<bool>& which) {
  return which.param ? "odbc" : "sqlserver";
}

}  // namespace tableq_test
