#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <tableq/claim_options.hpp>
#include <tableq/message.hpp>

#include "core/database/transaction_state.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/batch_requests.hpp"

namespace tableq::inline v0::core {

/// The messages of a claim queue that have ended, or come back.
struct message_ends {
  std::vector<message_id> completed = {};
  std::vector<message_id> dead = {};
  std::vector<message_id> removed = {};
  std::vector<message_id> redriven = {};
};

/// The work of another room within operations of queues that have an option for it. Its changes are
/// part of the operation's transaction.
///
/// @par Thread safety
/// Shared objects: safe.
class queue_hook {
 public:
  queue_hook() = default;
  queue_hook(const queue_hook&) = delete;
  queue_hook& operator=(const queue_hook&) = delete;
  virtual ~queue_hook() = default;

  /// Before messages are added. @param places one for each message; null: none.
  virtual void adding(const queue_state& queue, transaction_state& tx,
                      std::span<const batch_id* const> places) = 0;
  /// Afterwards. @param ids zero: the message was not added.
  virtual void added(const queue_state& queue, transaction_state& tx,
                     std::span<const batch_id* const> places, std::span<const message_id> ids) = 0;

  virtual void settled(const queue_state& queue, transaction_state& tx,
                       const message_ends& ends) = 0;
  /// Dead messages that came back from the dead-letter queue.
  virtual void returned(const queue_state& queue, transaction_state& tx,
                        std::span<const rejoin_item> messages) = 0;

  /// The indexes of the running messages whose handlers are to stop.
  [[nodiscard]] virtual std::vector<std::size_t> stopped(const queue_state& queue,
                                                         std::span<const receipt> running) = 0;
};

/// The hook for the messages of the queue; null: it has none.
[[nodiscard]] inline queue_hook* hook_of(const queue_state& queue) noexcept {
  return queue.info().batches ? queue.database().hook() : nullptr;
}

}  // namespace tableq::inline v0::core
