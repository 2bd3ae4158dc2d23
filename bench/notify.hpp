#pragma once

#include <string>
#include <thread>

#include "libpq_client.hpp"

namespace bench {

/// The hand-over of one message by a bare LISTEN and NOTIFY: an INSERT with a notification in one
/// round trip, and a session that waits for it and pops.
class notified {
 public:
  explicit notified(const std::string& address);

  /// @return microseconds from the sending to the receipt.
  double send_and_receive();

 private:
  libpq_connection sender_;
  libpq_connection receiver_;
};

}  // namespace bench
