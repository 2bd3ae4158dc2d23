#include "support/backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "support/backends.hpp"

namespace tableq_test {

const std::vector<const backend*>& all_backends() {
  static const std::vector<const backend*> all = {
#if defined(TABLEQ_WITH_SQLITE)
    &sqlite_file_backend(),
    &sqlite_memory_backend(),
#endif
#if defined(TABLEQ_WITH_POSTGRESQL)
    &postgresql_backend(),
#endif
  };
  return all;
}

const std::vector<const backend*>& shared_backends() {
  static const std::vector<const backend*> shared = [] {
    std::vector<const backend*> found;
    std::copy_if(all_backends().begin(), all_backends().end(), std::back_inserter(found),
                 [](const backend* each) { return each->can().shared; });
    return found;
  }();
  return shared;
}

bool required(const backend& which) {
  const char* list = std::getenv("TABLEQ_TEST_REQUIRE");
  std::istringstream names(list == nullptr ? "" : list);
  for (std::string name; std::getline(names, name, ',');) {
    if (name == which.name()) return true;
  }
  return false;
}

}  // namespace tableq_test
