// Functions that need no database, over tableq.h: see facade.cpp.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/tableq.hpp>
#include <tableq/unstable/dialect.hpp>

#include "facade.hpp"

namespace tableq::inline v0 {

using namespace tableq_facade;  // NOLINT(google-build-using-namespace): only this file

dialect find_dialect(std::string_view name) {
  dialect found;
  done([&](tq_error** e) { return tq_testing_find_dialect(std::string(name).c_str(), &found, e); });
  return found;
}
void register_dialect(dialect added) {
  done([&](tq_error** e) { return tq_testing_register_dialect(&added, e); });
}
std::vector<std::string> dialects() {
  return all_of<std::string>(asked([](tq_result** r, tq_error** e) { return tq_dialects(r, e); }),
                             [](const row_of& row) { return row.text("name"); });
}
std::string ddl(std::string_view dialect, std::string_view queue, const queue_settings& settings,
                const open_options& options) {
  const c_options given = options_of(settings);
  const c_options place = options_of(options);
  return text_of(asked([&](tq_result** r, tq_error** e) {
    return tq_ddl(std::string(dialect).c_str(), queue.data(), queue.size(),
                  std::string(to_string(settings.kind)).c_str(), given.get(), place.get(), r, e);
  }));
}
std::map<std::string, std::string> statements(std::string_view dialect, std::string_view queue,
                                              const queue_settings& settings,
                                              const open_options& options) {
  const c_options given = options_of(settings);
  const c_options place = options_of(options);
  const c_result all = asked([&](tq_result** r, tq_error** e) {
    return tq_statements(std::string(dialect).c_str(), queue.data(), queue.size(),
                         std::string(to_string(settings.kind)).c_str(), given.get(), place.get(), r,
                         e);
  });
  std::map<std::string, std::string> out;
  for (std::size_t i = 0; i < all.count(); ++i) {
    out.emplace(row_of{all.get(), i}.text("name"), row_of{all.get(), i}.text("text"));
  }
  return out;
}
std::string grants(std::string_view dialect, role granted, std::string_view user,
                   std::string_view queue, const queue_settings& settings,
                   const open_options& options) {
  const c_options given = options_of(settings);
  const c_options place = options_of(options);
  return text_of(asked([&](tq_result** r, tq_error** e) {
    return tq_grants(std::string(dialect).c_str(), std::string(to_string(granted)).c_str(),
                     user.data(), user.size(), queue.data(), queue.size(),
                     std::string(to_string(settings.kind)).c_str(), given.get(), place.get(), r, e);
  }));
}

}  // namespace tableq::inline v0
