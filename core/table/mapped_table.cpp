#include "core/table/mapped_table.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <compare>
#include <cstdint>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/base/stable_hash.hpp"
#include "core/claim/lease_table.hpp"
#include "core/input/validate.hpp"
#include "core/queue/effects.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

[[noreturn]] void refuse_key() {
  refuse("the receipt's key is not one that this table has given");
}

/// Takes a number and the sign after it from the beginning of a text.
template <class Number>
Number number_before(std::string_view& text, char sign) {
  Number out{};
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), out);
  const auto length = static_cast<std::size_t>(end - text.data());
  if (failure != std::errc() || length >= text.size() || text[length] != sign) refuse_key();
  text.remove_prefix(length + 1);
  return out;
}

constexpr std::string_view expired = "lease expired";
constexpr std::string_view state_role = "column that tells what waits";

std::int64_t hash_of(const table_layout& layout) {
  // No UTF-8 contains this byte.
  std::string all = layout.schema + '\xff' + layout.table + '\xff';
  for (const std::size_t each : layout.key) all += layout.columns[each].name + '\xff';
  return static_cast<std::int64_t>(stable_hash(all) >> 1U);
}

std::shared_ptr<const row_columns> shown_columns(const table_layout& layout) {
  auto out = std::make_shared<row_columns>();
  for (const std::size_t each : layout.shown) {
    out->push_back({layout.columns[each].name, type_of(layout.columns[each])});
  }
  return out;
}

double parsed_number(const std::string& text) {
  double out = 0;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

/// NULL comes first, then numbers, then texts by their bytes.
std::partial_ordering compare_cells(const cell& a, const cell& b, column_type type) {
  if (a.index() != b.index()) return a.index() <=> b.index();
  if (const auto* number = std::get_if<std::int64_t>(&a)) {
    return *number <=> std::get<std::int64_t>(b);
  }
  if (const auto* text = std::get_if<std::string>(&a)) {
    const auto& other = std::get<std::string>(b);
    if (type == column_type::number) return parsed_number(*text) <=> parsed_number(other);
    return *text <=> other;
  }
  return std::partial_ordering::equivalent;
}

/// Whether a value is stored as its type wants it. Plain SQL may have written any.
bool stored_as(column_type type, const cell& held) {
  return row_field({}, type, held).is_stored_well();
}

template <class Number>
Number clamped(std::int64_t number) {
  return static_cast<Number>(std::clamp<std::int64_t>(number, std::numeric_limits<Number>::min(),
                                                      std::numeric_limits<Number>::max()));
}

/// The numbers from 0 on.
std::vector<std::size_t> numbered_places(std::size_t count) {
  std::vector<std::size_t> out(count);
  std::iota(out.begin(), out.end(), std::size_t{0});
  return out;
}

/// The rows of a settlement: the item, and its state.
std::vector<changed_message> to_changed(row_set rows, const receipts_view& receipts) {
  std::vector<changed_message> out;
  out.reserve(rows.size());
  for (const auto& each : rows_of<changed_row, held_row_item>(std::move(rows))) {
    out.push_back({.item = each.item, .id = receipts[each.item].id, .state = each.state});
  }
  return out;
}

/// Adds one item: the values of the key, and those after it.
template <class Item>
void add_item(std::vector<value>& items, const receipt& held, std::size_t key_columns,
              const Item& more) {
  const std::vector<value> first = read_key(held.key, key_columns);
  items.insert(items.end(), first.begin(), first.end());
  const auto rest = values_of(more);
  items.insert(items.end(), rest.begin(), rest.end());
}

/// Rows that one statement makes wait again.
constexpr std::size_t requeue_batch = 1000;
/// Different sets of columns in the inserts of one handle.
constexpr std::size_t most_inserts = 100;

/// Whether a value of one type can be written into a column of another.
bool converts(column_type from, column_type into) {
  if (from == into) return true;
  switch (into) {
    case column_type::number:
    case column_type::boolean:
      return from == column_type::integer;
    case column_type::bytes:
      return from == column_type::text;
    case column_type::integer:
      return from == column_type::boolean || from == column_type::time;
    case column_type::text:
    case column_type::time:
      break;
  }
  return false;
}

/// Values that some database would cut or lose without an error.
void check_value(const row_value& given, const table_column& column) {
  constexpr timestamp first = std::chrono::sys_days(std::chrono::year(1) / 1 / 1);
  constexpr timestamp last = std::chrono::sys_days(std::chrono::year(10000) / 1 / 1);
  if (given.type() == column_type::time &&
      (given.get<timestamp>() < first || given.get<timestamp>() >= last)) {
    refuse("the value for the column " + column.name + " must lie in the years 1 to 9999");
  }
  if (given.type() == column_type::text &&
      given.get<std::string>().find('\0') != std::string::npos) {
    refuse("the value for the column " + column.name +
           " is text with a NUL character; store it as bytes, or without it");
  }
}

/// A value of a new row, for its column.
row_value fitting(row_value given, const table_column& column) {
  const column_type into = type_of(column);
  if (given.is_null()) return row_value::null(into);
  check_value(given, column);
  if (!converts(given.type(), into)) {
    refuse("the value for the column " + column.name + " is " +
           std::string(to_string(given.type())) + "; the column has the type " + column.declared +
           ", " + std::string(to_string(into)));
  }
  if (into == column_type::number && given.type() == column_type::integer) {
    return row_value::decimal(std::to_string(given.get<std::int64_t>()));
  }
  return given;
}

}  // namespace

bool append_key(std::string& key, const cell& column) {
  if (const auto* number = std::get_if<std::int64_t>(&column)) {
    key.append("i").append(std::to_string(*number)).append(";");
    return true;
  }
  const auto* text = std::get_if<std::string>(&column);
  if (text == nullptr) return false;
  key.append("t").append(std::to_string(text->size())).append(":").append(*text);
  return true;
}

std::vector<value> read_key(std::string_view key, std::size_t columns) {
  std::vector<value> out;
  while (!key.empty()) {
    const char sort = key.front();
    key.remove_prefix(1);
    if (sort == 'i') {
      out.emplace_back(number_before<std::int64_t>(key, ';'));
    } else if (sort == 't') {
      const auto length = number_before<std::size_t>(key, ':');
      if (length > key.size()) refuse_key();
      out.emplace_back(key.substr(0, length));
      key.remove_prefix(length);
    } else {
      refuse_key();
    }
  }
  if (out.size() != columns) refuse_key();
  return out;
}

void lacks(const queue_state& queue, std::string_view column) {
  throw error(errc::unsupported, advice::never,
              "the mapping of the table " + queue.names().table + " has no " + std::string(column) +
                  ", which this operation needs",
              {.backend = queue.database().name()});
}

mapped_table::mapped_table(std::string dialect, table_layout layout, table_mapping mapping)
    : lease_table(
          {.delays = layout.due_at.has_value(), .dead = !layout.lease_tells(), .rule = false}),
      mapping_(std::move(mapping)),
      made_(std::move(dialect), std::move(layout)),
      identity_(hash_of(made_.layout())),
      shown_(shown_columns(made_.layout())) {}

row mapped_table::shown(const row_set& rows, std::size_t at) const {
  std::vector<row_cell> cells;
  cells.reserve(shown_->size());
  std::shared_ptr<row_columns> others;  // if a value is not of its column's type
  for (std::size_t i = 0; i < shown_->size(); ++i) {
    cells.push_back(rows.at(at, i + 1));
    if (stored_as((*shown_)[i].type, cells.back())) continue;
    if (others == nullptr) others = std::make_shared<row_columns>(*shown_);
    const bool number = std::holds_alternative<std::int64_t>(cells.back());
    (*others)[i].type = number ? column_type::integer : column_type::text;
  }
  if (others != nullptr) return {std::move(others), std::move(cells)};
  return {shown_, std::move(cells)};
}

delivery mapped_table::to_delivery(const row_set& rows, std::size_t at) const {
  const table_layout& mine = layout();
  const auto number = [&](const std::optional<std::size_t>& column, std::int64_t otherwise) {
    if (!column) return otherwise;
    return rows.maybe_integer(at, made_.place_of(*column) + 1).value_or(otherwise);
  };
  delivery out;
  out.receipt.queue = identity_;
  out.receipt.fence = number(mine.fence, 0);
  for (const std::size_t each : mine.key) {
    append_key(out.receipt.key, rows.at(at, made_.place_of(each) + 1));
  }
  if (mine.key.size() == 1) out.receipt.id.value = number(mine.key.front(), 0);
  out.priority = clamped<std::int32_t>(number(mine.priority, 0));
  out.attempt = clamped<int>(number(mine.attempts, 1));
  const std::int64_t never = timestamp::max().time_since_epoch().count();
  out.lease_until = timestamp(std::chrono::milliseconds(number(mine.lease_until, never)));
  out.row = shown(rows, at);
  return out;
}

std::vector<std::size_t> mapped_table::in_order(const row_set& rows) const {
  std::vector<std::size_t> out = numbered_places(rows.size());
  std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
    if (rows.integer(a, 0) != rows.integer(b, 0)) return rows.integer(a, 0) < rows.integer(b, 0);
    for (const table_order& each : layout().order) {
      const std::size_t at = made_.place_of(each.column) + 1;
      const auto order =
          compare_cells(rows.at(a, at), rows.at(b, at), type_of(layout().columns[each.column]));
      if (order != 0) return each.descending ? order > 0 : order < 0;
    }
    return false;
  });
  return out;
}

bool mapped_table::time_to_look(const queue_state& queue) const {
  if (made_.expire == nullptr) return false;
  if (queue.database().set_clock()) return true;  // A test that sets the clock.
  const std::chrono::steady_clock::duration between =
      std::min<std::chrono::milliseconds>(layout().lease / 4, std::chrono::seconds(1));
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  auto last = looked_at_.load();
  if (last != 0 && now - last < between.count()) return false;
  return looked_at_.compare_exchange_strong(last, now);
}

taken_messages mapped_table::take(const queue_state& queue, transaction_state* tx,
                                  const take_terms& terms) const {
  if (terms.claimed_at) lacks(queue, "claimed_at");
  // Nothing: the caller promotes, and reads again.
  if (terms.how != reading::plain && time_to_look(queue)) return {.due = true};
  const row_set rows =
      run(queue, tx, made_.take,
          take_request{.max = terms.max, .lease = terms.lease, .token = fence_token()});
  taken_messages out;
  out.good.reserve(rows.size());
  for (const std::size_t each : in_order(rows)) out.good.push_back(to_delivery(rows, each));
  out.due = terms.how != reading::plain && rows.empty();
  return out;
}

std::vector<changed_message> mapped_table::promote(
    const queue_state& queue, transaction_state* tx, std::size_t max,
    std::optional<std::string_view> /*locked*/) const {
  if (made_.expire == nullptr) return {};
  std::vector<changed_message> out;
  for (const changed_row& each : rows_of<changed_row>(
           run(queue, tx, made_.expire, expire_rows_request{.max = max, .error = expired}))) {
    out.push_back({.state = each.state});
  }
  return out;
}

std::optional<std::chrono::milliseconds> mapped_table::next_due(const queue_state& queue) const {
  std::optional<std::chrono::milliseconds> out;
  for (const auto* each : {&made_.next_lease, &made_.next_due}) {
    if (*each == nullptr) continue;
    const auto found = rows_of<delay_row>(run(queue, nullptr, *each, nothing()));
    if (found.empty() || !found.front().delay) continue;
    out = std::min(out.value_or(*found.front().delay), *found.front().delay);
  }
  return out;
}

template <class Request>
std::vector<changed_message> mapped_table::settle(const queue_state& queue, transaction_state* tx,
                                                  const mapped_statements::one& what,
                                                  const receipts_view& receipts,
                                                  const Request& request) const {
  std::vector<value> items;
  for (std::size_t i = 0; i < receipts.size(); ++i) {
    add_item(items, receipts[i], layout().key.size(), held_row_item{receipts[i].fence});
  }
  return to_changed(run(queue, tx, what, request, items), receipts);
}

std::vector<changed_message> mapped_table::change(const queue_state& queue, transaction_state* tx,
                                                  const receipts_view& receipts,
                                                  const lease_change& what) const {
  using enum lease_change::kind;
  const extend_request longer{what.lease};
  switch (what.is) {
    case complete:
      if (made_.complete == nullptr) lacks(queue, state_role);
      return settle(queue, tx, made_.complete, receipts, nothing());
    case release:
      if (made_.release == nullptr) lacks(queue, state_role);
      return settle(queue, tx, made_.release, receipts, nothing());
    case extend:
      if (made_.extend == nullptr) lacks(queue, "lease_until");
      return settle(queue, tx, made_.extend, receipts, longer);
    case heartbeat:
      if (made_.keep != nullptr) return settle(queue, tx, made_.keep, receipts, longer);
      break;
    case find_lost:
      return settle(queue, tx, made_.lost, receipts, nothing());
  }
  std::vector<changed_message> all(receipts.size());  // The rows stay taken by themselves.
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = {.item = i, .id = receipts[i].id};
  return all;
}

std::vector<changed_message> mapped_table::fail(const queue_state& queue, transaction_state* tx,
                                                std::span<const ended_attempt> attempts) const {
  if (made_.fail == nullptr) lacks(queue, state_role);
  std::vector<receipt> receipts;
  for (const ended_attempt& one : attempts) {
    if (one.delay.value_or(std::chrono::milliseconds{0}).count() > 0 && !layout().due_at) {
      lacks(queue, "due_at");
    }
    if (one.how != ended_attempt::kind::failed && !keeps().dead) {
      lacks(queue, "lease_until in a column of its own, so that nothing tells a dead row");
    }
    receipts.push_back(one.receipt);
  }
  std::vector<value> items;
  for (const ended_attempt& one : attempts) {
    add_item(items, one.receipt, layout().key.size(),
             failed_row_item{.fence = one.receipt.fence,
                             .error = one.error,
                             .delay = one.delay.value_or(std::chrono::milliseconds{0}),
                             .final = one.how != ended_attempt::kind::failed});
  }
  return to_changed(run(queue, tx, made_.fail, nothing(), items), receipts);
}

const mapped_statement& mapped_table::insert_of(const std::vector<std::size_t>& columns) const {
  const std::scoped_lock hold(mutex_);
  if (inserts_.size() >= most_inserts && !inserts_.contains(columns)) {
    refuse(errc::unsupported,
           "rows with over 100 different sets of columns were inserted through one handle; "
           "name the same columns each time, with NULL where there is no value");
  }
  auto& made = inserts_[columns];
  if (made == nullptr) made = made_.insert(columns);
  return *made;
}

row mapped_table::insert(const queue_state& queue, transaction_state* tx, const row& values) const {
  std::vector<std::size_t> columns;
  std::vector<row_value> held;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto column = find_column(layout().columns, values.name(i));
    if (!column) refuse("the table " + layout().table + " has no column " + values.name(i));
    if (std::find(columns.begin(), columns.end(), *column) != columns.end()) {
      refuse("the row names the column " + layout().columns[*column].name + " twice");
    }
    held.push_back(fitting(values.value(values.name(i)), layout().columns[*column]));
    columns.push_back(*column);
  }
  if (columns.empty()) refuse("the row has no columns");
  std::vector<value> given;
  given.reserve(held.size());
  for (const row_value& each : held) given.push_back(to_value(each.cell()));
  const mapped_statement& what = insert_of(columns);
  const row_set rows = queue.execute(tx, what.what(), what.shared(given));
  apply(queue, tx, {.readable = 1});
  if (rows.empty()) {
    throw error(errc::constraint_violated, advice::never,
                "the database stored no row in the table " + layout().table +
                    ": a trigger, rule or conflict clause of the table dropped it",
                {.backend = queue.database().name()});
  }
  return shown(rows, 0);
}

std::vector<row> mapped_table::peek(const queue_state& queue, std::size_t max) const {
  check_batch_size(max);
  const row_set rows = run(queue, nullptr, made_.peek, read_request{max});
  std::vector<row> out;
  out.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) out.push_back(shown(rows, i));
  return out;
}

std::size_t mapped_table::count(const queue_state& queue, const mapped_statements::one& what,
                                std::size_t max, timestamp& as_of) const {
  if (what == nullptr) return 0;
  const row_count_row found =
      rows_of<row_count_row>(run(queue, nullptr, what, read_request{max})).at(0);
  as_of = found.as_of;
  return found.count;
}

claim_stats mapped_table::stats(const queue_state& queue, const stats_options& options) const {
  const std::size_t max = count_limit(options);
  claim_stats out;
  out.counted_to = counted_to(options);
  out.delayed = count(queue, made_.delayed, max, out.as_of);
  out.leased = count(queue, made_.leased, max, out.as_of);
  out.done = count(queue, made_.done, max, out.as_of);
  out.dead = count(queue, made_.dead, max, out.as_of);
  out.ready = count(queue, made_.ready, max, out.as_of);
  out.ready = std::min(max, out.ready + count(queue, made_.expired, max, out.as_of));
  return out;
}

std::size_t mapped_table::requeue(const queue_state& queue, std::chrono::milliseconds age) const {
  check_delay(age, "age");
  if (made_.requeue == nullptr) lacks(queue, "taken_at");
  std::size_t waiting_again = 0;
  for (;;) {
    const std::size_t moved =
        run(queue, nullptr, made_.requeue, requeue_rows_request{requeue_batch, age}).size();
    waiting_again += moved;
    apply(queue, nullptr, {.readable = moved});
    if (moved < requeue_batch) return waiting_again;
  }
}

}  // namespace tableq::inline v0::core
