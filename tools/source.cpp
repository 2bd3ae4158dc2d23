#include "source.hpp"

#include <cerrno>
#include <cstddef>
#include <fstream>
#include <system_error>
#include <type_traits>

#include "exit_status.hpp"

namespace tool {

namespace {

std::string contents_of(const std::string& file) {
  constexpr std::size_t longest = 1024UL * 1024;
  std::ifstream in(file, std::ios::binary);
  std::string out(longest + 1, '\0');
  in.read(out.data(), static_cast<std::streamsize>(out.size()));
  if (!in.is_open() || in.bad()) {
    throw usage_error("cannot read the mapping " + in_quotes(file) + ": " +
                      std::generic_category().message(errno));
  }
  out.resize(static_cast<std::size_t>(in.gcount()));
  if (out.size() > longest) {
    throw usage_error(in_quotes(file) + " has over 1 MiB, and is no mapping of a table");
  }
  return out;
}

}  // namespace

any_source open_source(tableq::database& db, const std::string& name) {
  return open_source(db, require(db, name));
}

any_source open_source(tableq::database& db, const tableq::queue_info& found) {
  if (found.kind == tableq::kind::table) return db.stored_table(found.name);
  return std::visit([](const auto& queue) -> any_source { return queue; }, open_queue(db, found));
}

leasing_queue as_leasing(const any_source& opened) {
  return std::visit(
      []<class Queue>(const Queue& queue) -> leasing_queue {
        if constexpr (std::is_convertible_v<const Queue&, leasing_queue>) {
          return queue;
        } else {
          throw usage_error("queue " + in_quotes(queue.name()) + " is of kind " +
                            std::string(tableq::to_string(queue.kind())) +
                            ", not claim; read it with: tableq dequeue");
        }
      },
      opened);
}

tableq::leased_queue& leases_of(leasing_queue& queue) {
  return std::visit([](auto& opened) -> tableq::leased_queue& { return opened; }, queue);
}

const std::string& name_of(const any_source& opened) {
  return std::visit([](const auto& queue) -> const std::string& { return queue.name(); }, opened);
}

tableq::table_definition read_mapping(const std::string& file) {
  const std::string text = contents_of(file);
  try {
    return tableq::parse_table_definition(text);
  } catch (const tableq::error& wrong) {
    throw usage_error(in_quotes(file) + ": " + wrong.what());
  }
}

tableq::table_queue open_mapping(tableq::database& db, const std::string& file) {
  const tableq::table_definition definition = read_mapping(file);
  return db.table(definition.table, definition.mapping);
}

source_arguments::source_arguments(CLI::App& command, const std::string& shown)
    : queue(command, "QUEUE", "", shown),
      mapping(command, "--mapping", "FILE",
              "Instead of QUEUE: the JSON of a mapping of the application's table") {}

any_source source_arguments::open(tableq::database& db) const {
  if (queue.given() == mapping.given()) throw usage_error("give either QUEUE or --mapping FILE");
  if (mapping.given()) return open_mapping(db, mapping.text());
  return open_source(db, queue.text());
}

}  // namespace tool
