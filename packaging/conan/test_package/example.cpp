#include <algorithm>
#include <iostream>
#include <string>

#include <tableq/tableq.hpp>

// Uses SQLite if the package has it, and names the databases in any case.
int main() try {
  const auto known = tableq::dialects();
  for (const std::string& name : known) std::cout << name << '\n';
  if (std::find(known.begin(), known.end(), "sqlite") == known.end()) return known.empty() ? 1 : 0;
  auto db = tableq::database::open("sqlite://:memory:");
  auto mail = db.fifo("mail");
  mail.enqueue("hello");
  const auto got = mail.dequeue();
  return got && got->payload == "hello" ? 0 : 1;
} catch (const tableq::error& failure) {
  std::cerr << failure.what() << '\n';
  return 1;
}
