#include "core/queue/destructive.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "core/input/validate.hpp"
#include "core/queue/effects.hpp"
#include "core/queue/identity.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/seam/queue_statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// Rows of messages, in the queue's order: no database promises one for the rows of a DELETE.
std::vector<message> to_messages(std::vector<message_row> rows, kind of) {
  std::vector<message> out;
  out.reserve(rows.size());
  for (message_row& row : rows) {
    out.push_back({.id = row.id,
                   .created_at = row.created_at,
                   .due_at = row.due_at,
                   .payload = std::move(row.payload)});
  }
  std::sort(out.begin(), out.end(), [of](const message& a, const message& b) {
    if (of == kind::lifo) return a.id > b.id;
    return std::pair(a.due_at, a.id) < std::pair(b.due_at, b.id);
  });
  return out;
}

std::vector<message_row> take_out(const queue_state& of, transaction_state* tx, std::size_t max) {
  using namespace statements;
  const bool strict = of.info().ordering == ordering::strict;
  switch (of.info().kind) {
    case kind::heap:
      return of.execute(tx, heap_dequeue, {.max = max});
    case kind::fifo:
      return of.execute(tx, strict ? fifo_dequeue_strict : fifo_dequeue, {.max = max});
    case kind::lifo:
      return of.execute(tx, strict ? lifo_dequeue_strict : lifo_dequeue, {.max = max});
    default:
      return of.execute(tx, pending_dequeue, {.max = max, .now = of.database().now()});
  }
}

const auto& enqueue_of(kind of) noexcept {
  if (of == kind::heap) return statements::heap_enqueue;
  return of == kind::fifo ? statements::fifo_enqueue : statements::lifo_enqueue;
}

template <class Item, class Statement>
std::vector<message_id> insert(const queue_state& to, transaction_state* tx, const Statement& what,
                               std::span<const Item> items, const when_full& full) {
  if (items.empty()) return {};
  const room held(to, tx, items.size(), full);
  const auto rows = to.execute(tx, what, {.now = to.database().now()}, items);
  if (rows.size() != items.size()) not_stored(to, tx);
  std::vector<message_id> ids(items.size());
  for (const auto& row : rows) ids[row.item] = row.id;
  apply(to, tx, {.readable = items.size()});
  return ids;
}

}  // namespace

plain_item to_item(const queue_state& to, std::string_view payload,
                   const enqueue_options& options) {
  check_payload(payload, to.database().capabilities().max_payload);
  check_timestamp(options.created_at, "created_at");
  return {.payload = payload, .created_at = options.created_at};
}

pending_item to_item(const queue_state& to, std::string_view payload,
                     const pending_options& options) {
  check_payload(payload, to.database().capabilities().max_payload);
  check_message(options);
  return {.payload = payload,
          .created_at = options.created_at,
          .due_at = options.due_at,
          .delay = options.delay};
}

std::vector<message_id> add(const queue_state& to, transaction_state* tx,
                            std::span<const plain_item> items, const when_full& full) {
  return insert(to, tx, enqueue_of(to.info().kind), items, full);
}

std::vector<message_id> add(const queue_state& to, transaction_state* tx,
                            std::span<const pending_item> items, const when_full& full) {
  return insert(to, tx, statements::pending_enqueue, items, full);
}

std::vector<message> read(const queue_state& of, transaction_state* tx, std::size_t max,
                          const dequeue_options& options) {
  check_batch_size(max);
  check_wait(options.wait, tx != nullptr);
  read_gate gate(of, tx, options.wait, options.stop);
  const auto once = [&] {
    return gate.pass(max, [&](transaction_state* in, std::size_t allowed) {
      auto got = to_messages(take_out(of, in, allowed), of.info().kind);
      apply(of, in, {.left = !got.empty()});
      return got;
    });
  };
  if (options.wait.count() == 0) return once();
  const auto patient = [&] { return gate.patiently(once); };
  if (of.info().kind != kind::pending) {
    return of.wait_for(options.wait, options.stop, nullptr, patient);
  }
  const auto due_in = [&] {
    const auto next =
        of.execute(nullptr, statements::pending_next_due, {.now = of.database().now()});
    return next.empty() ? std::nullopt : std::optional(next.front().delay);
  };
  return of.wait_for(options.wait, options.stop, due_in, patient);
}

std::vector<message> peek(const queue_state& of, std::size_t max) {
  using namespace statements;
  check_batch_size(max);
  const kind which = of.info().kind;
  if (which == kind::pending) {
    return to_messages(of.execute(nullptr, pending_peek, {.max = max, .now = of.database().now()}),
                       which);
  }
  const auto& what = which == kind::heap ? heap_peek : which == kind::fifo ? fifo_peek : lifo_peek;
  return to_messages(of.execute(nullptr, what, {.max = max}), which);
}

std::size_t purge(const queue_state& of) {
  using namespace statements;
  constexpr std::size_t batch = 1000;
  constexpr std::array by_kind{heap_purge, fifo_purge, lifo_purge, pending_purge};
  const auto& what = by_kind.at(static_cast<std::size_t>(of.info().kind));
  std::size_t purged = 0;
  for (;;) {
    const std::size_t gone = of.execute(nullptr, what, {.max = batch}).size();
    purged += gone;
    apply(of, nullptr, {.left = gone > 0});
    if (gone < batch) return purged;
  }
}

queue_stats count(const queue_state& of, const stats_options& options) {
  using namespace statements;
  constexpr std::array by_kind{heap_stats, fifo_stats, lifo_stats, pending_stats};
  const auto& what = by_kind.at(static_cast<std::size_t>(of.info().kind));
  const count_row row =
      of.execute(nullptr, what, {.max = count_limit(options), .now = of.database().now()}).at(0);
  return {.waiting = row.waiting,
          .delayed = row.delayed,
          .oldest = row.oldest,
          .counted_to = counted_to(options),
          .last_id = row.last_id,
          .as_of = row.as_of};
}

}  // namespace tableq::inline v0::core
