#pragma once

#include <atomic>
#include <memory>

namespace tableq::inline v0::core {

/// While an object lives, the thread that made it has an open transaction. Calls of this thread
/// outside the transaction are not combined with calls of other threads: the other threads would
/// wait for locks that only this thread can release.
class open_transaction {
 public:
  open_transaction();
  open_transaction(const open_transaction&) = delete;
  open_transaction& operator=(const open_transaction&) = delete;
  ~open_transaction();

  /// Whether the calling thread has an open transaction.
  [[nodiscard]] static bool on_this_thread() noexcept;

 private:
  std::shared_ptr<std::atomic<int>> count_;  // of the creating thread
};

}  // namespace tableq::inline v0::core
