#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "support/tds_answer.hpp"
#include "support/tds_request.hpp"

namespace tableq_test {

/// The answers of a scripted TDS server. Handlers run in the threads of the connections, several at
/// once; their exceptions reach the client as error 50000.
struct tds_script {
  using handler = std::function<tds_answer(const tds_request&)>;

  /// For statements: batches and calls. Unset: done.
  handler statement = {};
  /// For logins. An error refuses. Unset: accepted.
  handler login = {};
  /// The server's answer about encryption, which it lacks: 2 not supported, 3 demanded. It
  /// closes when a client then begins TLS.
  std::uint8_t encryption = 2;
};

class tds_connection;

/// A server with the TDS of SQL Server 15.0, without encryption and MARS, and with a test's
/// answers.
/// Owns a thread that listens, and one for each connection; all end with it.
/// @par Thread safety Everything may be called from any thread.
class tds_server {
 public:
  explicit tds_server(tds_script script = {});
  ~tds_server();
  tds_server(const tds_server&) = delete;
  tds_server& operator=(const tds_server&) = delete;

  /// The longest wait for an event that should come at once.
  static constexpr std::chrono::seconds patience{20};

  [[nodiscard]] std::uint16_t port() const { return port_; }
  /// For a driver by its name in odbcinst.ini.
  [[nodiscard]] std::string connection_string(std::string_view driver = "FreeTDS") const;

  /// Every received message, logins too, in the order of arrival.
  [[nodiscard]] std::vector<tds_request> requests() const { return requests_since(0); }
  [[nodiscard]] std::vector<tds_request> requests_since(std::size_t mark) const;
  /// Waits for this number of messages. @return false when they did not come.
  [[nodiscard]] bool received(std::size_t count, std::chrono::milliseconds limit = patience) const;
  /// Closes every connection, like a server that stops; new ones are accepted.
  void cut_all();

 private:
  void accept();

  const tds_script script_;
  int socket_;
  std::uint16_t port_ = 0;
  mutable std::mutex guard_;
  mutable std::condition_variable changed_;
  std::vector<tds_request> requests_;                    // under guard_
  std::vector<std::unique_ptr<tds_connection>> guests_;  // under guard_
  std::vector<std::jthread> threads_;                    // under guard_ while listening
  std::jthread listener_;
};

}  // namespace tableq_test
