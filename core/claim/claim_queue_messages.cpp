#include <tableq/claim_queue.hpp>

#include "core/claim/messages.hpp"
#include "core/queue/operation.hpp"

namespace tableq {

using core::operation;
using core::statement;

std::optional<stored_message> claim_queue::get(message_id id) const {
  return std::move(get(std::span(&id, 1)).front());
}
std::optional<stored_message> claim_queue::get(transaction& tx, message_id id) const {
  return std::move(get(tx, std::span(&id, 1)).front());
}
std::vector<std::optional<stored_message>> claim_queue::get(std::span<const message_id> ids) const {
  return operation(state(), nullptr, statement::claim_get,
                   [&] { return core::get(state(), nullptr, ids); });
}
std::vector<std::optional<stored_message>> claim_queue::get(transaction& tx,
                                                            std::span<const message_id> ids) const {
  return operation(state(), &tx, statement::claim_get,
                   [&] { return core::get(state(), &tx, ids); });
}

std::optional<stored_message> claim_queue::find(std::string_view key) const {
  return operation(state(), nullptr, statement::claim_find,
                   [&] { return core::find(state(), nullptr, key); });
}
std::optional<stored_message> claim_queue::find(transaction& tx, std::string_view key) const {
  return operation(state(), &tx, statement::claim_find,
                   [&] { return core::find(state(), &tx, key); });
}

altered claim_queue::cancel(message_id id) {
  return cancel(std::span(&id, 1)).front();
}
altered claim_queue::cancel(transaction& tx, message_id id) {
  return cancel(tx, std::span(&id, 1)).front();
}
std::vector<altered> claim_queue::cancel(std::span<const message_id> ids) {
  return operation(state(), nullptr, statement::claim_cancel,
                   [&] { return core::cancel(state(), nullptr, ids); });
}
std::vector<altered> claim_queue::cancel(transaction& tx, std::span<const message_id> ids) {
  return operation(state(), &tx, statement::claim_cancel,
                   [&] { return core::cancel(state(), &tx, ids); });
}

altered claim_queue::set_priority(message_id id, std::int32_t priority) {
  const new_priority one{id, priority};
  return set_priority(std::span(&one, 1)).front();
}
altered claim_queue::set_priority(transaction& tx, message_id id, std::int32_t priority) {
  const new_priority one{id, priority};
  return set_priority(tx, std::span(&one, 1)).front();
}
std::vector<altered> claim_queue::set_priority(std::span<const new_priority> changes) {
  return operation(state(), nullptr, statement::claim_set_priority,
                   [&] { return core::set_priority(state(), nullptr, changes); });
}
std::vector<altered> claim_queue::set_priority(transaction& tx,
                                               std::span<const new_priority> changes) {
  return operation(state(), &tx, statement::claim_set_priority,
                   [&] { return core::set_priority(state(), &tx, changes); });
}

}  // namespace tableq
