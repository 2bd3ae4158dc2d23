#include "drivers/postgresql/floor/floor_session.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <tableq/error.hpp>

#include "core/base/at_end.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::drivers::postgresql {
namespace {

using core::place_of;
using core::row_set;
using core::statement;
using core::value;

/// The layout of a queue from which on the catalogue has the table of floors, and the messages of
/// a pending queue that came late have an index.
constexpr int layout_with_floors = 2;

/// From which on groups may have weights, which a look must know.
constexpr int layout_with_weights = 3;

/// Two looks are enough beside no writers, three beside some that end soon.
constexpr int looks_at_once = 3;

bool is_take(const core::contract& what) noexcept {
  return what.operation == "claim.take";
}

order order_of(statement id, bool by_turns) noexcept {
  if (is_take(core::contract_of(id))) return by_turns ? order::turns : order::priorities;
  if (id == statement::pending_dequeue) return order::times;
  return order::ids;
}

bool of_pending(statement id) noexcept {
  return id == statement::pending_dequeue || id == statement::pending_next_due;
}

/// Whether claim.take_first, or a text like it, may serve the take.
bool takes_first(known_table& of, std::span<const value> shared, const places& where) {
  using request = core::take_request;
  return shared[place_of<request>("max")].number == 1 &&
         shared[place_of<request>("guard")].number == 0 &&
         shared[place_of<request>("unkey")].number == 0 && only_level(where, of.names.by_turns) &&
         of.tries_first();
}

/// The text like claim.take_first for a take within these limits. Null: none.
const core::contract* first_within(const row_set& limits) {
  using row = core::limits_lock_row;
  if (limits.empty()) return nullptr;
  const bool rate = limits.maybe_integer(0, place_of<row>("rate")).has_value();
  const bool concurrency = limits.maybe_integer(0, place_of<row>("concurrency")).has_value();
  if (rate == concurrency) return nullptr;
  return &contract_of(rate ? own_statement::claim_take_first_metered
                           : own_statement::claim_take_first_limited);
}

/// Whether it takes nothing while a message is due.
bool asks_for_due(const core::contract& what, std::span<const value> shared) {
  using request = core::take_request;
  if (what.id == statement::claim_look) return true;
  return is_take(what) && shared[place_of<request>("guard")].number != 0;
}

std::vector<read_message> messages_of(const row_set& rows, order by) {
  std::vector<read_message> out;
  out.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (by != order::priorities && by != order::turns) {
      out.push_back({.id = rows.integer(i, place_of<core::message_row>("id"))});
      continue;
    }
    // The upper half of a fence counts leases: 1 after the first take, more if the message was
    // returned.
    constexpr std::int64_t second = std::int64_t{2} << 32U;
    if (rows.integer(i, place_of<core::delivery_row>("id")) == 0) continue;  // no message
    out.push_back({.id = rows.integer(i, place_of<core::delivery_row>("id")),
                   .priority = rows.integer(i, place_of<core::delivery_row>("priority")),
                   .since = rows.integer(i, place_of<core::delivery_row>("ready_at")),
                   .returned = rows.integer(i, place_of<core::delivery_row>("fence")) >= second});
  }
  return out;
}

/// The values of a statement, and then those of the places.
std::vector<value> with_values(std::span<const value> shared, const places& where,
                               const range_lists& lists, bool by_turns) {
  const level of_one = only_level(where, by_turns).value_or(level());
  const auto filled = core::values_of(place_request{.highs = lists.highs,
                                                    .lows = lists.lows,
                                                    .floors = lists.floors,
                                                    .level = of_one.priority,
                                                    .floor = of_one.floor,
                                                    .oldest = where.oldest,
                                                    .passed = where.passed});
  std::vector<value> out;
  out.reserve(shared.size() + filled.size());
  out.assign(shared.begin(), shared.end());
  out.insert(out.end(), filled.begin(), filled.end());
  return out;
}

}  // namespace

std::shared_ptr<known_table> known_tables::of(const core::table_names& names) {
  const std::scoped_lock hold(guard_);
  auto& found = tables_[{names.slot, names.identity}];
  if (found) return found;
  auto made = std::make_shared<known_table>(names);
  if (tables_.size() > most) tables_.clear();
  tables_[{names.slot, names.identity}] = made;
  return made;
}

void floor_session::run(std::string_view operation, const core::table_names& names,
                        std::span<core::statement_call> all) {
  if (all.size() != 1) {
    if (!run_placed(operation, names, all)) run_by_steps(names, all);
    return;
  }
  core::statement_call& one = all.front();
  const core::contract& what = *one.what;
  const beginning begins = what.texts == nullptr ? beginning_of(what.id) : beginning::front;
  if (begins == beginning::front) {
    dialect_session::run(operation, names, all);
    if (what.id == statement::catalog_remove) remove_from_floors(names, one.shared);
    return;
  }
  // The called server sees neither the writers of a shard nor its sequence.
  if (!begins_behind(what, names)) {
    one.rows = from(what, names, one.shared, {}, line_of({}, false), one.items);
    return;
  }
  const std::shared_ptr<known_table> table = tables_->of(names);
  switch (begins) {
    case beginning::read:
      one.rows = read(table, what, one.shared);
      break;
    case beginning::glance:
      one.rows = glance(*table, what, one.shared);
      break;
    case beginning::among:
      one.rows = among(table, what, one.shared, one.items);
      break;
    default:
      one.rows = search(*table, what, one.shared);
  }
}

row_set floor_session::plain(const core::contract& what, const core::table_names& names,
                             std::span<const value> shared) {
  core::table_names timeless = names;
  timeless.clock = nullptr;  // the places are by the server's clock
  core::statement_call one{.what = &what, .shared = shared};
  dialect_session::run(what.name, timeless, {&one, 1});
  return std::move(one.rows);
}

row_set floor_session::read(const std::shared_ptr<known_table>& of, const core::contract& what,
                            std::span<const value> shared) {
  const order by = order_of(what.id, of->names.by_turns);
  const bool timeless = of->set_clock() && by == order::times;
  if (timeless) return from(what, of->names, shared, {}, {});
  const bool outside = alone();
  if (outside) {
    before(what, [&] { look(*of, by); });
  } else {
    touch(of, by);
  }
  const table_places::start begun = of->where.begin(clock::now(), asks_for_due(what, shared));
  row_set rows = read_from(*of, what, shared, begun.where, by);
  of->where.end(begun, messages_of(rows, by), by, clock::now());
  if (outside) aside([&] { tell(*of); });
  return rows;
}

row_set floor_session::read_from(known_table& of, const core::contract& what,
                                 std::span<const value> shared, const places& where, order by) {
  switch (by) {
    case order::times:
      return from(contract_of(own_statement::pending_dequeue_from), of.names, shared, where, {});
    case order::priorities:
    case order::turns: {
      const places usable = usable_places(of, where);
      const bool first = what.id == statement::claim_take && takes_first(of, shared, usable);
      row_set rows;
      if (first)
        rows = from(contract_of(own_statement::claim_take_first), of.names, shared, usable, {});
      if (!rows.empty()) return rows;
      rows = from(what, of.names, shared, usable, line_of(usable, of.names.by_turns));
      if (first && !rows.empty()) of.take_first_in_vain();
      return rows;
    }
    case order::ids:
      break;
  }
  return from(what, of.names, shared, where, {});
}

row_set floor_session::glance(known_table& of, const core::contract& what,
                              std::span<const value> shared) {
  const bool outside = alone();
  if (outside) aside([&] { learn(of, false); });
  const table_places::start begun = of.where.glance(clock::now());
  const core::contract* as = &what;
  if (of.readable && what.id == statement::claim_stats)
    as = &contract_of(own_statement::claim_stats_from);
  if (of.readable && what.id == statement::claim_count)
    as = &contract_of(own_statement::claim_count_from);
  const places where = usable_places(of, begun.where);
  row_set rows = from(*as, of.names, shared, where, line_of(where, of.names.by_turns));
  of.where.glanced(begun, clock::now());
  if (outside) aside([&] { tell(of); });
  return rows;
}

row_set floor_session::among(const std::shared_ptr<known_table>& of, const core::contract& what,
                             std::span<const value> shared, std::span<const value> items) {
  if (alone()) {
    before(what, [&] { learn(*of, false); });
  } else {
    touch(of, order_of(statement::claim_take, of->names.by_turns));
  }
  const table_places::start begun = of->where.glance(clock::now());
  row_set rows = from(what, of->names, shared, begun.where, {}, items);
  of->where.glanced(begun, clock::now());
  return rows;
}

bool floor_session::run_placed(std::string_view operation, const core::table_names& names,
                               std::span<core::statement_call> all) {
  const auto found = std::ranges::find_if(all, [](const core::statement_call& each) {
    if (each.what->texts != nullptr) return false;
    const beginning begins = beginning_of(each.what->id);
    return begins == beginning::among || begins == beginning::read;
  });
  if (found == all.end()) return run_together(operation, names, all);
  const core::statement_call& one = *found;
  const core::contract& what = *one.what;
  const auto send = [&](const places& where, const range_lists& lists,
                        const core::contract* as = nullptr) {
    const std::vector<value> shared = with_values(one.shared, where, lists, names.by_turns);
    std::vector<core::statement_call> placed(all.begin(), all.end());
    core::statement_call& there = placed[static_cast<std::size_t>(found - all.begin())];
    there.what = as != nullptr ? as : &with_places(what);
    there.shared = shared;
    // The lock of the limits, which such a text reads itself.
    if (as != nullptr) placed.front().what = &contract_of(own_statement::limits_hold);
    const bool done = run_together(operation, names, placed);
    for (std::size_t i = 0; i < all.size(); ++i) all[i].rows = std::move(placed[i].rows);
    return done;
  };
  const bool reads = beginning_of(what.id) == beginning::read;
  if (!begins_behind(what, names)) return send({}, reads ? line_of({}, false) : range_lists());
  const std::shared_ptr<known_table> table = tables_->of(names);
  const bool outside = alone();
  if (!reads) {
    if (outside) before(what, [&] { learn(*table, false); });
    const table_places::start begun = table->where.glance(clock::now());
    const bool done = send(begun.where, {});
    if (done) table->where.glanced(begun, clock::now());
    return done;
  }
  const order by = order_of(what.id, names.by_turns);
  if (outside) before(what, [&] { look(*table, by); });
  const table_places::start begun =
      table->where.begin(clock::now(), asks_for_due(what, one.shared));
  const places where = usable_places(*table, begun.where);
  // A take within limits. A rate is in their row: what its text locks, it knows.
  const core::contract* first = table->first_within_limits;
  if (first != nullptr && !takes_first(*table, one.shared, where)) first = nullptr;
  if (first == &contract_of(own_statement::claim_take_first_metered)) {
    found->rows = from(*first, names, one.shared, where, {});
  } else if (first != nullptr && !send(where, {}, first)) {
    first = nullptr;
  }
  if (first == nullptr || one.rows.empty()) {
    if (!send(where, line_of(where, names.by_turns))) return false;
    if (first != nullptr && !messages_of(one.rows, by).empty()) table->take_first_in_vain();
    table->first_within_limits = first_within(all.front().rows);
  }
  if (!outside) touch(table, by);
  table->where.end(begun, messages_of(one.rows, by), by, clock::now());
  if (outside) aside([&] { tell(*table); });
  return true;
}

row_set floor_session::search(known_table& of, const core::contract& what,
                              std::span<const value> shared) {
  const bool pending = what.id == statement::pending_next_due && !of.set_clock();
  const bool locks = what.id == statement::claim_due;  // for claim.promote, which comes next
  row_set rows = from(pending ? contract_of(own_statement::pending_next_due_from) : what, of.names,
                      shared, usable_places(of, of.where.search(what.writes || locks, locks)), {});
  if (what.id == statement::claim_promote) {
    for (std::size_t i = 0; i < rows.size(); ++i)
      of.where.met(rows.integer(i, place_of<core::state_row>("id")));
  }
  return rows;
}

row_set floor_session::from(const core::contract& what, const core::table_names& names,
                            std::span<const value> shared, const places& where,
                            const range_lists& lists, std::span<const value> items) {
  const std::vector<value> placed = with_values(shared, where, lists, names.by_turns);
  core::statement_call one{.what = &with_places(what), .shared = placed, .items = items};
  dialect_session::run(what.name, names, {&one, 1});
  return std::move(one.rows);
}

/// Whether something is known of the places of the table for such a statement.
bool floor_session::begins_behind(const core::contract& what,
                                  const core::table_names& names) const noexcept {
  int layout = of_pending(what.id) ? layout_with_floors : 0;
  if (names.by_turns) layout = layout_with_weights;
  return looks_ && !names.sharded && names.layout >= layout;
}

/// A clock that a test sets can go back.
places floor_session::usable_places(const known_table& of, places where) {
  if (of.set_clock()) where.passed = where.line = lowest;
  return where;
}

void floor_session::touch(const std::shared_ptr<known_table>& table, order by) {
  const auto same = [&](const touched_table& each) { return each.table == table; };
  if (!own() || std::ranges::any_of(touched_, same)) return;
  touched_.push_back({table, by});
}

void floor_session::end(core::transaction_end how) {
  dialect_session::end(how);
  const auto touched = std::exchange(touched_, {});
  if (touched.empty() || !usable()) return;
  aside([&] {
    for (const touched_table& each : touched) {
      learn(*each.table, false);
      look(*each.table, each.by);
      tell(*each.table);
    }
  });
}

template <class Work>
bool floor_session::aside(Work work) noexcept {
  try {
    work();
    return true;
  } catch (...) {  // noexcept: the places stay as they are.
    return false;
  }
}

template <class Work>
void floor_session::before(const core::contract& what, Work work) {
  if (aside(work) || usable()) return;
  throw error(errc::connection_lost, advice::session, "the session was lost before the statement",
              {.backend = dialect_name(), .operation = std::string(what.name)});
}

void floor_session::learn(known_table& of, bool first) {
  if (!of.where.asks_others(first, clock::now()) || of.names.layout < layout_with_floors) return;
  try {
    auto rows = core::rows_of<floors_row>(plain(contract_of(own_statement::floors_read), of.names,
                                                core::values_of(floors_request())));
    if (rows.empty()) return;
    of.readable = true;
    of.writable = rows.front().writable;
    const auto told = to_places(rows.front().floors);
    if (told) of.where.adopt(*told, rows.front().age, clock::now());
  } catch (const error& failure) {  // Such a user does without.
    if (failure.code() != errc::permission_denied) throw;
  }
}

void floor_session::look(known_table& of, order by) {
  learn(of, true);
  for (int i = 0; i < looks_at_once; ++i) {
    const auto asked = of.where.ask(by, clock::now());
    if (!asked) return;
    core::at_end looking([&]() noexcept { of.where.give_up(); });  // the next look is a first one
    table_places::sight seen = see(of, *asked);
    of.where.answer(*asked, std::move(seen), clock::now());
    looking.cancel();
  }
}

table_places::sight floor_session::see(known_table& of, const table_places::question& asked) {
  static constexpr std::array statements = {own_statement::queue_floor, own_statement::claim_floor,
                                            own_statement::claim_floor,
                                            own_statement::pending_floor};
  range_lists lists;
  if (asked.by == order::turns) lists = line_of(usable_places(of, asked.where), true);
  if (asked.by == order::priorities) {
    for (const level& each : asked.where.levels)
      lists.add(each.priority, each.priority, std::max(each.floor, asked.where.oldest));
  }
  look_request request;
  request.highs = lists.highs;
  request.lows = lists.lows;
  request.floors = lists.floors;
  request.oldest = asked.where.oldest;
  request.passed = usable_places(of, asked.where).passed;
  request.writers = asked.writers;
  auto rows =
      core::rows_of<look_row>(plain(contract_of(statements.at(static_cast<std::size_t>(asked.by))),
                                    of.names, core::values_of(request)));
  look_row& any = rows.at(0);
  table_places::sight out{.first = any.first,
                          .last = any.last,
                          .writers = std::move(any.writers).value_or(""),
                          .ended = any.ended};
  if (!of.set_clock()) {
    out.due = any.due;
    out.clock = any.clock;
  }
  if (asked.by == order::turns) out.line = any.ready;
  if (asked.by != order::priorities) return out;
  for (const look_row& each : rows) out.levels.emplace_back(each.level, each.ready);
  return out;
}

void floor_session::tell(known_table& of) {
  if (!of.writable) return;
  const auto news = of.where.news(clock::now());
  if (!news) return;
  const std::string text = to_text(*news);
  plain(contract_of(own_statement::floors_write), of.names,
        core::values_of(floors_request{.floors = text}));
}

/// Removes what processes told each other of a dropped queue.
void floor_session::remove_from_floors(const core::table_names& names,
                                       std::span<const value> shared) {
  if (plain(contract_of(own_statement::floors_exist), names, {}).empty()) return;
  plain(contract_of(own_statement::floors_remove), names, shared);
}

const own_sessions floor_sessions{
    .of_database = []() -> session_maker {
      return [tables = std::make_shared<known_tables>()](const session_source& from) {
        return std::make_unique<floor_session>(tables, from);
      };
    },
    .contracts = own_contracts,
    .with_places = with_places};

}  // namespace tableq::inline v0::drivers::postgresql
