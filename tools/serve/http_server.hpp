#pragma once

#include <memory>
#include <string>

#include "site.hpp"

namespace tool::web {

/// Serves a site by HTTP/1.1, by one thread for all connections and a few for the answers. A client
/// that is slow holds a connection, never a thread.
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
  /// Answers, until it is destroyed. The pages must live longer.
  void start(site& pages);

 private:
  class state;
  std::unique_ptr<state> state_;
};

}  // namespace tool::web
