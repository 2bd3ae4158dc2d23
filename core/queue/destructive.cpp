#include "core/queue/destructive.hpp"

#include <array>
#include <chrono>
#include <type_traits>
#include <utility>

#include "core/input/validate.hpp"
#include "core/queue/effects.hpp"
#include "core/queue/identity.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/queue/waiting.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

std::vector<message> to_messages(std::vector<message_row> rows) {
  std::vector<message> out;
  out.reserve(rows.size());
  for (message_row& row : rows) {
    out.push_back({.id = row.id,
                   .created_at = row.created_at,
                   .due_at = row.due_at,
                   .payload = std::move(row.payload)});
  }
  return out;
}

/// @param by_kind statements of each destructive kind.
template <class Statements>
const auto& for_kind(const queue_state& queue, const Statements& by_kind) {
  return by_kind.at(static_cast<std::size_t>(queue.info().kind));
}

template <class Item>
const auto& enqueue_of(kind queue_kind) noexcept {
  if constexpr (std::is_same_v<Item, pending_item>) {
    return statements::pending_enqueue;
  } else {
    if (queue_kind == kind::heap) return statements::heap_enqueue;
    return queue_kind == kind::fifo ? statements::fifo_enqueue : statements::lifo_enqueue;
  }
}

}  // namespace

plain_item to_item(const queue_state& queue, std::string_view payload,
                   const enqueue_options& options) {
  check_payload(payload, queue.database().payloads());
  check_timestamp(options.created_at, "created_at");
  return {.payload = payload, .created_at = options.created_at};
}

pending_item to_item(const queue_state& queue, std::string_view payload,
                     const pending_options& options) {
  check_payload(payload, queue.database().payloads());
  check_message(options);
  return {.payload = payload,
          .created_at = options.created_at,
          .due_at = options.due_at,
          .delay = options.delay};
}

template <class Item>
std::vector<message_id> add(const queue_state& queue, transaction_state* tx,
                            std::span<const Item> items, const when_full& full) {
  if (items.empty()) return {};
  const room held(queue, tx, items.size(), full);
  const auto& what = enqueue_of<Item>(queue.info().kind);
  const auto rows = queue.execute(tx, what, {}, items);
  if (rows.size() != items.size()) not_stored(queue, tx);
  std::vector<message_id> ids(items.size());
  for (const auto& row : rows) ids[row.item] = row.id;
  apply(queue, tx, {.readable = items.size()});
  return ids;
}
template std::vector<message_id> add(const queue_state&, transaction_state*,
                                     std::span<const plain_item>, const when_full&);
template std::vector<message_id> add(const queue_state&, transaction_state*,
                                     std::span<const pending_item>, const when_full&);

std::vector<message> dequeue(const queue_state& queue, transaction_state* tx, std::size_t max,
                             const dequeue_options& options) {
  check_batch_size(max);
  check_wait(options.wait, tx != nullptr);
  read_gate gate(queue, tx, options.wait, options.stop);
  bool more = true;  // unless the last read says that there is none
  using namespace statements;
  static constexpr std::array any{heap_dequeue, fifo_dequeue, lifo_dequeue, pending_dequeue};
  static constexpr std::array in_order{heap_dequeue, fifo_dequeue_strict, lifo_dequeue_strict,
                                       pending_dequeue};
  const auto& what = for_kind(queue, queue.info().ordering == ordering::strict ? in_order : any);
  const auto read_now = [&](transaction_state* read_tx, std::size_t most) {
    auto got = to_messages(queue.execute(read_tx, what, {.max = most}));
    apply(queue, read_tx, {.left = !got.empty()});
    more = got.size() == most;
    return got;
  };
  const auto once = [&] {
    more = true;
    return gate.unlimited() ? read_now(tx, max) : gate.limited(max, read_now);
  };
  if (options.wait.count() == 0) return once();
  const auto patient = [&](woken /*reason*/) { return gate.patiently(once); };
  const auto may_be_more = [&] { return more; };
  const wait_terms terms{.longest = options.wait, .stop = options.stop};
  if (queue.info().kind != kind::pending) {
    return wait_for(queue, terms, nullptr, patient, may_be_more);
  }
  return wait_for(
      queue, terms, [&] { return next_due(queue); }, patient, may_be_more);
}

std::optional<std::chrono::milliseconds> next_due(const queue_state& queue) {
  const auto next = queue.execute(nullptr, statements::pending_next_due);
  return next.empty() ? std::nullopt : next.front().delay;
}

std::vector<message> peek(const queue_state& queue, std::size_t max) {
  using namespace statements;
  static constexpr std::array by_kind{heap_peek, fifo_peek, lifo_peek, pending_peek};
  check_batch_size(max);
  return to_messages(queue.execute(nullptr, for_kind(queue, by_kind), {.max = max}));
}

std::size_t purge(const queue_state& queue) {
  using namespace statements;
  constexpr std::size_t batch = 1000;
  static constexpr std::array by_kind{heap_purge, fifo_purge, lifo_purge, pending_purge};
  std::size_t purged = 0;
  for (;;) {
    const std::size_t gone =
        queue.execute(nullptr, for_kind(queue, by_kind), {.max = batch}).size();
    purged += gone;
    apply(queue, nullptr, {.left = gone > 0});
    if (gone < batch) return purged;
  }
}

queue_stats count(const queue_state& queue, const stats_options& options) {
  using namespace statements;
  static constexpr std::array by_kind{heap_stats, fifo_stats, lifo_stats, pending_stats};
  queue_stats out =
      queue.execute(nullptr, for_kind(queue, by_kind), {.max = count_limit(options)}).at(0);
  out.counted_to = counted_to(options);
  return out;
}

}  // namespace tableq::inline v0::core
