#include <tableq/claim_queue.hpp>

#include "core/claim/messages.hpp"
#include "core/queue/operation.hpp"

namespace tableq::inline v0 {

using core::operation;
using core::queue_state;
using core::statement;
using core::transaction_state;

std::optional<stored_message> claim_queue::get(message_id id) const {
  return std::move(get_batch(std::span(&id, 1)).front());
}
std::vector<std::optional<stored_message>> claim_queue::get_batch(
    const batch_view<message_id>& ids) const {
  return operation(*this, statement::claim_get,
                   [&](const queue_state& state, transaction_state* tx) {
                     return core::get(state, tx, ids.items());
                   });
}

std::optional<stored_message> claim_queue::find(text_view key) const {
  return operation(*this, statement::claim_find,
                   [&](const queue_state& state, transaction_state* tx) {
                     return core::find(state, tx, key.view());
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

}  // namespace tableq::inline v0
