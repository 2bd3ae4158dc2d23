#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

#include <tableq/receipts.hpp>

namespace tableq::inline v0::core {

/// Is told which receipts are settled through a database object. Its functions are called under the
/// mutex of `settlements`: quick, and without a call of it.
class settle_follower {
 public:
  /// A settlement of these begins.
  virtual void settling(const receipts_view& receipts) noexcept = 0;
  /// It has ended.
  /// @param done false: it failed, and the receipts may still be valid.
  virtual void settled(const receipts_view& receipts, bool done) noexcept = 0;

 protected:
  ~settle_follower() = default;
};

/// The settlements of one database object. Without a follower they cost one load.
///
/// @par Thread safety
/// Shared objects: safe.
class settlements {
 public:
  void follow(settle_follower& each) {
    const std::scoped_lock hold(mutex_);
    followers_.push_back(&each);
    count_ = followers_.size();
  }
  void unfollow(settle_follower& each) noexcept {
    const std::scoped_lock hold(mutex_);
    std::erase(followers_, &each);
    count_ = followers_.size();
  }

  /// One settlement. Borrows the receipts.
  class running {
   public:
    running(settlements& all, const receipts_view& receipts) : all_(all), receipts_(receipts) {
      all_.tell([&](settle_follower& each) { each.settling(receipts_); });
    }
    running(const running&) = delete;
    running& operator=(const running&) = delete;
    ~running() {
      all_.tell([&](settle_follower& each) { each.settled(receipts_, done_); });
    }
    /// The database has answered for each receipt.
    void done() noexcept { done_ = true; }

   private:
    settlements& all_;
    const receipts_view receipts_;
    bool done_ = false;
  };

 private:
  template <class Tell>
  void tell(Tell each) noexcept {
    if (count_ == 0) return;
    const std::scoped_lock hold(mutex_);
    for (settle_follower* const one : followers_) each(*one);
  }

  std::atomic<std::size_t> count_{0};
  std::mutex mutex_;
  std::vector<settle_follower*> followers_;  // guarded by mutex_
};

}  // namespace tableq::inline v0::core
