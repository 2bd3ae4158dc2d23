// An application with its own SOCI, which tableq never meets. Exit status 0 if tableq refuses.
#include <cstdio>

#include <tableq/tableq.hpp>

void use_own_soci();

int main() {
  use_own_soci();
  try {
    auto db = tableq::database::open("sqlite://:memory:");
    db.heap("mail").enqueue("x");
  } catch (const tableq::error& refused) {
    std::puts(refused.what());
    return refused.code() == tableq::errc::unsupported ? 0 : 1;
  }
  std::puts("two versions of SOCI in one program were not noticed");
  return 1;
}
