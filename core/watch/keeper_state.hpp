#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <tableq/keeper.hpp>

#include "core/base/wake_pipe.hpp"
#include "core/claim/operations.hpp"
#include "core/database/settlements.hpp"
#include "core/queue/queue_state.hpp"
#include "core/session/backoff.hpp"

namespace tableq::inline v0::core {

/// The messages of a keeper, and the thread that extends their leases.
///
/// @par Thread safety
/// Shared objects: safe.
class keeper_state final : public settle_follower {
 public:
  explicit keeper_state(std::shared_ptr<database_state> database);
  keeper_state(const keeper_state&) = delete;
  keeper_state& operator=(const keeper_state&) = delete;
  ~keeper_state();

  [[nodiscard]] bool here() const noexcept { return database_->here(); }
  [[nodiscard]] const database_state& database() const noexcept { return *database_; }
  [[nodiscard]] int descriptor() const noexcept { return lost_some_.get(); }
  void add(std::shared_ptr<queue_state> queue, const receipt& taken,
           std::chrono::milliseconds lease);
  [[nodiscard]] bool remove(const receipt& taken) noexcept;
  [[nodiscard]] std::vector<lost_lease> lost();
  [[nodiscard]] std::size_t size() noexcept;

  void settling(const receipts_view& receipts) noexcept override;
  void settled(const receipts_view& receipts, bool done) noexcept override;

 private:
  using moment = std::chrono::steady_clock::time_point;

  struct kept {
    std::shared_ptr<queue_state> queue;
    std::chrono::milliseconds lease;
    moment sure_until;         ///< The lease lasts at least until then.
    moment next_at;            ///< Of its extension.
    int settling = 0;          ///< Settlements that run now.
    bool told_to_end = false;  ///< That its batch was cancelled.
  };
  using all = std::map<receipt, kept>;
  /// Messages of one queue that have one length of lease.
  struct batch {
    std::shared_ptr<queue_state> queue;
    std::chrono::milliseconds lease;
    std::vector<receipt> receipts;
  };

  void run() noexcept;
  /// Waits until a lease is to be extended. @return those; none: the keeper ends.
  [[nodiscard]] std::vector<batch> due();
  void extend(const batch& some);
  /// @throws error of the database.
  void extend_once(const batch& some);
  void postpone(const batch& some, std::chrono::milliseconds pause);
  /// Loses those whose leases may have ended.
  void lose_expired(const batch& some);

  /// After a pause, and before that if the lease ends: then it is lost.
  [[nodiscard]] static moment next_try(const kept& one, std::chrono::milliseconds pause) noexcept;

  // Under the mutex:
  /// The batches of those that are due, or nearly.
  [[nodiscard]] std::vector<batch> due_by(moment now);
  void tell(all::iterator at, lost_lease::cause why);
  void lose(all::iterator at, lost_lease::cause why);

  const std::shared_ptr<database_state> database_;
  std::mutex mutex_;
  std::condition_variable changed_;
  all kept_;  // guarded by mutex_, as all below but the thread
  std::vector<lost_lease> lost_;
  wake_pipe lost_some_;                  // raised while `lost_` has some
  moment sleeps_until_ = moment::min();  ///< An earlier extension wakes the thread.
  bool ended_ = false;
  backoff pauses_;  // of the thread
  std::thread thread_;
};

}  // namespace tableq::inline v0::core
