#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "support/tds_script.hpp"

namespace tableq_test {

/// A server with the TDS of SQL Server 15.0, without encryption, and with a test's answers.
///
///     tds_server server([](const tds_request& asked) { return tds_answer().affected(1); });
///     client.connect(server.connection_string());
///     EXPECT_EQ(server.requests().back().text, "DELETE ...");
///
/// Owns a thread that listens, and one for each connection; all end with it. A connection in which
/// nothing happens for `tds_gate::patience` is closed, so that no client waits forever.
/// @par Thread safety Everything may be called from any thread.
class tds_server {
 public:
  explicit tds_server(tds_script script = {});
  explicit tds_server(tds_script::handler statement);
  ~tds_server();
  tds_server(const tds_server&) = delete;
  tds_server& operator=(const tds_server&) = delete;

  [[nodiscard]] std::uint16_t port() const;
  /// For FreeTDS behind a driver manager.
  [[nodiscard]] std::string connection_string() const;

  /// Every received message, logins too, in the order of arrival.
  [[nodiscard]] std::vector<tds_request> requests() const;
  /// The index after the last message so far.
  [[nodiscard]] std::size_t mark() const;
  [[nodiscard]] std::vector<tds_request> requests_since(std::size_t mark) const;
  /// Waits for this number of messages. @return false when they did not come.
  [[nodiscard]] bool received(std::size_t count,
                              std::chrono::milliseconds limit = tds_gate::patience) const;

  [[nodiscard]] std::size_t open_connections() const;
  /// Waits until no connection is open. @return false when one stayed.
  [[nodiscard]] bool left_alone(std::chrono::milliseconds limit = tds_gate::patience) const;
  /// Closes every connection, like a server that stops; new ones are accepted.
  void cut_all();

 private:
  class listener;
  std::unique_ptr<listener> listener_;
};

}  // namespace tableq_test
