#include "connection.hpp"

#include <cstdlib>

#include <string_view>

#include "exit_status.hpp"
#include "output.hpp"

namespace tool {

namespace {

std::string name_of(const any_queue& opened) {
  return std::visit([](const auto& queue) { return queue.name(); }, opened);
}

/// Says on standard error what tableq warns of.
class told_warnings final : public tableq::observer {
 public:
  void warned(std::string_view /*backend*/, std::string_view what) override {
    complain("warning: " + std::string(what));
  }
};

/// The context that a command was started in, as `work` starts its commands.
tableq::trace_context trace_of_environment() {
  const auto value = [](const char* name) {
    const char* found = std::getenv(name);
    return std::string(found == nullptr ? "" : found);
  };
  return {.traceparent = value("TRACEPARENT"), .tracestate = value("TRACESTATE")};
}

}  // namespace

tableq::open_options naming(const connection_options& options) {
  tableq::open_options result;
  result.table_prefix = options.prefix;
  result.schema_name = options.schema;
  return result;
}

std::string address_of(const connection_options& options) {
  std::string url = options.url;
  if (url.empty()) {
    if (const char* from_environment = std::getenv("TABLEQ_DB")) url = from_environment;
  }
  if (url.empty()) throw usage_error("no database: give --db URL or set TABLEQ_DB");
  return url;
}

tableq::database connect(const connection_options& options, bool may_create, std::size_t sessions,
                         std::chrono::milliseconds retry_for) {
  tableq::open_options opening = naming(options);
  opening.max_sessions = sessions;
  opening.retry_for = retry_for;
  opening.max_payload = options.max_payload;
  opening.schema = may_create && !options.verify_only ? tableq::schema_policy::create_if_missing
                                                      : tableq::schema_policy::verify_only;
  opening.observer = std::make_shared<told_warnings>();
  opening.trace = [] { return trace_of_environment(); };
  return tableq::database::open(address_of(options), opening);
}

void tell_of_no_queues(const tableq::database& db, const connection_options& options) {
  if ((options.schema.empty() && options.prefix.empty()) || !db.queues().empty()) return;
  std::string where;
  if (!options.schema.empty()) where += " in the schema " + in_quotes(options.schema);
  if (!options.prefix.empty()) where += " with the prefix " + in_quotes(options.prefix);
  complain("there are no queues" + where + "; check the spelling");
}

tableq::queue_info require(const tableq::database& db, const std::string& name) {
  if (auto found = db.find(name)) return *found;
  throw refused_error(
      "there is no queue " + in_quotes(name) +
      (db.queues().empty()
           ? ", nor any other that this user may see; check --db, --schema and --prefix"
           : "; `tableq list` shows the others") +
      ", or make it with: tableq create KIND " + name);
}

any_queue open_as(tableq::database& db, const std::string& name,
                  const tableq::queue_settings& wanted) {
  switch (wanted.kind) {
    case tableq::kind::heap:
      return db.heap(name);
    case tableq::kind::fifo:
      return db.fifo(name, wanted.order);
    case tableq::kind::lifo:
      return db.lifo(name, wanted.order);
    case tableq::kind::pending:
      return db.pending(name);
    case tableq::kind::claim:
    case tableq::kind::table:  // open_queue and create refuse it
      break;
  }
  return db.claim(name, wanted.claim);
}

any_queue open_queue(tableq::database& db, const std::string& name) {
  return open_queue(db, require(db, name));
}

any_queue open_queue(tableq::database& db, const tableq::queue_info& found) {
  refuse_table(found);
  return open_as(db, found.name, {.kind = found.kind});
}

void refuse_table(const tableq::queue_info& found) {
  if (found.kind == tableq::kind::table) {
    throw usage_error(in_quotes(found.name) +
                      " is a table of the application; use SQL, or the commands "
                      "work, peek, stats, top, doctor, ddl --for and drop");
  }
}

tableq::destructive_queue& as_destructive(any_queue& opened, const std::string& hint) {
  struct finder {
    tableq::destructive_queue* operator()(tableq::destructive_queue& queue) const { return &queue; }
    tableq::destructive_queue* operator()(tableq::claim_queue& /*queue*/) const { return nullptr; }
  };
  if (auto* queue = std::visit(finder{}, opened)) return *queue;
  throw usage_error("queue " + in_quotes(name_of(opened)) + " is of kind claim; " + hint);
}

tableq::claim_queue& as_claim(any_queue& opened, std::string_view hint) {
  if (auto* queue = std::get_if<tableq::claim_queue>(&opened)) return *queue;
  const auto kind = std::visit([](const auto& queue) { return queue.kind(); }, opened);
  throw usage_error("queue " + in_quotes(name_of(opened)) + " is of kind " +
                    std::string(tableq::to_string(kind)) + ", not claim; " + std::string(hint));
}

std::string in_quotes(const std::string& name) {
  return '"' + name + '"';
}

}  // namespace tool
