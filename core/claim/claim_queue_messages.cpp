#include <tableq/claim_queue.hpp>

#include "core/claim/messages.hpp"

namespace tableq {

std::optional<stored_message> claim_queue::get(message_id id) const {
  return std::move(core::get(state(), nullptr, {&id, 1}).front());
}
std::optional<stored_message> claim_queue::get(transaction& tx, message_id id) const {
  return std::move(core::get(state(), &tx, {&id, 1}).front());
}
std::vector<std::optional<stored_message>> claim_queue::get(std::span<const message_id> ids) const {
  return core::get(state(), nullptr, ids);
}
std::vector<std::optional<stored_message>> claim_queue::get(transaction& tx,
                                                            std::span<const message_id> ids) const {
  return core::get(state(), &tx, ids);
}

std::optional<stored_message> claim_queue::find(std::string_view key) const {
  return core::find(state(), nullptr, key);
}
std::optional<stored_message> claim_queue::find(transaction& tx, std::string_view key) const {
  return core::find(state(), &tx, key);
}

altered claim_queue::cancel(message_id id) {
  return core::cancel(state(), nullptr, {&id, 1}).front();
}
altered claim_queue::cancel(transaction& tx, message_id id) {
  return core::cancel(state(), &tx, {&id, 1}).front();
}
std::vector<altered> claim_queue::cancel(std::span<const message_id> ids) {
  return core::cancel(state(), nullptr, ids);
}
std::vector<altered> claim_queue::cancel(transaction& tx, std::span<const message_id> ids) {
  return core::cancel(state(), &tx, ids);
}

altered claim_queue::set_priority(message_id id, std::int32_t priority) {
  const new_priority one{id, priority};
  return core::set_priority(state(), nullptr, {&one, 1}).front();
}
altered claim_queue::set_priority(transaction& tx, message_id id, std::int32_t priority) {
  const new_priority one{id, priority};
  return core::set_priority(state(), &tx, {&one, 1}).front();
}
std::vector<altered> claim_queue::set_priority(std::span<const new_priority> changes) {
  return core::set_priority(state(), nullptr, changes);
}
std::vector<altered> claim_queue::set_priority(transaction& tx,
                                               std::span<const new_priority> changes) {
  return core::set_priority(state(), &tx, changes);
}

}  // namespace tableq
