#include "core/table/index_report.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "core/input/codec.hpp"
#include "core/seam/driver.hpp"
#include "core/table/indexes.hpp"
#include "core/table/open_table.hpp"

namespace tableq::inline v0::core {
namespace {

/// Some databases cut longer names.
constexpr std::size_t longest_index_name = 63;

std::string hexadecimal(std::uint32_t number) {
  std::array<char, 8> digits{};
  auto* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number, 16).ptr;
  return {digits.data(), end};
}

/// Compares a mapping with its table as that is now.
class index_reader {
 public:
  index_reader(database_state& database, const mapped_table& table)
      : database_(database), identity_(table.identity()) {
    const table_description now = describe(database, table.layout().schema, table.layout().table);
    layout_ = resolve(now, table.mapping());
    indexes_ = indexes_of(database, now);
  }

  [[nodiscard]] const table_layout& layout() const noexcept { return layout_; }

  [[nodiscard]] std::vector<index_need> missing() const {
    const row_text row = [&](const table_condition& each) {
      return text("table.index.rows", whole({each}));
    };
    std::vector<index_need> out = needs_of(layout_);
    std::erase_if(out, [&](const index_need& need) {
      return std::any_of(indexes_.begin(), indexes_.end(), [&](const table_index& each) {
        return serves(each, need, row, layout_.columns, database_.capabilities());
      });
    });
    return out;
  }

  /// The statement that makes the index.
  [[nodiscard]] std::string sql(const index_need& need) const {
    const wanted_index wanted = wanted_for(need, database_.capabilities());
    table_form form = whole(wanted.rows);
    form.order = wanted.columns;
    form.index = free_name(need.of == index_need::purpose::take ? "_tableq_take" : "_tableq_lease");
    return text(wanted.rows.empty() ? "table.index" : "table.index.some", form) + ";";
  }

 private:
  [[nodiscard]] table_form whole(std::vector<table_condition> where) const {
    return {.schema = layout_.schema,
            .table = layout_.table,
            .columns = &layout_.columns,
            .where = std::move(where)};
  }
  [[nodiscard]] std::string text(std::string_view block, const table_form& form) const {
    return table_texts_for(database_.name(), block, form).own_clock.many;
  }

  /// A name that no index of the table has. Names in a schema are unique: of a long name that is
  /// cut, a number keeps what is lost.
  [[nodiscard]] std::string free_name(const std::string& ending) const {
    for (int number = 1;; ++number) {
      std::string end = ending;
      if (number > 1) end += std::to_string(number);
      std::string name = layout_.table + end;
      if (name.size() > longest_index_name) {
        end = "_" + hexadecimal(static_cast<std::uint32_t>(identity_)) + end;
        name = to_plain_utf8(layout_.table, longest_index_name - end.size()) + end;
      }
      const auto taken = [&](const table_index& each) {
        return equal_but_for_case(each.name, name);
      };
      if (std::none_of(indexes_.begin(), indexes_.end(), taken)) return name;
    }
  }

  database_state& database_;
  std::int64_t identity_;
  table_layout layout_;
  std::vector<table_index> indexes_;
};

finding missing_index(const index_reader& table, const index_need& need) {
  const bool takes = need.of == index_need::purpose::take;
  return {finding::level::warning, table.layout().table,
          takes ? "no index serves the take, which then reads and sorts the waiting rows, or the "
                  "whole table"
                : "no index serves the search for leases that have ended, which then reads the "
                  "taken rows, or the whole table",
          "run the SQL of `tableq ddl --for MAPPING`: " + table.sql(need)};
}

/// Columns whose NULL makes a row that nobody finds.
void add_hidden_by_null(const table_layout& table, std::vector<finding>& out) {
  const auto tell = [&](std::size_t column, const std::string& effect, const std::string& fix) {
    if (table.columns[column].required) return;
    out.push_back({finding::level::warning, table.table,
                   "the column " + table.columns[column].name + " may be NULL; " + effect, fix});
  };
  for (const auto& each : {table.state, table.done}) {
    if (!each || each->rules.is == table_state::form::time) continue;
    tell(each->column, "a row with NULL there is never taken",
         "make the column NOT NULL, by default with the value of waiting rows");
  }
  if (table.priority) {
    tell(*table.priority, "databases differ in whether such a row comes first or last",
         "make the column NOT NULL, by default 0");
  }
  for (const std::size_t each : table.key) {
    tell(each, "a row with NULL there is never taken", "make the column NOT NULL");
  }
}

/// Without a time to wait for, a worker takes a failed row again at once.
void add_without_rest(const table_layout& table, const table_mapping& mapping,
                      std::vector<finding>& out) {
  if (table.due_at || !table.guarantee().settles) return;
  const std::string effect =
      mapping.max_attempts
          ? "while something that the work needs is away, rows use up their " +
                std::to_string(*mapping.max_attempts) + " attempts within moments and are dead"
          : "a row that fails is tried again and again without a pause";
  out.push_back({finding::level::warning, table.table,
                 "the mapping has no due_at, so a failed row waits again at once: " + effect,
                 "name a column of times for due_at, or let the handler wait before it fails"});
}

/// Times that the database fills in by a zone, and that are read as UTC. Only those that decide
/// when a row is taken.
void add_local_defaults(const table_layout& table, std::vector<finding>& out) {
  std::vector<std::size_t> times;
  for (const auto& each : {table.due_at, table.taken_at, table.lease_until}) {
    if (each) times.push_back(*each);
  }
  for (const auto& each : {table.state, table.done}) {
    if (each && each->rules.is == table_state::form::time) times.push_back(each->column);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  for (const std::size_t each : times) {
    const table_column& column = table.columns[each];
    if (!has_trait(column, "zoned")) continue;
    out.push_back({finding::level::warning, table.table,
                   "the column " + column.name + " has the type " + column.declared +
                       ", which is read as UTC, and its default is the local time of a zone: rows "
                       "come early or late by the distance of that zone",
                   "give it a default in UTC, or a type with a zone"});
  }
}

}  // namespace

std::string missing_indexes(database_state& database, const mapped_table& table) {
  const index_reader found(database, table);
  std::string out;
  for (const index_need& each : found.missing()) out += found.sql(each) + "\n";
  return out;
}

std::vector<finding> inspect(database_state& database, const mapped_table& table) {
  const index_reader found(database, table);
  std::vector<finding> out;
  for (const index_need& each : found.missing()) out.push_back(missing_index(found, each));
  add_hidden_by_null(found.layout(), out);
  add_without_rest(found.layout(), table.mapping(), out);
  add_local_defaults(found.layout(), out);
  if (out.empty()) {
    out.push_back({finding::level::ok, found.layout().table, found.layout().guarantee().words, {}});
  }
  return out;
}

}  // namespace tableq::inline v0::core
