#include <tableq/queue.hpp>

#include <cstdint>
#include <utility>

#include "core/queue/destructive.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/queue/operation.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/contract.hpp"

namespace tableq {
namespace {

using core::operation;
using core::queue_state;
using core::statement;
using plain_writer = core::async_writer<enqueue_options, message_id>;
using pending_writer = core::async_writer<pending_options, message_id>;

/// The first statement of an operation: errors carry its name.
enum class destructive : std::uint8_t { enqueue, dequeue, peek, purge, stats };
statement name_of(const queue_state& of, destructive as) noexcept {
  constexpr std::size_t operations = 5;
  return static_cast<statement>(static_cast<std::size_t>(statement::heap_enqueue) +
                                static_cast<std::size_t>(of.info().kind) * operations +
                                static_cast<std::size_t>(as));
}

std::vector<message> read_messages(const queue_state& of, transaction* tx,
                                   const dequeue_options& options) {
  return operation(of, tx, name_of(of, destructive::dequeue),
                   [&] { return core::read(of, tx, options); });
}

template <class Message>
std::vector<message_id> add_messages(const queue_state& to, transaction* tx,
                                     std::span<const Message> messages,
                                     const when_full& full = {}) {
  return operation(to, tx, name_of(to, destructive::enqueue),
                   [&] { return core::add(to, tx, messages, full); });
}

std::optional<message> read_one(const queue_state& of, transaction* tx, dequeue_options options) {
  options.max = 1;
  std::vector<message> got = read_messages(of, tx, options);
  return got.empty() ? std::nullopt : std::optional(std::move(got.front()));
}

/// The writer of a queue, for a message that was checked.
/// @param Message new_message or new_pending_message.
template <class Message, class Options>
auto& checked_writer(const queue_state& to, std::string_view payload, const Options& options) {
  using writer = core::async_writer<Options, message_id>;
  core::check_new(to, Message{payload, options});
  return to.writing<writer>([&to](std::span<const typename writer::item> items) {
    std::vector<Message> batch;
    batch.reserve(items.size());
    for (const auto& each : items) batch.push_back({each.payload, each.options});
    return add_messages<Message>(to, nullptr, batch);
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
  operation(state(), nullptr, statement::limits_pause, [this] { core::set_paused(state(), true); });
}
void queue::resume() {
  operation(state(), nullptr, statement::limits_pause,
            [this] { core::set_paused(state(), false); });
}
bool queue::paused() const {
  return operation(state(), nullptr, statement::limits_read,
                   [this] { return core::read_paused(state()); });
}
void queue::set_limits(const queue_limits& limits) {
  operation(state(), nullptr, statement::limits_set, [&] { core::set_limits(state(), limits); });
}
queue_limits queue::limits() const {
  return operation(state(), nullptr, statement::limits_read,
                   [this] { return core::read_limits(state()); });
}

std::optional<message> destructive_queue::dequeue(const dequeue_options& options) {
  return read_one(state(), nullptr, options);
}
std::optional<message> destructive_queue::dequeue(transaction& tx, const dequeue_options& options) {
  return read_one(state(), &tx, options);
}
std::vector<message> destructive_queue::dequeue_batch(const dequeue_options& options) {
  return read_messages(state(), nullptr, options);
}
std::vector<message> destructive_queue::dequeue_batch(transaction& tx,
                                                      const dequeue_options& options) {
  return read_messages(state(), &tx, options);
}

std::vector<message> destructive_queue::peek(std::size_t max) const {
  return operation(state(), nullptr, name_of(state(), destructive::peek),
                   [&] { return core::peek(state(), max); });
}
std::size_t destructive_queue::purge() {
  return operation(state(), nullptr, name_of(state(), destructive::purge),
                   [&] { return core::purge(state()); });
}
queue_stats destructive_queue::stats(const stats_options& options) const {
  return operation(state(), nullptr, name_of(state(), destructive::stats),
                   [&] { return core::count(state(), options); });
}

message_id plain_queue::enqueue(std::string_view payload, const enqueue_options& options,
                                const when_full& full) {
  const new_message one{payload, options};
  return add_messages(state(), nullptr, std::span(&one, 1), full).front();
}
message_id plain_queue::enqueue(transaction& tx, std::string_view payload,
                                const enqueue_options& options) {
  const new_message one{payload, options};
  return add_messages(state(), &tx, std::span(&one, 1)).front();
}
std::vector<message_id> plain_queue::enqueue_batch(std::span<const new_message> messages,
                                                   const when_full& full) {
  return add_messages(state(), nullptr, messages, full);
}
std::vector<message_id> plain_queue::enqueue_batch(transaction& tx,
                                                   std::span<const new_message> messages) {
  return add_messages(state(), &tx, messages);
}

std::future<message_id> plain_queue::enqueue_async(std::string payload,
                                                   const enqueue_options& options) {
  return operation(state(), nullptr, name_of(state(), destructive::enqueue), [&] {
    plain_writer& to = checked_writer<new_message>(state(), payload, options);
    return core::add_with_future(to, std::move(payload), options);
  });
}
void plain_queue::enqueue_async(std::string payload, const enqueue_options& options,
                                std::function<void(outcome<message_id>)> done) {
  operation(state(), nullptr, name_of(state(), destructive::enqueue), [&] {
    plain_writer& to = checked_writer<new_message>(state(), payload, options);
    to.add({std::move(payload), options, std::move(done)});
  });
}

message_id pending_queue::enqueue(std::string_view payload, const pending_options& options,
                                  const when_full& full) {
  const new_pending_message one{payload, options};
  return add_messages(state(), nullptr, std::span(&one, 1), full).front();
}
message_id pending_queue::enqueue(transaction& tx, std::string_view payload,
                                  const pending_options& options) {
  const new_pending_message one{payload, options};
  return add_messages(state(), &tx, std::span(&one, 1)).front();
}
std::vector<message_id> pending_queue::enqueue_batch(std::span<const new_pending_message> messages,
                                                     const when_full& full) {
  return add_messages(state(), nullptr, messages, full);
}
std::vector<message_id> pending_queue::enqueue_batch(
    transaction& tx, std::span<const new_pending_message> messages) {
  return add_messages(state(), &tx, messages);
}

std::future<message_id> pending_queue::enqueue_async(std::string payload,
                                                     const pending_options& options) {
  return operation(state(), nullptr, name_of(state(), destructive::enqueue), [&] {
    pending_writer& to = checked_writer<new_pending_message>(state(), payload, options);
    return core::add_with_future(to, std::move(payload), options);
  });
}
void pending_queue::enqueue_async(std::string payload, const pending_options& options,
                                  std::function<void(outcome<message_id>)> done) {
  operation(state(), nullptr, name_of(state(), destructive::enqueue), [&] {
    pending_writer& to = checked_writer<new_pending_message>(state(), payload, options);
    to.add({std::move(payload), options, std::move(done)});
  });
}

}  // namespace tableq
