#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "support/tds_asio.hpp"
#include "support/tds_gate.hpp"
#include "support/tds_parse.hpp"

namespace tableq_test {

/// One TCP connection on the server's side: messages in, packets out.
/// @par Thread safety Used by one thread, which waits in it; `stop()` may come from any.
class tds_wire {
 public:
  tds_wire();

  /// For the listener, before anything else is called.
  boost::asio::ip::tcp::socket& socket() { return socket_; }
  void start() { read_header(); }

  /// The next message; empty when the client has closed the connection, was silent for too long, or
  /// the server stops.
  [[nodiscard]] std::optional<tds_message> next();
  /// Sends a packet, of which `limit` bytes at most. @return whether the client is still there.
  bool send(tds_packet type, bool last, std::string_view body, std::size_t limit);
  /// Waits at a gate until it opens, an attention comes or the connection ends.
  void wait(tds_gate gate);
  /// Whether there is an attention that was not handled yet.
  [[nodiscard]] bool interrupted() const;
  [[nodiscard]] bool open() const { return open_; }
  void close();

  /// Ends the connection and all waits for it.
  void stop();

 private:
  static constexpr std::size_t header_size = 8;

  void read_header();
  void read_body();
  void take_packet();
  /// Handles events until `done`. @return false when it took too long.
  bool run_until(const std::function<bool()>& done);

  boost::asio::io_context context_;
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  boost::asio::ip::tcp::socket socket_;
  bool open_ = true;
  std::uint8_t sent_ = 0;
  std::array<char, header_size> header_{};
  std::string packet_;
  std::string message_;
  std::deque<tds_message> inbox_;
};

}  // namespace tableq_test
