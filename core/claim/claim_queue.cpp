#include <tableq/claim_queue.hpp>

#include <string>
#include <utility>

#include "core/claim/bulk.hpp"
#include "core/claim/messages.hpp"
#include "core/claim/operations.hpp"
#include "core/input/trace.hpp"
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
/// @param hand_over passes the message with the given options to the given writer.
template <class HandOver>
auto write_later(const queue& handle, const std::string& payload,
                 const claim_enqueue_options& options, HandOver hand_over) {
  const queue_state& state = core::outside(handle, statement::claim_enqueue);
  // Asks the database nothing: the caller does not wait for it.
  return core::named(
      state.database().name(), core::contract_of(statement::claim_enqueue).name, [&] {
        core::check_payload(payload, state.database().payloads());
        core::check_message(options, state.current(false).info().groups.has_value());
        // The context is that of the caller, not of the thread that stores the message.
        claim_enqueue_options traced = options;
        if (const auto trace = state.database().current_trace()) {
          traced.headers = core::with_trace(std::move(traced.headers), *trace);
        }
        return hand_over(
            std::move(traced),
            state.writing<claim_writer>([&state](std::span<const claim_writer::item> items) {
              return operation(state, nullptr, statement::claim_enqueue,
                               [&](const queue_state& now, transaction_state* tx) {
                                 return add_messages(now, tx, items, {});
                               });
            }));
      });
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
  return write_later(*this, payload, options,
                     [&](claim_enqueue_options traced, claim_writer& writer) {
                       return core::add_with_future(writer, std::move(payload), std::move(traced));
                     });
}
void claim_queue::enqueue_async(std::string payload, const claim_enqueue_options& options,
                                std::function<void(outcome<enqueued>)> done) {
  write_later(*this, payload, options, [&](claim_enqueue_options traced, claim_writer& writer) {
    writer.add({std::move(payload), std::move(traced), std::move(done)});
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
filtered_messages claim_queue::list(const message_filter& filter, const filter_page& page) const {
  return operation_outside(*this, statement::claim_list, [&](const queue_state& listed) {
    return core::list(listed, filter, page);
  });
}
std::size_t claim_queue::redrive(const batch_view<message_id>& ids) {
  return operation_outside(*this, statement::claim_redrive, [&](const queue_state& state) {
    return core::redrive(state, ids.items());
  });
}

redriven claim_queue::redrive_all(const redrive_options& options) {
  return operation_outside(*this, statement::claim_redrive, [&](const queue_state& state) {
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

std::optional<stored_message> claim_queue::get(message_id id, const look_options& with) const {
  return std::move(get_batch(std::span(&id, 1), with).front());
}
std::vector<std::optional<stored_message>> claim_queue::get_batch(const batch_view<message_id>& ids,
                                                                  const look_options& with) const {
  return operation(*this, statement::claim_get,
                   [&](const queue_state& state, transaction_state* tx) {
                     return core::get(state, tx, ids.items(), with);
                   });
}

std::vector<waiting_group> claim_queue::groups(std::size_t max) const {
  return operation_outside(*this, statement::claim_groups,
                           [&](const queue_state& state) { return core::groups(state, max); });
}

std::optional<stored_message> claim_queue::find(text_view key, const look_options& with) const {
  return operation(*this, statement::claim_find,
                   [&](const queue_state& state, transaction_state* tx) {
                     return core::find(state, tx, key.view(), with);
                   });
}

settle_result claim_queue::complete(const receipt& taken, payload_view result) {
  return operation(
      *this, statement::claim_complete, [&](const queue_state& state, transaction_state* tx) {
        const std::optional<std::string_view> given = result.view();
        return core::complete(state, tx, std::span(&taken, 1), std::span(&given, 1)).front();
      });
}
void claim_queue::progress(const receipt& taken, double done, text_view note) {
  // The database is not asked.
  const queue_state& state = core::access::state_of(*this);
  core::named(state.database().name(), core::contract_of(statement::claim_progress).name, [&] {
    state.database().check_here();
    core::say_progress(state, taken, done, note.view());
  });
}
awaited claim_queue::wait_for(message_id id, const wait_for_options& options) const {
  return operation_outside(*this, statement::claim_outcome, [&](const queue_state& state) {
    return core::await_end(state, id, options);
  });
}

change_result claim_queue::cancel(message_id id) {
  return cancel_batch(std::span(&id, 1)).front();
}
std::vector<change_result> claim_queue::cancel_batch(const batch_view<message_id>& ids) {
  return operation(*this, statement::claim_cancel,
                   [&](const queue_state& state, transaction_state* tx) {
                     return core::cancel(state, tx, ids.items());
                   });
}

change_result claim_queue::set_priority(message_id id, std::int32_t priority) {
  const new_priority one{id, priority};
  return set_priority_batch(std::span(&one, 1)).front();
}
std::vector<change_result> claim_queue::set_priority_batch(
    const batch_view<new_priority>& changes) {
  return operation(*this, statement::claim_set_priority,
                   [&](const queue_state& state, transaction_state* tx) {
                     return core::set_priority(state, tx, changes.items());
                   });
}

change_result claim_queue::make_ready(message_id id) {
  return make_ready_batch(std::span(&id, 1)).front();
}
std::vector<change_result> claim_queue::make_ready_batch(const batch_view<message_id>& ids) {
  return operation(*this, statement::claim_make_ready,
                   [&](const queue_state& state, transaction_state* tx) {
                     return core::make_ready(state, tx, ids.items());
                   });
}

bulk_result claim_queue::cancel(const message_filter& filter, const bulk_options& options) {
  return operation_outside(*this, statement::claim_cancel, [&](const queue_state& state) {
    return core::cancel(state, filter, options);
  });
}
bulk_result claim_queue::set_priority(const message_filter& filter, std::int32_t priority,
                                      const bulk_options& options) {
  return operation_outside(*this, statement::claim_set_priority, [&](const queue_state& state) {
    return core::set_priority(state, filter, priority, options);
  });
}
bulk_result claim_queue::make_ready(const message_filter& filter, const bulk_options& options) {
  return operation_outside(*this, statement::claim_make_ready, [&](const queue_state& state) {
    return core::make_ready(state, filter, options);
  });
}
bulk_result claim_queue::redrive(const message_filter& filter, const bulk_options& options) {
  return operation_outside(*this, statement::claim_redrive, [&](const queue_state& state) {
    return core::redrive(state, filter, options);
  });
}
bulk_result claim_queue::purge(const message_filter& filter, const bulk_options& options) {
  return operation_outside(*this, statement::claim_purge, [&](const queue_state& state) {
    return core::purge(state, filter, options);
  });
}

std::chrono::milliseconds claim_queue::lease() const noexcept {
  return core::access::state_of(*this).current(false).info().lease;
}
int claim_queue::max_attempts() const noexcept {
  return core::access::state_of(*this).current(false).info().max_attempts;
}

}  // namespace tableq::inline v0
