#include <tableq/claim_queue.hpp>

#include <string>
#include <utility>

#include "core/claim/messages.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/redrive.hpp"
#include "core/input/validate.hpp"
#include "core/queue/operation.hpp"

namespace tableq::inline v0 {
namespace {

using core::operation;
using core::operation_outside;
using core::queue_state;
using core::statement;
using core::transaction_state;

using claim_writer = core::async_writer<claim_enqueue_options, enqueued>;

/// @param Message a type with a payload and options.
template <class Message>
std::vector<enqueued> add_messages(const queue_state& state, transaction_state* tx,
                                   std::span<const Message> messages, const when_full& full) {
  std::vector<core::claim_message> views;
  views.reserve(messages.size());
  for (const Message& one : messages) views.push_back({one.payload, &one.options});
  return core::add_claims(state, tx, views, full);
}

/// Passes a message to the thread that stores messages of this handle.
/// @param hand_over passes the message to the given writer.
template <class HandOver>
auto write_later(const queue& handle, const std::string& payload,
                 const claim_enqueue_options& options, HandOver hand_over) {
  return operation_outside(handle, statement::claim_enqueue, [&](const queue_state& state) {
    core::check_payload(payload, state.database().payloads());
    core::check_message(options, state.info().groups.has_value());
    return hand_over(
        state.writing<claim_writer>([&state](std::span<const claim_writer::item> items) {
          return operation(state, nullptr, statement::claim_enqueue,
                           [&] { return add_messages(state, nullptr, items, {}); });
        }));
  });
}

/// A settlement of receipts.
/// @param work one of the functions of operations.hpp.
template <class Work>
std::vector<settle_result> settle(const queue& handle, statement id, const receipts_view& taken,
                                  Work work) {
  return operation(handle, id, [&](const queue_state& state, transaction_state* tx) {
    return work(state, tx, taken);
  });
}

receipts_view just(const receipt& one) {
  return std::span(&one, 1);
}

}  // namespace

enqueued claim_queue::enqueue(payload_view payload, const claim_enqueue_options& options,
                              const when_full& full) {
  return operation(*this, statement::claim_enqueue,
                   [&](const queue_state& state, transaction_state* tx) {
                     const core::claim_message one{payload.view(), &options};
                     return core::add_claims(state, tx, std::span(&one, 1), full).front();
                   });
}
std::vector<enqueued> claim_queue::enqueue_batch(const batch_view<new_claim_message>& messages,
                                                 const when_full& full) {
  return operation(*this, statement::claim_enqueue,
                   [&](const queue_state& state, transaction_state* tx) {
                     return add_messages(state, tx, messages.items(), full);
                   });
}

std::future<enqueued> claim_queue::enqueue_async(std::string payload,
                                                 const claim_enqueue_options& options) {
  return write_later(*this, payload, options, [&](claim_writer& writer) {
    return core::add_with_future(writer, std::move(payload), options);
  });
}
void claim_queue::enqueue_async(std::string payload, const claim_enqueue_options& options,
                                std::function<void(outcome<enqueued>)> done) {
  write_later(*this, payload, options, [&](claim_writer& writer) {
    writer.add({std::move(payload), options, std::move(done)});
  });
}

std::vector<delivery> claim_queue::take(std::size_t max, const take_options& options) {
  return operation(*this, statement::claim_take,
                   [&](const queue_state& state, transaction_state* tx) {
                     return core::take(state, tx, max, options);
                   });
}
std::optional<delivery> claim_queue::take_one(const take_options& options) {
  std::vector<delivery> taken = take(1, options);
  return taken.empty() ? std::nullopt : std::optional(std::move(taken.front()));
}

settle_result claim_queue::complete(const receipt& taken) {
  return complete_batch(just(taken)).front();
}
std::vector<settle_result> claim_queue::complete_batch(const receipts_view& taken) {
  return settle(*this, statement::claim_complete, taken, core::complete);
}

settle_result claim_queue::fail(const receipt& taken, text_view error,
                                const fail_options& options) {
  return operation(*this, statement::claim_fail,
                   [&](const queue_state& state, transaction_state* tx) {
                     const core::failed_attempt one{taken, error.view(), options};
                     return core::fail(state, tx, std::span(&one, 1)).front();
                   });
}
std::vector<settle_result> claim_queue::fail_batch(const batch_view<failure>& failures) {
  return operation(*this, statement::claim_fail,
                   [&](const queue_state& state, transaction_state* tx) {
                     std::vector<core::failed_attempt> attempts;
                     attempts.reserve(failures.items().size());
                     for (const failure& one : failures.items()) {
                       attempts.push_back({one.receipt, one.error, one.options});
                     }
                     return core::fail(state, tx, attempts);
                   });
}

settle_result claim_queue::release(const receipt& taken) {
  return release_batch(just(taken)).front();
}
std::vector<settle_result> claim_queue::release_batch(const receipts_view& taken) {
  return settle(*this, statement::claim_release, taken, core::release);
}

settle_result claim_queue::extend(const receipt& taken, std::chrono::milliseconds lease) {
  return extend_batch(just(taken), lease).front();
}
std::vector<settle_result> claim_queue::extend_batch(const receipts_view& taken,
                                                     std::chrono::milliseconds lease) {
  return settle(
      *this, statement::claim_extend, taken,
      [lease](const queue_state& state, transaction_state* tx, const receipts_view& receipts) {
        return core::extend(state, tx, receipts, lease);
      });
}

std::vector<stored_message> claim_queue::peek(std::size_t max) const {
  return operation_outside(*this, statement::claim_peek,
                           [&](const queue_state& state) { return core::peek_claims(state, max); });
}

std::vector<stored_message> claim_queue::list(message_state state, const tableq::page& page) const {
  return operation_outside(*this, statement::claim_list, [&](const queue_state& listed) {
    return core::list(listed, state, page);
  });
}
std::size_t claim_queue::redrive(const batch_view<message_id>& ids) {
  return operation_outside(*this, statement::claim_redrive, [&](const queue_state& state) {
    return core::redrive(state, ids.items());
  });
}

redriven claim_queue::redrive_all(const redrive_options& options) {
  return operation_outside(*this, statement::claim_redrive_all, [&](const queue_state& state) {
    return core::redrive_all(state, options);
  });
}

std::size_t claim_queue::purge(message_state state, const purge_options& options) {
  return operation_outside(*this, statement::claim_purge, [&](const queue_state& purged) {
    return core::purge_claims(purged, state, options);
  });
}

claim_stats claim_queue::stats(const stats_options& options) const {
  return operation_outside(*this, statement::claim_stats,
                           [&](const queue_state& state) { return core::stats(state, options); });
}

std::chrono::milliseconds claim_queue::lease() const noexcept {
  return core::access::state_of(*this).info().lease;
}
int claim_queue::max_attempts() const noexcept {
  return core::access::state_of(*this).info().max_attempts;
}

}  // namespace tableq::inline v0
