#include <tableq/queue.hpp>

#include <array>
#include <string>
#include <utility>

#include <tableq/enlistment.hpp>
#include <tableq/pending_queue.hpp>
#include <tableq/plain_queue.hpp>

#include "core/base/errors.hpp"
#include "core/queue/destructive.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/queue/operation.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/contract.hpp"

namespace tableq::inline v0 {
namespace {

using core::operation;
using core::operation_outside;
using core::queue_state;
using core::statement;
using core::transaction_state;

/// The statements that name the operations of a kind; errors carry their names.
struct operations {
  statement enqueue, dequeue, peek, purge, stats;
};
const operations& names_of(const queue& handle) noexcept {
  using enum statement;
  static constexpr std::array by_kind{
      operations{heap_enqueue, heap_dequeue, heap_peek, heap_purge, heap_stats},
      operations{fifo_enqueue, fifo_dequeue, fifo_peek, fifo_purge, fifo_stats},
      operations{lifo_enqueue, lifo_dequeue, lifo_peek, lifo_purge, lifo_stats},
      operations{pending_enqueue, pending_dequeue, pending_peek, pending_purge, pending_stats}};
  return by_kind[static_cast<std::size_t>(handle.kind())];
}

template <class Options>
message_id add_message(const queue& handle, payload_view payload, const Options& options,
                       const when_full& full) {
  const core::stop_scope heard(full.stop);
  return operation(handle, names_of(handle).enqueue,
                   [&](const queue_state& state, transaction_state* tx) {
                     const auto item = core::to_item(state, payload.view(), options);
                     return core::add(state, tx, std::span(&item, 1), full).front();
                   });
}

/// @param Message a type with a payload and options.
template <class Message>
std::vector<message_id> add_checked(const queue_state& state, transaction_state* tx,
                                    std::span<const Message> messages, const when_full& full) {
  std::vector<decltype(core::to_item(state, {}, Message().options))> items;
  items.reserve(messages.size());
  for (const Message& one : messages) {
    items.push_back(core::to_item(state, one.payload, one.options));
  }
  return core::add(state, tx, std::span(std::as_const(items)), full);
}

template <class Message>
std::vector<message_id> add_messages(const queue& handle, std::span<const Message> messages,
                                     const when_full& full) {
  const core::stop_scope heard(full.stop);
  return operation(handle, names_of(handle).enqueue, add_checked<Message>, messages, full);
}

template <class Options>
void write_message(const queue& handle, std::string payload, const Options& options,
                   std::function<void(outcome<message_id>)> done) {
  core::write_later<message_id>(
      handle, names_of(handle).enqueue, std::move(payload), std::move(done),
      [&](const queue_state& state, std::string_view given) {
        static_cast<void>(core::to_item(state, given, options));
        return options;
      },
      [](const queue_state& state, transaction_state* tx, auto items) {
        return add_checked(state, tx, items, {});
      });
}

template <class Options>
std::future<message_id> write_with_future(const queue& handle, std::string payload,
                                          const Options& options) {
  auto [future, done] = core::with_future<message_id>();
  write_message(handle, std::move(payload), options, std::move(done));
  return std::move(future);
}

}  // namespace

queue::queue(std::shared_ptr<core::queue_state> state) noexcept : state_(std::move(state)) {}
void queue::bind(const transaction& tx) noexcept {
  in_ = core::access::state_of(tx);
}
void queue::bind(const enlistment& joined) noexcept {
  in_ = core::access::state_of(joined);
}
void queue::bind_to_none() noexcept {
  in_.reset();
  outside_ = true;
}
const std::string& queue::name() const noexcept {
  return state_->name();
}
tableq::kind queue::kind() const noexcept {
  return state_->info().kind;
}

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the queue
void queue::pause() {
  operation_outside(*this, statement::limits_pause, core::set_paused, true);
}
// NOLINTNEXTLINE(readability-make-member-function-const): it changes the queue
void queue::resume() {
  operation_outside(*this, statement::limits_pause, core::set_paused, false);
}
bool queue::paused() const {
  return operation_outside(*this, statement::limits_read, core::read_paused);
}
// NOLINTNEXTLINE(readability-make-member-function-const): it changes the queue
void queue::set_limits(const queue_limits& limits) {
  operation_outside(*this, statement::limits_set, core::set_limits, limits);
}
queue_limits queue::limits() const {
  return operation_outside(*this, statement::limits_read, core::read_limits);
}

std::optional<message> destructive_queue::dequeue(const dequeue_options& options) {
  std::vector<message> got = dequeue_batch(1, options);
  return got.empty() ? std::nullopt : std::optional(std::move(got.front()));
}
std::vector<message> destructive_queue::dequeue_batch(std::size_t max,
                                                      const dequeue_options& options) {
  return core::until_stopped(options.stop, [&] {
    return operation(*this, names_of(*this).dequeue, core::dequeue, max, options);
  });
}

std::vector<message> destructive_queue::peek(std::size_t max) const {
  return operation_outside(*this, names_of(*this).peek, core::peek, max);
}
std::size_t destructive_queue::purge() {
  return operation_outside(*this, names_of(*this).purge, core::purge);
}
queue_stats destructive_queue::stats(const stats_options& options) const {
  return operation_outside(*this, names_of(*this).stats, core::count, options);
}

message_id plain_queue::enqueue(payload_view payload, const enqueue_options& options,
                                const when_full& full) {
  return add_message(*this, payload, options, full);
}
std::vector<message_id> plain_queue::enqueue_batch(const batch_view<new_message>& messages,
                                                   const when_full& full) {
  return add_messages(*this, messages.items(), full);
}
std::future<message_id> plain_queue::enqueue_async(std::string payload,
                                                   const enqueue_options& options) {
  return write_with_future(*this, std::move(payload), options);
}
void plain_queue::enqueue_async(std::string payload, const enqueue_options& options,
                                std::function<void(outcome<message_id>)> done) {
  write_message(*this, std::move(payload), options, std::move(done));
}

message_id pending_queue::enqueue(payload_view payload, const pending_options& options,
                                  const when_full& full) {
  return add_message(*this, payload, options, full);
}
std::vector<message_id> pending_queue::enqueue_batch(
    const batch_view<new_pending_message>& messages, const when_full& full) {
  return add_messages(*this, messages.items(), full);
}
std::future<message_id> pending_queue::enqueue_async(std::string payload,
                                                     const pending_options& options) {
  return write_with_future(*this, std::move(payload), options);
}
void pending_queue::enqueue_async(std::string payload, const pending_options& options,
                                  std::function<void(outcome<message_id>)> done) {
  write_message(*this, std::move(payload), options, std::move(done));
}

}  // namespace tableq::inline v0
