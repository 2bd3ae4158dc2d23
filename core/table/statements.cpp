#include "core/table/statements.hpp"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "core/base/process.hpp"
#include "core/seam/driver.hpp"
#include "core/seam/statements.hpp"
#include "core/table/row_rules.hpp"

namespace tableq::inline v0::core {
namespace {

using condition = table_condition::kind;
using term = table_term::kind;
using assignments = row_rules::assignments;
using conditions = row_rules::conditions;

/// The characters that a column keeps of the failures of its row.
constexpr std::int64_t most_of_errors = 8000;

/// The same number for the same text in this process.
std::uint64_t slot_for(std::string text) {
  constexpr std::uint64_t apart = std::uint64_t{1} << 40U;  // from the slots of queues
  const std::scoped_lock hold(process_wide());
  static std::map<std::string, std::uint64_t> slots;  // process_wide() guards it
  return apart + slots.try_emplace(std::move(text), slots.size()).first->second;
}

/// @param first in the list of statements.
std::vector<field> fields_of(std::span<const field> first, std::span<const field> further) {
  std::vector<field> out(first.begin(), first.end());
  out.insert(out.end(), further.begin(), further.end());
  return out;
}

value_type wire_type(const table_column& column) {
  switch (type_of(column)) {
    case column_type::integer:
    case column_type::boolean:
    case column_type::time:
      return value_type::integer;
    case column_type::bytes:
      return value_type::bytes;
    case column_type::number:
    case column_type::text:
      break;
  }
  return value_type::text;
}

}  // namespace

mapped_statement::mapped_statement(std::string_view dialect, std::string_view block, statement id,
                                   const table_form& form, std::span<const field> shared,
                                   std::span<const field> columns, std::vector<value> constants)
    : shared_(fields_of(contract_of(id).shared, shared)),
      items_(form.items),
      columns_(fields_of(contract_of(id).columns, columns)),
      constants_(std::move(constants)),
      texts_(table_texts_for(dialect, block, form)),
      contract_(contract_of(id)) {
  contract_.shared = shared_;
  contract_.items = items_;
  contract_.columns = columns_;
  contract_.fence_at = place_among(items_, "fence");
  contract_.exact = form.strict;
  contract_.texts = &texts_;
  std::string all = texts_.own_clock.many + texts_.own_clock.one;
  for (const field& each : shared_) all.append(each.name).append(",");
  contract_.slot = slot_for(std::move(all));
}

std::vector<value> mapped_statement::shared(std::span<const value> given) const {
  std::vector<value> out(given.begin(), given.end());
  out.insert(out.end(), constants_.begin(), constants_.end());
  return out;
}

/// Makes the statements of one table.
class statement_maker {
 public:
  explicit statement_maker(const mapped_statements& of)
      : of_(of), layout_(of.layout_), rules_(of.layout_) {}

  void make(mapped_statements& out) {
    out.take = take();
    out.peek = peek();
    out.ready = count(rules_.ready());
    if (layout_.due_at) {
      out.delayed = count(rules_.delayed());
      out.next_due = next(*layout_.due_at, rules_.delayed());
    }
    if (layout_.removes()) return;
    out.complete = complete();
    out.fail = fail();
    out.release = release();
    out.lost = settle(statement::table_lost, "table.lost", {});
    if (layout_.done || layout_.state->rules.done) out.done = count(rules_.done());
    if (tells_dead()) out.dead = count(rules_.dead());
    if (taken_at()) out.requeue = requeue();
    if (!layout_.lease_until) return;
    out.leased = count(rules_.running());
    out.expired = count(rules_.expired());
    const assignments later{{*layout_.lease_until, from_now("lease")}};
    out.extend = settle(statement::table_extend, "table.settle", later);
    out.keep = settle(statement::table_keep, "table.keep", later);
    out.expire = expire();
    out.next_lease = next(*layout_.lease_until, rules_.taken());
  }

  /// @param columns of an insert.
  [[nodiscard]] mapped_statements::one insert(std::vector<std::size_t> columns) {
    table_form form = whole({});
    form.read = of_.read_;
    std::vector<field> shared;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      shared.push_back({numbered_name("v", i), wire_type(layout_.columns[columns[i]])});
    }
    form.written = std::move(columns);
    return made(statement::table_insert, "table.insert", form, std::move(shared));
  }

 private:
  [[nodiscard]] table_form whole(conditions where, assignments set = {}) const {
    return {.schema = layout_.schema,
            .table = layout_.table,
            .columns = &layout_.columns,
            .key = layout_.key,
            .where = std::move(where),
            .set = std::move(set),
            .order = layout_.order};
  }

  [[nodiscard]] mapped_statements::one made(statement id, std::string_view block,
                                            const table_form& form,
                                            std::vector<field> shared = {}) {
    std::vector<value> constants;
    std::vector<field> columns;
    for (std::size_t i = 0; i < form.read.size(); ++i) {
      columns.push_back({numbered_name("tableq_", i), wire_type(layout_.columns[form.read[i]])});
    }
    for (const auto& [name, text] : rules_.used_texts()) {
      shared.push_back({name, value_type::text});
      constants.push_back(to_value(text));
    }
    return std::make_unique<const mapped_statement>(of_.dialect_, block, id, form, shared, columns,
                                                    std::move(constants));
  }

  mapped_statements::one take() {
    table_form form = whole(rules_.ready(), layout_.removes() ? assignments() : rules_.take());
    form.read = of_.read_;
    form.strict = layout_.ordering == ordering::strict;
    return made(statement::table_take, layout_.removes() ? "table.remove" : "table.take", form);
  }

  mapped_statements::one peek() {
    table_form form = whole(rules_.ready());
    form.read = of_.read_;
    return made(statement::table_peek, "table.peek", form);
  }

  mapped_statements::one settle(statement id, std::string_view block, assignments change,
                                bool may_die = false) {
    table_form form = whole(rules_.held(), std::move(change));
    for (std::size_t i = 0; i < layout_.key.size(); ++i) {
      form.items.push_back({numbered_name("key_", i), wire_type(layout_.columns[layout_.key[i]])});
    }
    form.items = fields_of(form.items, contract_of(id).items);
    if (may_die) {
      form.dead = rules_.exhausted();
      form.may_give_up = true;
    }
    return made(id, block, form);
  }

  mapped_statements::one complete() {
    const bool removes = layout_.completed == on_complete::remove;
    return settle(statement::table_complete, removes ? "table.delete" : "table.settle",
                  removes ? assignments() : rules_.complete());
  }

  mapped_statements::one fail() {
    assignments change = rules_.back(true);
    if (layout_.due_at) row_rules::set(change, {*layout_.due_at, from_now("delay")});
    note_error(change);
    return settle(statement::table_fail, "table.settle", std::move(change), true);
  }
  void note_error(assignments& in) const {
    constexpr std::string_view cause = "error";
    if (layout_.last_error) {
      row_rules::set(in, {*layout_.last_error, {.is = term::given, .parameter = cause}});
    }
    if (layout_.errors) {
      row_rules::set(in, {*layout_.errors,
                          {.is = term::history, .number = most_of_errors, .parameter = cause}});
    }
  }

  mapped_statements::one release() {
    assignments change = rules_.back(false);
    if (layout_.attempts) {
      row_rules::set(change, {*layout_.attempts, {.is = term::changed, .number = -1}});
    }
    return settle(statement::table_release, "table.settle", std::move(change));
  }

  mapped_statements::one expire() {
    const conditions last = rules_.exhausted();
    table_form form = whole(rules_.expired(), rules_.back(!last.empty()));
    form.dead = last;
    note_error(form.set);
    return made(statement::table_return, "table.return", form);
  }

  mapped_statements::one requeue() {
    table_form form = whole(rules_.stuck(), rules_.back(false));
    form.where.push_back(
        {*taken_at(), condition::at_most, {.is = term::clock_minus, .parameter = "age"}});
    return made(statement::table_requeue, "table.return", form);
  }
  /// The column with the time of the last take.
  [[nodiscard]] std::optional<std::size_t> taken_at() const {
    if (layout_.taken_at) return layout_.taken_at;
    const bool told = layout_.state->rules.is == table_state::form::time &&
                      layout_.lease_until != layout_.state->column;
    return told ? std::optional(layout_.state->column) : std::nullopt;
  }

  [[nodiscard]] bool tells_dead() const {
    if (layout_.state->rules.dead) return true;
    // A row that was completed, and left as it is, looks like a dead one.
    if (layout_.completed == on_complete::leave) return false;
    return layout_.max_attempts || (layout_.lease_until && !layout_.lease_tells());
  }

  mapped_statements::one count(conditions where) {
    return made(statement::table_count, "table.count", whole(std::move(where)));
  }
  mapped_statements::one next(std::size_t column, conditions where) {
    table_form form = whole(std::move(where));
    // A partial index of the rows with a time serves only rows that are known to have one.
    form.where.push_back({column, condition::not_null});
    form.timed = column;
    form.order = {{column, false}};
    return made(statement::table_next, "table.next", form);
  }

  const mapped_statements& of_;
  const table_layout& layout_;
  row_rules rules_;
};

mapped_statements::mapped_statements(std::string dialect, table_layout layout)
    : dialect_(std::move(dialect)), layout_(std::move(layout)), read_(layout_.shown) {
  const auto also = [&](std::size_t column) {
    if (std::find(read_.begin(), read_.end(), column) == read_.end()) read_.push_back(column);
  };
  for (const std::size_t each : layout_.key) also(each);
  for (const table_order& each : layout_.order) also(each.column);
  for (const auto& each :
       {layout_.fence, layout_.attempts, layout_.lease_until, layout_.priority}) {
    if (each) also(*each);
  }
  statement_maker(*this).make(*this);
}

std::size_t mapped_statements::place_of(std::size_t column) const {
  return static_cast<std::size_t>(std::find(read_.begin(), read_.end(), column) - read_.begin());
}

mapped_statements::one mapped_statements::insert(std::vector<std::size_t> columns) const {
  return statement_maker(*this).insert(std::move(columns));
}

}  // namespace tableq::inline v0::core
