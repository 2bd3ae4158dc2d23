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
      break;
  }
  return db.claim(name);
}

template <class Queue>
auto batch_of(const std::vector<std::string_view>& payloads) {
  using element =
      std::conditional_t<claims<Queue>, tableq::new_claim_message,
                         std::conditional_t<std::is_same_v<Queue, tableq::pending_queue>,
                                            tableq::new_pending_message, tableq::new_message>>;
  std::vector<element> batch;
  for (const std::string_view each : payloads) batch.push_back({.payload = each});
  return batch;
}

/// @param send adds the batch.
template <class Queue, class Send>
std::vector<tableq::message_id> put_with(const std::vector<std::string_view>& payloads, Send send) {
  const auto batch = batch_of<Queue>(payloads);
  if constexpr (claims<Queue>) {
    std::vector<tableq::message_id> ids;
    for (const tableq::enqueued& each : send(batch)) ids.push_back(each.id);
    return ids;
  } else {
    return send(batch);
  }
}

std::vector<std::string_view> views_of(const std::vector<std::string>& payloads) {
  return {payloads.begin(), payloads.end()};
}

template <class Messages>
std::vector<item> items_of(Messages messages) {
  std::vector<item> out;
  for (auto& each : messages) out.push_back({each.id, std::move(each.payload)});
  return out;
}

template <class... Transaction>
std::vector<item> settle_all(tableq::claim_queue& queue, std::vector<tableq::delivery> taken,
                             Transaction&... tx) {
  std::vector<tableq::receipt> receipts;
  std::vector<item> out;
  for (tableq::delivery& each : taken) {
    receipts.push_back(each.receipt);
    out.push_back({each.receipt.id, std::move(each.payload)});
  }
  if (receipts.empty()) return out;
  for (const tableq::settled each : queue.complete(tx..., receipts)) {
    if (each != tableq::settled::done) throw std::logic_error("a fresh receipt was refused");
  }
  return out;
}

}  // namespace

any_queue::any_queue(tableq::database& db, tableq::kind of, std::string_view name)
    : queue_(make(db, of, name)) {}

tableq::message_id any_queue::put(std::string_view payload, const tableq::when_full& full) {
  return std::visit(
      [&](auto& queue) {
        if constexpr (claims<decltype(queue)>) {
          return queue.enqueue(payload, tableq::claim_enqueue_options{}, full).id;
        } else {
          return queue.enqueue(payload, {}, full);
        }
      },
      queue_);
}

tableq::message_id any_queue::put(tableq::transaction& tx, std::string_view payload) {
  return std::visit([&](auto& queue) { return queue.enqueue(tx, payload); }, queue_);
}

std::vector<tableq::message_id> any_queue::put_all(const std::vector<std::string>& payloads,
                                                   const tableq::when_full& full) {
  return std::visit(
      [&](auto& queue) {
        return put_with<std::remove_cvref_t<decltype(queue)>>(
            views_of(payloads),
            [&](const auto& batch) { return queue.enqueue_batch(batch, full); });
      },
      queue_);
}

std::vector<tableq::message_id> any_queue::put_views(
    const std::vector<std::string_view>& payloads) {
  return std::visit(
      [&](auto& queue) {
        return put_with<std::remove_cvref_t<decltype(queue)>>(
            payloads, [&](const auto& batch) { return queue.enqueue_batch(batch); });
      },
      queue_);
}

std::vector<tableq::message_id> any_queue::put_all(tableq::transaction& tx,
                                                   const std::vector<std::string>& payloads) {
  return std::visit(
      [&](auto& queue) {
        return put_with<std::remove_cvref_t<decltype(queue)>>(
            views_of(payloads), [&](const auto& batch) { return queue.enqueue_batch(tx, batch); });
      },
      queue_);
}

std::optional<item> any_queue::take() {
  return std::visit(
      [](auto& queue) -> std::optional<item> {
        if constexpr (claims<decltype(queue)>) {
          for (tableq::delivery& each : queue.take()) {
            if (queue.complete(each.receipt) != tableq::settled::done) {
              throw std::logic_error("a fresh receipt was refused");
            }
            return item{each.receipt.id, std::move(each.payload)};
          }
        } else if (auto taken = queue.dequeue()) {
          return item{taken->id, std::move(taken->payload)};
        }
        return {};
      },
      queue_);
}

std::optional<item> any_queue::take(tableq::transaction& tx) {
  return std::visit(
      [&tx](auto& queue) -> std::optional<item> {
        if constexpr (claims<decltype(queue)>) {
          std::vector<item> taken = settle_all(queue, queue.take(tx), tx);
          if (!taken.empty()) return std::move(taken.front());
        } else if (auto taken = queue.dequeue(tx)) {
          return item{taken->id, std::move(taken->payload)};
        }
        return {};
      },
      queue_);
}

std::vector<item> any_queue::take_up_to(std::size_t max, std::chrono::milliseconds wait,
                                        std::stop_token stop) {
  return std::visit(
      [&](auto& queue) {
        if constexpr (claims<decltype(queue)>) {
          return settle_all(queue, queue.take({.max = max, .wait = wait, .stop = stop}));
        } else {
          return items_of(queue.dequeue_batch({.max = max, .wait = wait, .stop = stop}));
        }
      },
      queue_);
}

std::vector<item> any_queue::take_up_to(tableq::transaction& tx, std::size_t max) {
  return std::visit(
      [&](auto& queue) {
        if constexpr (claims<decltype(queue)>) {
          return settle_all(queue, queue.take(tx, {.max = max}), tx);
        } else {
          return items_of(queue.dequeue_batch(tx, {.max = max}));
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
