#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "support/tds_reply.hpp"
#include "support/tds_script.hpp"
#include "support/tds_wire.hpp"

namespace tableq_test {

/// The server's side of the conversation with one client.
/// Borrows the script. `run()` takes a thread; `wire().stop()` ends it from another.
class tds_connection {
 public:
  using recorder = std::function<void(const tds_request&)>;

  tds_connection(std::size_t number, const tds_script& script, recorder record);

  tds_wire& wire() { return wire_; }
  /// Runs until one side closes the connection.
  void run();

 private:
  struct prepared {
    std::string text;
    std::string declaration;
  };

  /// @return whether the client is logged in.
  bool greet();
  bool let_in(const tds_request& asked);
  void handle(const tds_message& message);
  void answer(const tds_request& asked);
  void answer_batch(const tds_request& asked);
  void answer_calls(const tds_request& asked);
  void answer_call(tds_reply& reply, const tds_request& asked, bool last);
  void answer_transaction(const tds_request& asked);
  void remember(tds_request& asked);
  [[nodiscard]] tds_reply reply() { return {wire_, bodies_, transactions_}; }

  std::size_t number_;
  const tds_script& script_;
  recorder record_;
  tds_wire wire_;
  std::size_t bodies_;
  tds_transactions transactions_;
  std::map<std::int32_t, prepared> prepared_;
  std::int32_t last_handle_ = 0;
};

}  // namespace tableq_test
