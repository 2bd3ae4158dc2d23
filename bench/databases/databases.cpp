#include "databases.hpp"

#include <algorithm>
#include <stdexcept>

namespace bench {

const std::vector<database_kind>& databases() {
  static const std::vector<database_kind> all = {{.name = "sqlite",
                                                  .description = "",
                                                  .address = "",
                                                  .modes = {"full", "normal"},
                                                  .usual_modes = {"full", "normal"},
                                                  .one_writer = true,
                                                  .native = true,
                                                  .open = raw_sqlite},
                                                 {.name = "postgresql",
                                                  .description = "",
                                                  .address = "postgresql://USER@HOST/DATABASE",
                                                  .modes = {"on", "off"},
                                                  .usual_modes = {"on", "off"},
                                                  .one_writer = false,
                                                  .native = true,
                                                  .open = raw_postgresql},
                                                 {.name = "odbc",
                                                  .description = "PostgreSQL through psqlODBC",
                                                  .address = "postgresql://USER@HOST/DATABASE",
                                                  .modes = {"on", "off"},
                                                  .usual_modes = {"on"},
                                                  .one_writer = false,
                                                  .native = false,
                                                  .open = raw_odbc}};
  return all;
}

const database_kind& database_called(const std::string& name) {
  const auto& all = databases();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const database_kind& each) { return each.name == name; });
  if (found == all.end()) throw std::runtime_error("no database is called " + name);
  return *found;
}

}  // namespace bench
