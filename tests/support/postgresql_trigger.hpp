#pragma once

#include <string>

#include "support/backend.hpp"

namespace tableq_test {

/// The SQL that creates the trigger on PostgreSQL.
inline std::string trigger_text(const row_trigger& wanted) {
  const std::string table(wanted.table);
  const std::string event(wanted.event);
  const std::string name = table + "_" + event;
  return "CREATE FUNCTION " + name + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN " +
         (wanted.silent ? "RETURN NULL" : "RAISE EXCEPTION 'refused'") +
         "; END $$; CREATE TRIGGER " + name + " BEFORE " + event + " ON " + table +
         " FOR EACH ROW WHEN (" + std::string(wanted.condition) + ") EXECUTE FUNCTION " + name +
         "()";
}

}  // namespace tableq_test
