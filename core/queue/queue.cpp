#include <tableq/queue.hpp>

#include <utility>

#include "core/queue/destructive.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/queue/queue_state.hpp"

namespace tableq {
namespace {

using core::queue_state;
using plain_writer = core::async_writer<enqueue_options, message_id>;
using pending_writer = core::async_writer<pending_options, message_id>;

std::optional<message> read_one(const queue_state& of, transaction* tx, dequeue_options options) {
  options.max = 1;
  std::vector<message> got = core::read(of, tx, options);
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
    return core::add(to, nullptr, batch);
  });
}

}  // namespace

queue::queue(std::shared_ptr<core::queue_state> state) noexcept : state_(std::move(state)) {}
const std::string& queue::name() const noexcept {
  return state_->name();
}
tableq::kind queue::kind() const noexcept {
  return state_->info().kind;
}

void queue::pause() {
  core::set_paused(*state_, true);
}
void queue::resume() {
  core::set_paused(*state_, false);
}
bool queue::paused() const {
  return core::read_paused(*state_);
}
void queue::set_limits(const queue_limits& limits) {
  core::set_limits(*state_, limits);
}
queue_limits queue::limits() const {
  return core::read_limits(*state_);
}

std::optional<message> destructive_queue::dequeue(const dequeue_options& options) {
  return read_one(state(), nullptr, options);
}
std::optional<message> destructive_queue::dequeue(transaction& tx, const dequeue_options& options) {
  return read_one(state(), &tx, options);
}
std::vector<message> destructive_queue::dequeue_batch(const dequeue_options& options) {
  return core::read(state(), nullptr, options);
}
std::vector<message> destructive_queue::dequeue_batch(transaction& tx,
                                                      const dequeue_options& options) {
  return core::read(state(), &tx, options);
}

std::vector<message> destructive_queue::peek(std::size_t max) const {
  return core::peek(state(), max);
}
std::size_t destructive_queue::purge() {
  return core::purge(state());
}
queue_stats destructive_queue::stats(const stats_options& options) const {
  return core::count(state(), options);
}

message_id plain_queue::enqueue(std::string_view payload, const enqueue_options& options,
                                const when_full& full) {
  const new_message one{payload, options};
  return core::add(state(), nullptr, std::span(&one, 1), full).front();
}
message_id plain_queue::enqueue(transaction& tx, std::string_view payload,
                                const enqueue_options& options) {
  const new_message one{payload, options};
  return core::add(state(), &tx, std::span(&one, 1)).front();
}
std::vector<message_id> plain_queue::enqueue_batch(std::span<const new_message> messages,
                                                   const when_full& full) {
  return core::add(state(), nullptr, messages, full);
}
std::vector<message_id> plain_queue::enqueue_batch(transaction& tx,
                                                   std::span<const new_message> messages) {
  return core::add(state(), &tx, messages);
}

std::future<message_id> plain_queue::enqueue_async(std::string payload,
                                                   const enqueue_options& options) {
  plain_writer& to = checked_writer<new_message>(state(), payload, options);
  return core::add_with_future(to, std::move(payload), options);
}
void plain_queue::enqueue_async(std::string payload, const enqueue_options& options,
                                std::function<void(outcome<message_id>)> done) {
  plain_writer& to = checked_writer<new_message>(state(), payload, options);
  to.add({std::move(payload), options, std::move(done)});
}

message_id pending_queue::enqueue(std::string_view payload, const pending_options& options,
                                  const when_full& full) {
  const new_pending_message one{payload, options};
  return core::add(state(), nullptr, std::span(&one, 1), full).front();
}
message_id pending_queue::enqueue(transaction& tx, std::string_view payload,
                                  const pending_options& options) {
  const new_pending_message one{payload, options};
  return core::add(state(), &tx, std::span(&one, 1)).front();
}
std::vector<message_id> pending_queue::enqueue_batch(std::span<const new_pending_message> messages,
                                                     const when_full& full) {
  return core::add(state(), nullptr, messages, full);
}
std::vector<message_id> pending_queue::enqueue_batch(
    transaction& tx, std::span<const new_pending_message> messages) {
  return core::add(state(), &tx, messages);
}

std::future<message_id> pending_queue::enqueue_async(std::string payload,
                                                     const pending_options& options) {
  pending_writer& to = checked_writer<new_pending_message>(state(), payload, options);
  return core::add_with_future(to, std::move(payload), options);
}
void pending_queue::enqueue_async(std::string payload, const pending_options& options,
                                  std::function<void(outcome<message_id>)> done) {
  pending_writer& to = checked_writer<new_pending_message>(state(), payload, options);
  to.add({std::move(payload), options, std::move(done)});
}

}  // namespace tableq
