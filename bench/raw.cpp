#include "raw.hpp"

namespace bench {

std::string_view payload() {
  static const std::string text(payload_size, 'a');
  return text;
}

void raw_database::fill(owner whose, std::string_view table, std::size_t messages) {
  clear(whose, table);
  if (messages > 0) add(whose, table, messages);
  tidy(whose, table);
}

}  // namespace bench
