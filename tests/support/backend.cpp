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
#if defined(TABLEQ_WITH_ODBC) && defined(TABLEQ_WITH_SQLITE)
    &sqlite_odbc_backend(),
#endif
#if defined(TABLEQ_WITH_ODBC) && defined(TABLEQ_WITH_POSTGRESQL)
    &postgresql_odbc_backend(),
#endif
  };
  return all;
}

namespace {

template <class Wanted>
std::vector<const backend*> those(Wanted wanted) {
  std::vector<const backend*> found;
  std::copy_if(all_backends().begin(), all_backends().end(), std::back_inserter(found),
               [&](const backend* each) { return wanted(each->can()); });
  return found;
}

}  // namespace

const std::vector<const backend*>& shared_backends() {
  static const auto found = those([](const features& can) { return can.shared; });
  return found;
}

const std::vector<const backend*>& distinct_backends() {
  static const auto found =
      those([](const features& can) { return can.shared && !can.second_way; });
  return found;
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
