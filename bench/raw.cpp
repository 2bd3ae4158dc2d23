#include "raw.hpp"

namespace bench {

std::string_view payload() {
  static const std::string text(payload_size, 'a');
  return text;
}

}  // namespace bench
