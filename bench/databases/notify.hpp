#pragma once

#include <string>
#include <thread>

#include "libpq_client.hpp"
#include "raw.hpp"

namespace bench {

/// Passes one message by LISTEN and NOTIFY without tableq: an INSERT with a notification in one
/// round trip, and a session that waits for it and reads.
class notified final : public hand_over {
 public:
  explicit notified(const std::string& address);

  double send_and_receive() override;

 private:
  libpq_connection sender_;
  libpq_connection receiver_;
};

}  // namespace bench
