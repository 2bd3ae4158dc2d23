#include "drivers/sqlserver_script.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include <tableq/dialect.hpp>
#include <tableq/schema.hpp>

#include "core/input/identifier.hpp"
#include "core/seam/contract.hpp"
#include "drivers/dialect_texts.hpp"
#include "drivers/plan_memory.hpp"
#include "drivers/text.hpp"
#include "support/text.hpp"

namespace tableq_test {
namespace {

using tableq::kind;
using tableq::core::contract;
using tableq::core::statement;
using tableq::drivers::parameter;

constexpr std::array queues{
    scripted_queue{"heap", kind::heap, "", 7001},
    scripted_queue{"fifo", kind::fifo, "ordering=relaxed", 7002},
    scripted_queue{"lifo", kind::lifo, "ordering=relaxed", 7003},
    scripted_queue{"pending", kind::pending, "", 7004},
    scripted_queue{"claim", kind::claim, "lease_ms=30000 max_attempts=5 keep=0", 7005},
    scripted_queue{"strict_fifo", kind::fifo, "ordering=strict", 7006},
    scripted_queue{"strict_lifo", kind::lifo, "ordering=strict", 7007},
    scripted_queue{"kept", kind::claim, "lease_ms=30000 max_attempts=5 keep=1", 7008},
    scripted_queue{"grouped", kind::claim, "lease_ms=30000 max_attempts=5 keep=0 groups_hold=1",
                   7009},
    scripted_queue{"turns", kind::claim,
                   "lease_ms=30000 max_attempts=5 keep=0 groups_hold=1 groups_by_turns=1", 7010},
};

/// The statement behind a text of the wire.
struct known_text {
  std::string name;
  const contract* of = nullptr;
  std::vector<parameter> parameters = {};
  std::size_t rows = 0;
  bool hinted = true;
};
using known_texts = std::map<std::string, known_text, std::less<>>;

/// FreeTDS's form of parameters.
std::string numbered(std::string_view sql) {
  std::string out;
  int number = 0;
  for (const char c : sql) {
    if (c == '?') {
      out += "@P" + std::to_string(++number);
    } else {
      out += c;
    }
  }
  return out;
}

known_texts texts_of_dialect() {
  const tableq::dialect definition = tableq::find_dialect("sqlserver");
  using tableq::drivers::clock_source;
  known_texts out;
  const auto add_texts = [&](const tableq::drivers::blocks& blocks, const contract& of,
                             const tableq::core::table_names& names) {
    const auto block = blocks.find(of.name);
    if (block == blocks.end()) return;
    const std::vector<std::size_t> once{1};
    using tableq::drivers::hints;
    for (const hints kept : {hints::none, hints::order, hints::all}) {
      const bool hinted = kept == hints::all;
      const std::string filled = tableq::drivers::fill_names(
          tableq::drivers::with_hints(definition, block->second, kept), definition, names);
      for (const std::size_t rows : of.items.empty() ? once : definition.row_counts) {
        auto text = tableq::drivers::compile(filled, of,
                                             {.markers = tableq::drivers::marker::question,
                                              .batches = definition.batches,
                                              .arrays = false,
                                              .rows = rows});
        out[numbered(text.sql)] = {std::string(of.name), &of, std::move(text.parameters),
                                   of.items.empty() ? 0 : rows, hinted};
      }
    }
  };
  tableq::drivers::dialect_texts texts;
  texts.definition = definition;
  texts.learn();
  const auto add = [&](const contract& of, const tableq::core::table_names& names) {
    if (of.id == statement::claim_take_turns && !names.by_turns) return;
    for (const clock_source clock : {clock_source::database, clock_source::given}) {
      add_texts(texts.of_queue(clock, names), of, names);
    }
  };
  // Before the schema of the catalogue is known, and afterwards.
  const auto add_queue = [&](const scripted_queue& each, const std::string& schema) {
    auto names = tableq::core::names_for({.schema_name = schema}, each.name);
    names.by_turns = each.options.find("by_turns") != std::string_view::npos;
    const std::string beginning = std::string(to_string(each.kind)) + ".";
    for (const contract& of : tableq::core::contracts()) {
      const bool of_all = of.name.starts_with("catalog.") || of.name.starts_with("table.") ||
                          of.name.starts_with("queue.") || of.name.starts_with("doctor.") ||
                          of.name.starts_with("limits.") || of.name.starts_with("session.");
      if (of_all || of.name.starts_with(beginning)) add(of, names);
    }
    for (const std::string_view one_of : {std::string_view("catalog"), to_string(each.kind)}) {
      const std::string part(one_of);
      const auto ddl = tableq::drivers::fill_names(definition.ddl.at(part), definition, names);
      for (const std::string& one : tableq::drivers::split_script(ddl)) {
        out[one] = {.name = "ddl." + part};
      }
    }
  };
  for (const scripted_queue& each : queues) {
    add_queue(each, "");
    add_queue(each, "dbo");
  }
  out[definition.setup.at(0)] = {.name = "setup"};
  out[definition.begin] = {.name = "begin"};
  out["COMMIT"] = {.name = "commit"};
  out[definition.rollback] = {.name = "rollback"};
  out[definition.transaction_state] = {.name = "transaction_state"};
  out[definition.read_only_state] = {.name = "read_only_state"};
  return out;
}

void keep(named_values& in, std::string_view name, const tds_value& value) {
  const auto [place, added] = in.emplace(name, value);
  if (!added && place->second != value) {
    throw std::runtime_error(std::string(name) + " is not the same in each of its places");
  }
}

tds_answer number_answer(const char* column, std::int64_t value) {
  return tds_answer().columns({{column, tds_type::bigint}}).row({value});
}

tds_answer catalogue(const sqlserver_call& call) {
  tds_answer out;
  out.columns({{"name", tds_type::nvarchar, 60},
               {"identity", tds_type::bigint},
               {"kind", tds_type::nvarchar, 20},
               {"layout", tds_type::integer},
               {"options", tds_type::nvarchar, 1000},
               {"created_at", tds_type::bigint}});
  const auto wanted = call.shared.find("name");
  const auto asked_for = [&](std::string_view name) {
    return wanted == call.shared.end() || wanted->second == tds_value(std::string(name));
  };
  if (asked_for("tableq")) out.row({"tableq", 0, "catalogue", 1, "", 1});
  for (const scripted_queue& each : queues) {
    if (!asked_for(each.name)) continue;
    out.row({std::string(each.name), each.identity, std::string(to_string(each.kind)), 1,
             std::string(each.options), 1});
  }
  return out;
}

/// Every item has succeeded.
tds_answer done_for_each(const sqlserver_call& call) {
  constexpr std::array signs{"id", "payload", "key", "group"};
  const bool adds = !call.items.front().contains("id");
  const bool numbers_items = !adds || call.name.starts_with("claim.");
  tds_answer out;
  out.columns({{"item", tds_type::bigint}, {"id", tds_type::bigint}, {"state", tds_type::integer}});
  for (std::size_t i = 0; i < call.items.size(); ++i) {
    const auto given = std::find_if(signs.begin(), signs.end(),
                                    [&](const char* name) { return call.items[i].contains(name); });
    const tds_value& sign = call.items[i].at(*given);
    if (std::holds_alternative<std::nullptr_t>(sign)) continue;
    const auto item = static_cast<std::int64_t>(i);
    out.row({numbers_items ? tds_value(item) : tds_value(), adds ? tds_value(100 + item) : sign,
             std::int64_t{0}});
  }
  return out;
}

tds_answer usual(const sqlserver_call& call) {
  const auto is = [&](std::string_view end) { return call.name.ends_with(end); };
  if (!call.known) throw std::runtime_error("this is no text of the dialect");
  if (is("catalog.exists")) {
    return tds_answer()
        .columns({{"present", tds_type::integer},
                  {"schema", tds_type::nvarchar, 128},
                  {"sharded", tds_type::integer},
                  {"narrow", tds_type::integer}})
        .row({1, "dbo", 0, 0});
  }
  if (is(".exists")) return number_answer("present", 1);
  if (is("session.identity")) {
    return tds_answer().columns({{"database", tds_type::nvarchar, 300}}).row({"server 5 today"});
  }
  if (is("catalog.find") || is("catalog.list")) return catalogue(call);
  if (is("claim.find_key")) return sqlserver_rows::added();
  if (is("claim.get")) return sqlserver_rows::stored_items();
  if (call.rows > 0) return done_for_each(call);
  if (is(".take")) return sqlserver_rows::deliveries();
  if (is("claim.peek") || is("claim.find") || call.name.starts_with("claim.list")) {
    return sqlserver_rows::stored();
  }
  if (is(".peek") || is(".dequeue") || is(".dequeue_strict")) return sqlserver_rows::messages();
  if (is(".purge") || is(".redrive_all") || is(".promote")) {
    return tds_answer().columns({{"id", tds_type::bigint}, {"state", tds_type::integer}});
  }
  if (is(".next_due")) return number_answer("delay", 0);
  if (is("limits.read") || is("limits.ask")) {
    tds_answer out = sqlserver_rows::limits();
    for (const scripted_queue& each : queues) {
      if (call.shared.at("queue") != tds_value(std::string(each.name))) continue;
      out.row({each.identity, std::string(to_string(each.kind)), nullptr, nullptr, nullptr, nullptr,
               nullptr});
    }
    return out;
  }
  if (is("limits.lock")) return sqlserver_rows::locked_limits();
  if (is(".count") || is(".leased")) return number_answer("number", 0);
  if (is("queue.hidden")) {
    return tds_answer().columns({{"severity", tds_type::integer},
                                 {"what", tds_type::nvarchar, 100},
                                 {"fix", tds_type::nvarchar, 200}});
  }
  if (is("claim.letters")) {
    return tds_answer()
        .columns({{"letters", tds_type::bigint}, {"seen", tds_type::bigint}})
        .row({6, 9});
  }
  if (is("claim.stats")) {
    return tds_answer()
        .columns({{"ready", tds_type::bigint},
                  {"due", tds_type::bigint},
                  {"delayed", tds_type::bigint},
                  {"leased", tds_type::bigint},
                  {"held", tds_type::bigint},
                  {"done", tds_type::bigint},
                  {"dead", tds_type::bigint},
                  {"oldest", tds_type::bigint},
                  {"last_id", tds_type::bigint},
                  {"as_of", tds_type::bigint}})
        .row({1, 0, 2, 3, 0, 4, 5, nullptr, 15, 1});
  }
  if (is(".stats")) {
    return tds_answer()
        .columns({{"waiting", tds_type::bigint},
                  {"delayed", tds_type::bigint},
                  {"oldest", tds_type::bigint},
                  {"last_id", tds_type::bigint},
                  {"as_of", tds_type::bigint}})
        .row({3, 2, nullptr, 7, 1});
  }
  return {};
}

}  // namespace

sqlserver_call read_call(const tds_request& asked) {
  static const known_texts texts = texts_of_dialect();
  sqlserver_call out;
  if (asked.kind != tds_kind::batch && asked.kind != tds_kind::call) {
    out.name = asked.kind == tds_kind::login       ? "login"
               : asked.kind == tds_kind::attention ? "attention"
                                                   : described(asked);
    return out;
  }
  const auto found = texts.find(asked.text);
  if (found == texts.end() || (asked.kind == tds_kind::call && !asked.further.empty())) {
    out.name = described(asked);
    out.known = false;
    return out;
  }
  const known_text& text = found->second;
  out.name = text.name;
  out.rows = text.rows;
  out.hinted = text.hinted;
  out.items.resize(text.rows);
  if (asked.parameters.size() != text.parameters.size()) {
    throw std::runtime_error("another number of parameters than the text has");
  }
  for (std::size_t i = 0; i < text.parameters.size(); ++i) {
    const parameter& place = text.parameters[i];
    const tds_value& value = asked.parameters[i].value;
    if (place.identity) {
      out.own_identity = value;
    } else if (place.item) {
      keep(out.items.at(place.row), text.of->items[place.source].name, value);
    } else {
      keep(out.shared, text.of->shared[place.source].name, value);
    }
  }
  return out;
}

const scripted_queue& sqlserver_script::queue(std::string_view name) {
  return *std::find_if(queues.begin(), queues.end(),
                       [&](const scripted_queue& each) { return each.name == name; });
}

void sqlserver_script::once(std::string_view name, const tds_answer& answer) {
  const std::lock_guard lock(guard_);
  once_[std::string(name)].push_back(answer);
}

void sqlserver_script::always(std::string_view name, const tds_answer& answer) {
  const std::lock_guard lock(guard_);
  always_.insert_or_assign(std::string(name), answer);
}

tds_script sqlserver_script::handlers() {
  const auto say = [this](const tds_request& asked) { return answer(asked); };
  return {.statement = say, .set_up = say, .prepare = {}, .transaction = {}, .login = say};
}

tds_answer sqlserver_script::answer(const tds_request& asked) {
  const sqlserver_call call = read_call(asked);
  {
    const std::lock_guard lock(guard_);
    const auto next = once_.find(call.name);
    if (next != once_.end() && !next->second.empty()) {
      const tds_answer out = next->second.front();
      next->second.pop_front();
      return out;
    }
    const auto set = always_.find(call.name);
    if (set != always_.end()) return set->second;
  }
  return usual(call);
}

namespace sqlserver_rows {

tds_answer messages() {
  return tds_answer().columns({{"id", tds_type::bigint},
                               {"created_at", tds_type::bigint},
                               {"due_at", tds_type::bigint},
                               {"payload", tds_type::varbinary_max}});
}

std::vector<tds_column> delivery_columns() {
  return {{"id", tds_type::bigint},
          {"fence", tds_type::bigint},
          {"attempts", tds_type::integer},
          {"priority", tds_type::integer},
          {"created_at", tds_type::bigint},
          {"claimed_at", tds_type::bigint},
          {"lease_until", tds_type::bigint},
          {"key", tds_type::nvarchar, 200},
          {"group_key", tds_type::nvarchar, 200},
          {"expired", tds_type::integer},
          {"headers", tds_type::nvarchar_max},
          {"payload", tds_type::varbinary_max}};
}

tds_answer deliveries() {
  return tds_answer().columns(delivery_columns());
}

tds_answer deliveries_by_turns() {
  std::vector<tds_column> columns = delivery_columns();
  columns.push_back({"ready_at", tds_type::bigint});
  return tds_answer().columns(columns);
}

std::vector<tds_column> stored_columns() {
  return {{"id", tds_type::bigint},           {"state", tds_type::integer},
          {"priority", tds_type::integer},    {"attempts", tds_type::integer},
          {"created_at", tds_type::bigint},   {"due_at", tds_type::bigint},
          {"claimed_at", tds_type::bigint},   {"finished_at", tds_type::bigint},
          {"key", tds_type::nvarchar, 200},   {"group_key", tds_type::nvarchar, 200},
          {"expires_at", tds_type::bigint},   {"headers", tds_type::nvarchar_max},
          {"errors", tds_type::nvarchar_max}, {"payload", tds_type::varbinary_max}};
}

tds_answer stored() {
  return tds_answer().columns(stored_columns());
}

tds_answer stored_items() {
  std::vector<tds_column> columns = stored_columns();
  columns.insert(columns.begin(), {"item", tds_type::bigint});
  return tds_answer().columns(columns);
}

tds_answer limits() {
  return tds_answer().columns({{"identity", tds_type::bigint},
                               {"kind", tds_type::nvarchar, 20},
                               {"paused", tds_type::integer},
                               {"capacity", tds_type::bigint},
                               {"rate", tds_type::bigint},
                               {"burst", tds_type::bigint},
                               {"concurrency", tds_type::bigint}});
}

tds_answer locked_limits() {
  return tds_answer().columns({{"paused", tds_type::integer},
                               {"rate", tds_type::bigint},
                               {"burst", tds_type::bigint},
                               {"concurrency", tds_type::bigint},
                               {"tokens", tds_type::bigint},
                               {"refilled_at", tds_type::bigint},
                               {"clock", tds_type::bigint}});
}

tds_answer added() {
  return tds_answer().columns({{"item", tds_type::bigint}, {"id", tds_type::bigint}});
}

}  // namespace sqlserver_rows
}  // namespace tableq_test
