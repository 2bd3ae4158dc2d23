#include "drivers/sqlserver_script.hpp"

#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>

#include <tableq/unstable/dialect.hpp>

#include "core/input/identifier.hpp"
#include "core/seam/contract.hpp"
#include "drivers/dialect_texts.hpp"
#include "drivers/text.hpp"

namespace tableq_test {
namespace {

using tableq::kind;
using tableq::core::contract;
using tableq::drivers::parameter;

struct scripted_queue {
  std::string_view name;
  tableq::kind kind;
  std::string_view options;
};

constexpr std::array queues{
    scripted_queue{"heap", kind::heap, ""},
    scripted_queue{"fifo", kind::fifo, "ordering=relaxed"},
    scripted_queue{"lifo", kind::lifo, "ordering=relaxed"},
    scripted_queue{"pending", kind::pending, ""},
    scripted_queue{"claim", kind::claim, "lease_ms=30000 max_attempts=5 keep=0"},
    scripted_queue{"strict_fifo", kind::fifo, "ordering=strict"},
    scripted_queue{"strict_lifo", kind::lifo, "ordering=strict"},
    scripted_queue{"grouped", kind::claim, "lease_ms=30000 max_attempts=5 keep=0 groups_hold=1"},
};

/// The statement behind a text of the wire.
struct known_text {
  std::string name;
  const contract* of = nullptr;
  std::vector<parameter> parameters = {};
  std::size_t rows = 0;
};
using known_texts = std::map<std::string, known_text, std::less<>>;

/// The drivers' form of parameters.
std::string numbered(std::string_view sql) {
  std::string out;
  for (int number = 1;; ++number) {
    const std::size_t mark = sql.find('?');
    out += sql.substr(0, mark);
    if (mark == std::string_view::npos) return out;
    out += "@P" + std::to_string(number);
    sql.remove_prefix(mark + 1);
  }
}

bool concerns(const contract& of, tableq::kind which) {
  constexpr std::array all{"catalog.", "table.", "queue.", "doctor.", "limits.", "session."};
  return of.name.starts_with(std::string(to_string(which)) + ".") ||
         std::ranges::any_of(all, [&](const char* each) { return of.name.starts_with(each); });
}

class text_collector {
 public:
  text_collector() {
    texts_.definition = definition_;
    texts_.learn();
    for (const scripted_queue& each : queues) {
      // Before the schema of the catalogue is known, and afterwards.
      for (const char* schema : {"", "dbo"}) add_queue(each, schema);
    }
    known_[definition_.setup.at(0)] = {.name = "setup"};
    known_[definition_.begin] = {.name = "begin"};
    known_["COMMIT"] = {.name = "commit"};
    known_[definition_.rollback] = {.name = "rollback"};
    known_[definition_.transaction_state] = {.name = "transaction_state"};
    known_[definition_.read_only_state] = {.name = "read_only_state"};
  }
  known_texts take() { return std::move(known_); }

 private:
  void add_queue(const scripted_queue& each, const std::string& schema) {
    using tableq::drivers::clock_source;
    const auto names = tableq::core::names_for({.schema_name = schema}, each.name);
    for (const contract& of : tableq::core::contracts()) {
      if (!concerns(of, each.kind)) continue;
      for (const clock_source clock : {clock_source::database, clock_source::given}) {
        add(texts_.of_queue(clock, names), of, names);
      }
    }
    for (const std::string_view part : {std::string_view("catalog"), to_string(each.kind)}) {
      const auto ddl =
          tableq::drivers::fill_names(definition_.ddl.at(std::string(part)), definition_, names);
      for (const std::string& one : tableq::drivers::split_script(ddl)) {
        known_[one] = {.name = "ddl." + std::string(part)};
      }
    }
  }
  void add(const tableq::drivers::blocks& blocks, const contract& of,
           const tableq::core::table_names& names) {
    const auto block = blocks.find(of.name);
    if (block == blocks.end()) return;
    const std::vector<std::size_t> once{1};
    for (const std::string& sent :
         {tableq::drivers::without_hints(definition_, block->second), block->second}) {
      const std::string filled = tableq::drivers::fill_names(sent, definition_, names);
      for (const std::size_t rows : of.items.empty() ? once : definition_.row_counts) {
        auto text = tableq::drivers::compile(filled, of,
                                             {.markers = tableq::drivers::marker::question,
                                              .batches = definition_.batches,
                                              .arrays = false,
                                              .rows = rows});
        known_[numbered(text.sql)] = {std::string(of.name), &of, std::move(text.parameters),
                                      of.items.empty() ? 0 : rows};
      }
    }
  }

  tableq::dialect definition_ = tableq::find_dialect("sqlserver");
  tableq::drivers::dialect_texts texts_;
  known_texts known_;
};

const known_texts& all_texts() {
  static const known_texts texts = text_collector().take();
  return texts;
}

void keep(named_values& in, std::string_view name, const tds_value& value) {
  const auto [place, added] = in.emplace(name, value);
  if (!added && place->second != value) {
    throw std::runtime_error(std::string(name) + " is not the same in each of its places");
  }
}

tds_answer catalogue(const sqlserver_call& call) {
  const bool one = call.name == "catalog.queue";
  tds_answer out =
      with_columns(std::string("name:n identity kind:n layout:i options:n created_at") +
                   (one ? " present:i" : ""));
  const auto wanted = call.shared.find("name");
  const auto asked_for = [&](std::string_view name) {
    return wanted == call.shared.end() || wanted->second == tds_value(std::string(name));
  };
  if (asked_for("tableq")) out.row({"tableq", 0, "catalogue", 1, "", 1});
  for (const scripted_queue& each : queues) {
    if (!asked_for(each.name)) continue;
    std::vector<tds_value> row{std::string(each.name),
                               sqlserver_script::identity_of(each.name),
                               std::string(to_string(each.kind)),
                               1,
                               std::string(each.options),
                               1};
    if (one) row.emplace_back(1);
    out.row(std::move(row));
  }
  return out;
}

/// Every item has succeeded.
tds_answer done_for_each(const sqlserver_call& call) {
  constexpr std::array signs{"id", "payload", "key", "group"};
  const bool adds = !call.items.front().contains("id");
  const bool numbers_items = !adds || call.name.starts_with("claim.");
  tds_answer out = with_columns("item id state:i");
  for (std::int64_t item = 0; const named_values& each : call.items) {
    const auto* const given =
        std::ranges::find_if(signs, [&](auto name) { return each.contains(name); });
    const tds_value& sign = each.at(*given);
    if (!std::holds_alternative<std::nullptr_t>(sign)) {
      out.row(
          {numbers_items ? tds_value(item) : tds_value(), adds ? tds_value(100 + item) : sign, 0});
    }
    ++item;
  }
  return out;
}

tds_answer limits_of(const sqlserver_call& call) {
  tds_answer out =
      with_columns("identity kind:n paused:i capacity rate burst concurrency options:n latest:i");
  for (const scripted_queue& each : queues) {
    if (call.shared.at("queue") != tds_value(std::string(each.name))) continue;
    out.row({sqlserver_script::identity_of(each.name), std::string(to_string(each.kind)), nullptr,
             nullptr, nullptr, nullptr, nullptr, std::string(each.options), 1});
  }
  return out;
}

struct usual_answer {
  std::string_view ending;  ///< Of the statement's name; the first that fits counts.
  std::string_view columns;
  std::vector<tds_value> row = {};
};

constexpr std::string_view stored_columns =
    "item id state:i priority:i attempts:i created_at due_at claimed_at finished_at key:n "
    "group_key:n expires_at headers:m errors:m payload:b";

tds_answer usual(const sqlserver_call& call) {
  static const std::vector<usual_answer> answers{
      {"catalog.exists", "present:i schema:n sharded:i narrow:i", {1, "dbo", 0, 0}},
      {".exists", "present", {1}},
      {"session.identity", "database:n", {"server 5 today"}},
      {"claim.find_key", "item id"},
      {"claim.get", stored_columns},
      {"claim.take", delivery_columns},
      {"claim.peek", stored_columns.substr(5)},
      {".peek", message_columns},
      {".dequeue", message_columns},
      {".dequeue_strict", message_columns},
      {".purge", "id state:i"},
      {"claim.due", "id group_key:n"},
      {".promote", "id state:i"},
      {"queue.try_lock", "item held:i"},
      {".next_due", "delay", {0}},
      {"limits.lock", "paused:i rate burst concurrency tokens refilled_at clock"},
      {"limits.held", "paused:i rate burst concurrency tokens refilled_at clock"},
      {".count", "number", {0}},
      {".leased", "number", {0}},
      {"claim.stats",
       "ready due delayed leased held done dead oldest last_id as_of",
       {1, 0, 2, 3, 0, 4, 5, nullptr, 15, 1}},
      {".stats", "waiting delayed oldest last_id as_of", {3, 2, nullptr, 7, 1}},
  };
  const auto is = [&](std::string_view end) { return call.name.ends_with(end); };
  if (!call.known) throw std::runtime_error("this is no text of the dialect");
  if (is("catalog.queue") || is("catalog.find") || is("catalog.list")) return catalogue(call);
  if (is("limits.read") || is("limits.ask")) return limits_of(call);
  const auto found =
      std::ranges::find_if(answers, [&](const auto& each) { return is(each.ending); });
  if (found != answers.end()) {
    tds_answer out = with_columns(found->columns);
    return found->row.empty() ? out : out.row(found->row);
  }
  const bool locks = is("queue.lock") || is("queue.lock_briefly");
  return call.rows > 0 && !locks ? done_for_each(call) : tds_answer();
}

}  // namespace

std::vector<tds_column> columns_of(std::string_view names) {
  static const std::map<char, tds_type> types{{'i', tds_type::integer},
                                              {'n', tds_type::nvarchar},
                                              {'m', tds_type::nvarchar_max},
                                              {'b', tds_type::varbinary_max},
                                              {'u', tds_type::utf16}};
  std::vector<tds_column> out;
  std::istringstream stream{std::string(names)};
  for (std::string word; stream >> word;) {
    const std::size_t end = std::min(word.find(':'), word.size());
    out.push_back(
        {word.substr(0, end), end == word.size() ? tds_type::bigint : types.at(word[end + 1])});
  }
  return out;
}

sqlserver_call read_call(const tds_request& asked) {
  sqlserver_call out;
  if (asked.kind != tds_kind::batch && asked.kind != tds_kind::call) {
    out.name = asked.kind == tds_kind::login       ? "login"
               : asked.kind == tds_kind::attention ? "attention"
                                                   : described(asked);
    return out;
  }
  const auto found = all_texts().find(asked.text);
  if (found == all_texts().end()) return {.name = described(asked), .known = false};
  const known_text& text = found->second;
  out.name = text.name;
  out.rows = text.rows;
  out.items.resize(text.rows);
  if (asked.parameters.size() != text.parameters.size()) {
    throw std::runtime_error("another number of parameters than the text has");
  }
  for (std::size_t i = 0; i < text.parameters.size(); ++i) {
    const parameter& place = text.parameters[i];
    const tds_value& value = asked.parameters[i].value;
    if (place.item) {
      keep(out.items.at(place.row), text.of->items[place.source].name, value);
    } else {
      const std::string_view name = place.identity ? "own identity"
                                    : place.clock  ? "now"
                                                   : text.of->shared[place.source].name;
      keep(out.shared, name, value);
    }
  }
  return out;
}

std::int64_t sqlserver_script::identity_of(std::string_view queue) {
  const auto* const found =
      std::ranges::find_if(queues, [&](const auto& each) { return each.name == queue; });
  return 7001 + (found - queues.begin());
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
  // Takes seconds. Later they would be a part of a client's time for its login.
  all_texts();
  const auto say = [this](const tds_request& asked) { return answer(asked); };
  return {.statement = say, .login = say};
}

tds_answer sqlserver_script::answer(const tds_request& asked) {
  const sqlserver_call call = read_call(asked);
  const std::lock_guard lock(guard_);
  if (auto& next = once_[call.name]; !next.empty()) {
    const tds_answer out = next.front();
    next.pop_front();
    return out;
  }
  const auto set = always_.find(call.name);
  if (set != always_.end()) return set->second;
  return usual(call);
}

}  // namespace tableq_test
