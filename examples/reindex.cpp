// A debounced re-index: a page that is saved five times in a row is indexed once, shortly after the
// last save, with its last text.
#include <iostream>
#include <string>
#include <tableq/tableq.hpp>

int main(int argc, char** argv) try {
  using namespace std::chrono_literals;
  auto db = tableq::database::open(argc > 1 ? argv[1] : "sqlite://pages.db");
  // The key is free when the indexing begins: a save during the indexing is indexed later.
  auto pages = db.claim("reindex", {.keys = tableq::key_scope::waiting});

  int calls = 0;
  for (int version = 1; version <= 5; ++version, ++calls) {
    pages.enqueue(
        "version " + std::to_string(version) + " of page 7",
        {.delay = 500ms, .key = "page 7", .on_duplicate = tableq::on_duplicate::postpone});
  }
  std::cout << "enqueued " << calls << " times\n";

  for (const tableq::delivery& page : pages.take(10, {.wait = 30s})) {
    const bool done = pages.complete(page) == tableq::settle_result::applied;
    std::cout << (done ? "indexed once: " : "lost: ") << page.payload << '\n';
  }
} catch (const tableq::error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
