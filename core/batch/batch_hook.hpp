#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>

#include "core/queue/queue_hook.hpp"
#include "core/session/paced_work.hpp"

namespace tableq::inline v0::core {

/// Keeps the members of batches, and ends batches. Each process looks at most once a second for
/// what an ended process or a commit of the application has left.
///
/// Borrows its database, which owns it.
///
/// @par Thread safety
/// Shared objects: safe.
class batch_hook final : public queue_hook {
 public:
  explicit batch_hook(database_state& database) noexcept : database_(database) {}

  /// Looks for what is left to be done, if it is time: an upkeep.
  std::chrono::steady_clock::time_point attend(const queue_state& queue,
                                               const queue_info& stored) noexcept;
  void adding(const queue_state& queue, transaction_state& tx,
              std::span<const batch_id* const> places) override;
  void added(const queue_state& queue, transaction_state& tx,
             std::span<const batch_id* const> places, std::span<const message_id> ids) override;
  void settled(const queue_state& queue, transaction_state& tx, const message_ends& ends) override;
  void returned(const queue_state& queue, transaction_state& tx,
                std::span<const rejoin_item> messages) override;
  [[nodiscard]] std::vector<std::size_t> stopped(const queue_state& queue,
                                                 std::span<const receipt> running) override;

 private:
  using clock = paced_work::clock;

  /// One part of the work, and where the next look begins.
  struct look {
    paced_work pace = {};
    std::int64_t after = 0;  // only the thread that works uses it
  };

  [[nodiscard]] look& members_of(const queue_state& queue);
  [[nodiscard]] std::int64_t look_at_batches(std::int64_t after);
  [[nodiscard]] std::int64_t look_at_members(const queue_state& queue, std::int64_t after);

  database_state& database_;
  look batches_;
  std::mutex mutex_;
  std::map<std::int64_t, look> members_;  // by the queue's identity; guarded by mutex_
};

/// Adds to the total of a batch, for a message or a batch.
/// @throws error errc::invalid_argument when the batch takes none.
void add_to_batch(const queue_state& desk, transaction_state& tx, const batch_id& batch,
                  std::int64_t count);

}  // namespace tableq::inline v0::core
