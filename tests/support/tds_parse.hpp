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

/// A message, put together from its packets.
struct tds_message {
  tds_packet type = tds_packet::batch;
  std::string body;
};

/// What a message asks for. The text of a statement prepared earlier is left empty. Throws when the
/// message makes no sense.
tds_request parse(const tds_message& message);

}  // namespace tableq_test
