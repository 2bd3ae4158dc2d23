#include "raw.hpp"

#include <utility>

namespace bench {

namespace {

std::string& current() {
  static std::string text(200, 'a');
  return text;
}

}  // namespace

std::string_view payload() {
  return current();
}

other_payload::other_payload(std::string text) {
  current() = std::move(text);
}

other_payload::~other_payload() {
  current().assign(200, 'a');
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
