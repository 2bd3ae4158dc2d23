#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include "http.hpp"

namespace tool::web {

/// The answers of a site, and the limits of its clients.
struct http_service {
  /// Answers a request. Called by several threads at once; may wait for a database.
  std::function<response(const request&)> respond;
  /// Whether `respond` answers it without waiting for a database: such requests have threads of
  /// their own.
  std::function<bool(const request&)> is_quick;
  /// Answers instead, when `respond` has not within `answer_within`, or has too much to do.
  std::function<response(unsigned status, const std::string& sentence)> failed;
  /// Headers that every answer has, those to unreadable requests too.
  std::vector<std::pair<std::string, std::string>> headers = {};

  std::size_t header_bytes = 16UL * 1024;
  std::size_t body_bytes = 64UL * 1024;
  std::chrono::milliseconds receive_within = std::chrono::seconds{15};  ///< The whole request.
  std::chrono::milliseconds answer_within = std::chrono::seconds{20};
  std::chrono::milliseconds send_within = std::chrono::seconds{30};  ///< The whole answer.
  std::size_t most_connections = 4000;  ///< Less, if the process may open fewer files.
  std::size_t most_waiting = 1000;      ///< Requests that wait for a thread.
  /// Bytes of answers that slow clients have not read. Above it they get a refusal.
  std::size_t most_unsent = 256UL * 1024 * 1024;
};

/// Serves HTTP/1.1, by one thread for all connections and a few for the answers. A client that is
/// slow holds a connection, never a thread.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class http_server {
 public:
  /// Listens. Clients wait until `start`.
  /// @param address an IP address.
  /// @param port 0: any that is free.
  /// @throws std::runtime_error when it cannot listen there.
  http_server(const std::string& address, unsigned short port);
  /// Ends the connections, and waits for answers that are being made.
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  [[nodiscard]] unsigned short port() const;
  /// Answers, until it is destroyed. What the service borrows must live longer.
  void start(http_service service);

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace tool::web
