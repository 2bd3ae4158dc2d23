#include "core/claim/transfer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/groups.hpp"
#include "core/claim/operations.hpp"
#include "core/claim/step.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/identity.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// The items of claim.restore. Owns the converted texts.
class restored {
 public:
  restored(const queue_state& queue, std::span<const removed_row> messages) : queue_(queue) {
    items_.reserve(messages.size());
    for (const removed_row& each : messages) items_.push_back(item_of(each));
  }
  restored(const restored&) = delete;
  restored& operator=(const restored&) = delete;
  ~restored() = default;

  [[nodiscard]] std::span<const restore_item> items() const noexcept { return items_; }
  [[nodiscard]] std::size_t count(message_state state) const {
    return static_cast<std::size_t>(std::ranges::count(items_, state, &restore_item::state));
  }

 private:
  restore_item item_of(const removed_row& from) {
    restore_item out{.payload = from.payload,
                     .state = from.state,
                     .priority = from.priority,
                     .attempts = from.attempts,
                     .created_at = from.created_at,
                     .finished_at = from.finished_at,
                     .expires_at = from.expires_at,
                     .max_attempts = from.max_attempts,
                     .retry = from.retry,
                     .headers = text_of(from.headers),
                     .errors = text_of(from.errors)};
    if (from.group_key) out.group = *from.group_key;
    const bool grouped = queue_.info().groups && out.group;
    if (grouped && from.state == message_state::ready) out.state = message_state::held;
    if (from.state == message_state::delayed) out.due_at = from.due_at;
    if (from.key) (from.holds_key && is_key(*from.key) ? out.key : out.past_key) = *from.key;
    return out;
  }

  /// JSON as this database takes it.
  std::optional<std::string_view> text_of(const std::optional<std::string>& json) {
    if (!json) return std::nullopt;
    if (!queue_.database().narrow_texts()) return *json;
    return texts_.emplace_back(in_ascii(*json));
  }

  const queue_state& queue_;
  std::deque<std::string> texts_ = {};  // a deque never moves its elements
  std::vector<restore_item> items_ = {};
};

}  // namespace

std::vector<removed_row> extract(const queue_state& queue, transaction_state& tx,
                                 std::span<const message_id> ids, int states) {
  if (ids.empty()) return {};
  return claim_step(queue, &tx, ids, true, [&](transaction_state* step_tx, claim_effects& done) {
    auto rows = queue.execute(step_tx, statements::claim_remove, {.states = states}, items_of(ids));
    done.left = !rows.empty();
    std::vector<removed_row> out;
    out.reserve(rows.size());
    for (auto& row : rows) out.push_back(std::move(row));
    std::ranges::sort(out, {}, &removed_row::id);
    return out;
  });
}

void restore(const queue_state& queue, transaction_state& tx, std::span<const removed_row> messages,
             bool readmitted) {
  if (messages.empty()) return;
  std::optional<room> place;
  if (!readmitted) place.emplace(queue, &tx, messages.size());
  const restored all(queue, messages);
  group_set groups;
  for (const restore_item& each : all.items()) {
    if (queue.info().groups && each.group) groups.emplace(*each.group);
  }
  claim_step(queue, &tx, {}, true, [&](transaction_state* step_tx, claim_effects& done) {
    lock_groups(queue, *step_tx, groups);
    const auto added = queue.execute(step_tx, statements::claim_restore,
                                     {.now = queue.database().now()}, all.items());
    if (added.size() < messages.size()) {
      static_cast<void>(ask_row(queue, step_tx));
      step_tx->spoil();
      throw error(errc::conflict, advice::transaction,
                  "another message of the queue " + queue.name() + " has taken the key meanwhile",
                  {.backend = queue.database().name()});
    }
    done.readable = all.count(message_state::ready);
    done.readmitted = readmitted;
    done.groups = groups;
    return added.size();
  });
  if (place) place->used(messages.size());
  if (all.count(message_state::delayed) > 0) {
    // The database's clock tells when.
    queue.shared().watched.due.expect(std::chrono::steady_clock::now(),
                                      std::chrono::milliseconds{0});
  }
}

}  // namespace tableq::inline v0::core
