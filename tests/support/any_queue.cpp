#include "support/any_queue.hpp"

#include <type_traits>

namespace tableq_test {
namespace {

using variant = std::variant<tableq::heap_queue, tableq::fifo_queue, tableq::lifo_queue,
                             tableq::pending_queue, tableq::claim_queue>;

template <class Queue>
constexpr bool claims = std::is_same_v<std::remove_cvref_t<Queue>, tableq::claim_queue>;

variant make(tableq::database& db, tableq::kind of, std::string_view name) {
  switch (of) {
    case tableq::kind::heap:
      return db.heap(name);
    case tableq::kind::fifo:
      return db.fifo(name);
    case tableq::kind::lifo:
      return db.lifo(name);
    case tableq::kind::pending:
      return db.pending(name);
    case tableq::kind::claim:
    case tableq::kind::table:
      break;
  }
  return db.claim(name);
}

/// @param Queue the type that decides the items of its batches.
template <class Queue>
auto batch_of(const std::vector<std::string>& payloads) {
  using element =
      std::conditional_t<claims<Queue>, tableq::new_claim_message,
                         std::conditional_t<std::is_same_v<Queue, tableq::pending_queue>,
                                            tableq::new_pending_message, tableq::new_message>>;
  std::vector<element> batch;
  for (const std::string& each : payloads) batch.push_back({.payload = each});
  return batch;
}

template <class Messages>
std::vector<item> items_of(Messages messages) {
  std::vector<item> out;
  for (auto& each : messages) out.push_back({each.id, std::move(each.payload)});
  return out;
}

std::vector<item> settle_all(tableq::claim_queue& queue, std::vector<tableq::delivery> taken) {
  std::vector<item> out;
  for (const tableq::settle_result each : queue.complete_batch(taken)) {
    if (each != tableq::settle_result::applied) {
      throw std::logic_error("a fresh receipt was refused");
    }
  }
  for (tableq::delivery& each : taken) out.push_back({each.receipt.id, std::move(each.payload)});
  return out;
}

}  // namespace

any_queue::any_queue(tableq::database& db, tableq::kind of, std::string_view name)
    : queue_(make(db, of, name)) {}

template <class Where>
any_queue any_queue::bound(Where& where) const {
  return std::visit([&](const auto& queue) { return any_queue(variant(queue.in(where))); }, queue_);
}
any_queue any_queue::in(tableq::transaction& tx) const {
  return bound(tx);
}
any_queue any_queue::in(const tableq::enlistment& joined) const {
  return bound(joined);
}
any_queue any_queue::outside() const {
  return std::visit([](const auto& queue) { return any_queue(variant(queue.outside())); }, queue_);
}

tableq::message_id any_queue::put(std::string_view payload, const tableq::when_full& full) {
  return std::visit(
      [&](auto& queue) {
        if constexpr (claims<decltype(queue)>) {
          return queue.enqueue(payload, {}, full).id;
        } else {
          return queue.enqueue(payload, {}, full);
        }
      },
      queue_);
}

std::vector<tableq::message_id> any_queue::put_all(const std::vector<std::string>& payloads,
                                                   const tableq::when_full& full) {
  return std::visit(
      [&](auto& queue) {
        using queue_type = std::remove_cvref_t<decltype(queue)>;
        const auto batch = batch_of<queue_type>(payloads);
        if constexpr (claims<queue_type>) {
          std::vector<tableq::message_id> ids;
          for (const tableq::enqueued& each : queue.enqueue_batch(batch, full)) {
            ids.push_back(each.id);
          }
          return ids;
        } else {
          return queue.enqueue_batch(batch, full);
        }
      },
      queue_);
}

std::optional<item> any_queue::take() {
  std::vector<item> taken = take_up_to(1);
  return taken.empty() ? std::nullopt : std::optional(std::move(taken.front()));
}

std::vector<item> any_queue::take_up_to(std::size_t max, std::chrono::milliseconds wait,
                                        std::stop_token stop) {
  return std::visit(
      [&](auto& queue) {
        if constexpr (claims<decltype(queue)>) {
          return settle_all(queue, queue.take(max, {.wait = wait, .stop = stop}));
        } else {
          return items_of(queue.dequeue_batch(max, {.wait = wait, .stop = stop}));
        }
      },
      queue_);
}

std::vector<std::string> any_queue::peek(std::size_t max) const {
  return std::visit([&](const auto& queue) { return payloads_of(queue.peek(max)); }, queue_);
}

std::size_t any_queue::waiting() const {
  return std::visit(
      [](const auto& queue) {
        if constexpr (claims<decltype(queue)>) {
          return queue.stats({.exact = true}).ready;
        } else {
          return queue.stats({.exact = true}).waiting;
        }
      },
      queue_);
}

tableq::kind any_queue::kind() const {
  return std::visit([](const auto& queue) { return queue.kind(); }, queue_);
}

tableq::queue& any_queue::base() {
  return std::visit([](auto& queue) -> tableq::queue& { return queue; }, queue_);
}

void open_queue(tableq::database& db, tableq::kind of, std::string_view name) {
  static_cast<void>(any_queue(db, of, name));
}

std::vector<std::string> numbered(std::size_t count, std::string_view prefix) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(std::string(prefix) + std::to_string(i));
  return out;
}

}  // namespace tableq_test
