#include "raw.hpp"

namespace bench {

std::string_view payload() {
  static const std::string text(payload_size, 'a');
  return text;
}

raw_words words_of_jobs() {
  // A lease that ends in the year 2100.
  return {.mail = "jobs",
          .claims = "jobs",
          .waiting = "state = 0",
          .order = "priority DESC, id",
          .taken = "state = 1, due_at = 4102444800000"};
}

void raw_database::fill(owner whose, std::string_view table, std::size_t messages) {
  clear(whose, table);
  if (messages > 0) add(whose, table, messages);
  tidy(whose, table);
}

}  // namespace bench
