#include "drivers/dialect_texts.hpp"

#include <string>

#include "core/seam/contract.hpp"
#include "drivers/text.hpp"

namespace tableq::inline v0::drivers {

void dialect_texts::learn() {
  statements = split_blocks(definition.statements);
  given_clock = split_blocks(definition.statements, clock_source::given);
  tables = split_blocks(definition.tables);
  tables_given_clock = split_blocks(definition.tables, clock_source::given);
  for (const core::contract& of : core::contracts()) {
    for_one.set(static_cast<std::size_t>(of.id),
                statements.contains(std::string(of.name).append(drivers::for_one)));
    for_next.set(
        static_cast<std::size_t>(of.id),
        statements.contains(std::string(of.name).append(drivers::for_next).append(without_rows)));
  }
}

}  // namespace tableq::inline v0::drivers
