#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "support/tds_request.hpp"

namespace tableq_test {

/// The first byte of a packet.
enum class tds_packet : std::uint8_t {
  batch = 1,
  call = 3,
  answer = 4,
  attention = 6,
  transaction = 14,
  login = 16,
  prelogin = 18,
};

/// A message, assembled from its packets.
struct tds_message {
  tds_packet type = tds_packet::batch;
  std::string body;
};

/// The requests of a message. The text of a statement prepared earlier is empty. Throws for an
/// invalid message.
tds_request parse(const tds_message& message);

}  // namespace tableq_test
