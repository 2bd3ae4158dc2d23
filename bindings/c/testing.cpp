#include "testing.hpp"

#include "handles.hpp"
#include "options.hpp"

using namespace tableq_c;

int tq_testing_set_open(tq_options* options, const tableq::open_options* given, tq_error** error) {
  return calling(error, [&] {
    auto& open = std::get<open_values>(checked(options).values);
    open.clock = given->clock;
    open.observer = given->observer;
    open.trace = given->trace;
  });
}
int tq_testing_open(const tableq::testing::faults* faults, const char* url, size_t url_size,
                    const tq_options* options, tq_database** db, tq_error** error) {
  return making(db, error, [&] {
    tableq::database opened = faults->open(text_of(url, url_size), values_of<open_values>(options));
    return std::make_unique<tq_database>(std::move(opened), nullptr);
  });
}
int tq_testing_find_dialect(const char* name, tableq::dialect* found, tq_error** error) {
  return calling(error, [&] { *found = tableq::find_dialect(name); });
}
int tq_testing_register_dialect(const tableq::dialect* added, tq_error** error) {
  return calling(error, [&] { tableq::register_dialect(*added); });
}
