#pragma once

#include <atomic>
#include <memory>

namespace tableq::inline v0::core {

/// Marks, as long as it lives, that the thread that made it has an open transaction. Calls of such
/// a thread outside its transaction are not combined with calls of other threads: those would wait
/// for locks that only this thread can release.
class open_transaction {
 public:
  open_transaction();
  open_transaction(const open_transaction&) = delete;
  open_transaction& operator=(const open_transaction&) = delete;
  ~open_transaction();

  /// Whether the calling thread has an open transaction.
  [[nodiscard]] static bool here() noexcept;

 private:
  std::shared_ptr<std::atomic<int>> count_;  // of the thread that made it; it may end elsewhere
};

}  // namespace tableq::inline v0::core
