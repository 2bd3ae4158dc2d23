#include <tableq/queue.hpp>

#include <algorithm>
#include <array>
#include <utility>

#include "core/limits.hpp"
#include "core/queue_state.hpp"
#include "core/validate.hpp"

namespace tableq {
namespace {

using core::destructive_operation;
using core::message_column;
using core::queue_state;
using core::row_set;
using core::to_timestamp;
using core::to_value;
using core::value;

constexpr std::size_t column(message_column c) {
  return static_cast<std::size_t>(c);
}

/// What a read of a destructive kind shares: the size, and for `pending` the clock.
std::vector<value> read_arguments(const queue_state& of, core::statement id, std::size_t max) {
  // Where a read begins, queue_state knows.
  std::vector<value> out(core::contract_of(id).shared.size());
  out[0] = to_value(max);
  if (of.info().kind == kind::pending) out[1] = of.database().now();
  return out;
}

std::vector<message> to_messages(row_set rows, kind of) {
  std::vector<message> out;
  out.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.push_back({.id = {rows.integer(i, column(message_column::id))},
                   .created_at = to_timestamp(rows.integer(i, column(message_column::created_at))),
                   .due_at = to_timestamp(rows.maybe_integer(i, column(message_column::due_at))),
                   .payload = rows.take_text(i, column(message_column::payload))});
  }
  // No database promises an order of the rows that a DELETE returns.
  std::sort(out.begin(), out.end(), [of](const message& a, const message& b) {
    if (of == kind::lifo) return a.id > b.id;
    return std::pair(a.due_at, a.id) < std::pair(b.due_at, b.id);
  });
  return out;
}

std::vector<message> read(const queue_state& of, transaction* tx, const dequeue_options& options) {
  core::check_batch_size(options.max);
  core::check_wait(options.wait, tx != nullptr);
  core::read_gate gate(of, tx, options.wait, options.stop);
  const auto once = [&] {
    return gate.pass(options.max, [&](transaction* in, std::size_t max) {
      const core::statement id = core::dequeue_for(of.info().kind, of.info().ordering);
      auto got = to_messages(of.execute(in, id, read_arguments(of, id, max)), of.info().kind);
      if (!got.empty()) core::made_room(of, in);
      return got;
    });
  };
  if (options.wait.count() == 0) return once();
  const bool timed = of.info().kind == kind::pending;
  return of.wait_for(options.wait, options.stop,
                     timed ? std::optional(core::statement::pending_next_due) : std::nullopt,
                     [&] { return gate.patiently(once); });
}

std::optional<message> read_one(const queue_state& of, transaction* tx, dequeue_options options) {
  options.max = 1;
  std::vector<message> got = read(of, tx, options);
  return got.empty() ? std::nullopt : std::optional(std::move(got.front()));
}

std::vector<message_id> add(const queue_state& to, transaction* tx, std::vector<value> items,
                            const when_full& full) {
  const core::statement id = statement_for(to.info().kind, destructive_operation::enqueue);
  if (items.empty()) return {};
  const std::size_t count = items.size() / core::contract_of(id).items.size();
  const core::room held(to, tx, count, full);
  const value now = to.database().now();
  const row_set rows = to.execute_batch(tx, id, {&now, 1}, items);
  if (rows.size() != count) core::not_stored(to);
  std::vector<message_id> ids(count);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ids[static_cast<std::size_t>(rows.integer(i, 0))] = {rows.integer(i, 1)};
  }
  to.announce(tx, count);
  return ids;
}

void check(const queue_state& to, std::string_view payload, const enqueue_options& options) {
  core::check_payload(payload, to.database().able().max_payload);
  core::check_timestamp(options.created_at, "created_at");
}

void check(const queue_state& to, std::string_view payload, const pending_options& options) {
  core::check_payload(payload, to.database().able().max_payload);
  core::check_message(options);
}

std::vector<message_id> add_plain(const queue_state& to, transaction* tx,
                                  std::span<const new_message> messages,
                                  const when_full& full = {}) {
  std::vector<value> items;
  items.reserve(messages.size() * 2);
  for (const new_message& one : messages) {
    check(to, one.payload, one.options);
    items.emplace_back(one.payload);
    items.push_back(to_value(one.options.created_at));
  }
  return add(to, tx, std::move(items), full);
}

std::vector<message_id> add_pending(const queue_state& to, transaction* tx,
                                    std::span<const new_pending_message> messages,
                                    const when_full& full = {}) {
  std::vector<value> items;
  items.reserve(messages.size() * 4);
  for (const new_pending_message& one : messages) {
    check(to, one.payload, one.options);
    items.emplace_back(one.payload);
    items.push_back(to_value(one.options.created_at));
    items.push_back(to_value(one.options.due_at));
    items.push_back(to_value(one.options.delay));
  }
  return add(to, tx, std::move(items), full);
}

/// The messages of a batch that is stored later.
template <class Message, class Options>
auto to_batch(std::span<const typename core::async_writer<Options, message_id>::item> items) {
  std::vector<Message> out;
  out.reserve(items.size());
  for (const auto& each : items) out.push_back({each.payload, each.options});
  return out;
}

using plain_writer = core::async_writer<enqueue_options, message_id>;
using pending_writer = core::async_writer<pending_options, message_id>;

plain_writer& checked_writer(const queue_state& to, std::string_view payload,
                             const enqueue_options& options) {
  check(to, payload, options);
  return to.writing<plain_writer>([&to](std::span<const plain_writer::item> items) {
    return add_plain(to, nullptr, to_batch<new_message, enqueue_options>(items));
  });
}

pending_writer& checked_writer(const queue_state& to, std::string_view payload,
                               const pending_options& options) {
  check(to, payload, options);
  return to.writing<pending_writer>([&to](std::span<const pending_writer::item> items) {
    return add_pending(to, nullptr, to_batch<new_pending_message, pending_options>(items));
  });
}

}  // namespace

queue::queue(std::shared_ptr<core::queue_state> state) noexcept : state_(std::move(state)) {}
core::queue_state& queue::state() const {
  state_->database().check_here();
  return *state_;
}
const std::string& queue::name() const noexcept {
  return known().name();
}
tableq::kind queue::kind() const noexcept {
  return known().info().kind;
}

void queue::pause() {
  core::set_paused(state(), true);
}
void queue::resume() {
  core::set_paused(state(), false);
}
bool queue::paused() const {
  return core::read_paused(state());
}
void queue::set_limits(const queue_limits& limits) {
  core::set_limits(state(), limits);
}
queue_limits queue::limits() const {
  return core::read_limits(state());
}

std::optional<message> destructive_queue::dequeue(const dequeue_options& options) {
  return read_one(state(), nullptr, options);
}
std::optional<message> destructive_queue::dequeue(transaction& tx, const dequeue_options& options) {
  return read_one(state(), &tx, options);
}
std::vector<message> destructive_queue::dequeue_batch(const dequeue_options& options) {
  return read(state(), nullptr, options);
}
std::vector<message> destructive_queue::dequeue_batch(transaction& tx,
                                                      const dequeue_options& options) {
  return read(state(), &tx, options);
}

std::vector<message> destructive_queue::peek(std::size_t max) const {
  core::check_batch_size(max);
  const core::statement id = statement_for(kind(), destructive_operation::peek);
  return to_messages(state().execute(nullptr, id, read_arguments(state(), id, max)), kind());
}

std::size_t destructive_queue::purge() {
  constexpr std::size_t batch = 1000;
  const value max = to_value(batch);
  std::size_t total = 0;
  for (;;) {
    const std::size_t gone =
        state()
            .execute(nullptr, statement_for(kind(), destructive_operation::purge), {&max, 1})
            .size();
    total += gone;
    if (gone > 0) core::made_room(state(), nullptr);
    if (gone < batch) return total;
  }
}

queue_stats destructive_queue::stats(const stats_options& options) const {
  const std::array shared{core::count_limit(options), state().database().now()};
  const row_set rows =
      state().execute(nullptr, statement_for(kind(), destructive_operation::stats), shared);
  return {.waiting = static_cast<std::size_t>(rows.integer(0, 0)),
          .delayed = static_cast<std::size_t>(rows.integer(0, 1)),
          .oldest = to_timestamp(rows.maybe_integer(0, 2)),
          .counted_to = options.exact ? 0 : options.count_to,
          .last_id = core::to_id(rows.maybe_integer(0, 3)),
          .as_of = to_timestamp(rows.integer(0, 4))};
}

message_id plain_queue::enqueue(std::string_view payload, const enqueue_options& options,
                                const when_full& full) {
  const new_message one{payload, options};
  return add_plain(state(), nullptr, {&one, 1}, full).front();
}
message_id plain_queue::enqueue(transaction& tx, std::string_view payload,
                                const enqueue_options& options) {
  const new_message one{payload, options};
  return add_plain(state(), &tx, {&one, 1}).front();
}
std::vector<message_id> plain_queue::enqueue_batch(std::span<const new_message> messages,
                                                   const when_full& full) {
  return add_plain(state(), nullptr, messages, full);
}
std::vector<message_id> plain_queue::enqueue_batch(transaction& tx,
                                                   std::span<const new_message> messages) {
  return add_plain(state(), &tx, messages);
}

std::future<message_id> plain_queue::enqueue_async(std::string payload,
                                                   const enqueue_options& options) {
  plain_writer& to = checked_writer(state(), payload, options);
  return core::add_with_future(to, std::move(payload), options);
}
void plain_queue::enqueue_async(std::string payload, const enqueue_options& options,
                                std::function<void(outcome<message_id>)> done) {
  plain_writer& to = checked_writer(state(), payload, options);
  to.add({std::move(payload), options, std::move(done)});
}

message_id pending_queue::enqueue(std::string_view payload, const pending_options& options,
                                  const when_full& full) {
  const new_pending_message one{payload, options};
  return add_pending(state(), nullptr, {&one, 1}, full).front();
}
message_id pending_queue::enqueue(transaction& tx, std::string_view payload,
                                  const pending_options& options) {
  const new_pending_message one{payload, options};
  return add_pending(state(), &tx, {&one, 1}).front();
}
std::vector<message_id> pending_queue::enqueue_batch(std::span<const new_pending_message> messages,
                                                     const when_full& full) {
  return add_pending(state(), nullptr, messages, full);
}
std::vector<message_id> pending_queue::enqueue_batch(
    transaction& tx, std::span<const new_pending_message> messages) {
  return add_pending(state(), &tx, messages);
}

std::future<message_id> pending_queue::enqueue_async(std::string payload,
                                                     const pending_options& options) {
  pending_writer& to = checked_writer(state(), payload, options);
  return core::add_with_future(to, std::move(payload), options);
}
void pending_queue::enqueue_async(std::string payload, const pending_options& options,
                                  std::function<void(outcome<message_id>)> done) {
  pending_writer& to = checked_writer(state(), payload, options);
  to.add({std::move(payload), options, std::move(done)});
}

}  // namespace tableq
