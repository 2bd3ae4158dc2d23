#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <tableq/receipts.hpp>

namespace tableq::inline v0::core {

/// The progress that handlers have reported for messages of one queue, until it is stored. Without
/// a report it costs one load.
///
/// @par Thread safety
/// Shared objects: safe.
class progress_notes {
 public:
  struct note {
    std::int64_t done = 0;  ///< Millionths.
    std::string text = {};
    std::uint64_t number = 0;  ///< Of all reports.
  };
  using entry = std::pair<receipt, note>;

  /// Whether a handler has ever reported progress.
  [[nodiscard]] bool used() const noexcept { return used_.load(std::memory_order_relaxed); }

  /// Replaces an earlier report for the message.
  void say(const receipt& of, note said) {
    // Nobody extends the leases of so many: the oldest report is of no use.
    constexpr std::size_t most = 10'000;
    const std::scoped_lock hold(mutex_);
    said.number = ++count_;
    waiting_.insert_or_assign(of, std::move(said));
    if (waiting_.size() > most) {
      waiting_.erase(std::ranges::min_element(waiting_, {},
                                              [](const auto& each) { return each.second.number; }));
    }
    used_ = true;
  }

  /// The reports for these messages that are not stored yet.
  [[nodiscard]] std::vector<entry> of(const receipts_view& receipts) const {
    std::vector<entry> out;
    if (!used()) return out;
    const std::scoped_lock hold(mutex_);
    for (std::size_t i = 0; i < receipts.size() && !waiting_.empty(); ++i) {
      const auto found = waiting_.find(receipts[i]);
      if (found != waiting_.end()) out.emplace_back(*found);
    }
    return out;
  }

  /// This report is stored; a newer one stays.
  void stored(const entry& one) {
    const std::scoped_lock hold(mutex_);
    const auto found = waiting_.find(one.first);
    if (found != waiting_.end() && found->second.number == one.second.number) waiting_.erase(found);
  }

  /// The attempts have ended.
  void forget(const receipts_view& receipts) {
    if (!used()) return;
    const std::scoped_lock hold(mutex_);
    for (std::size_t i = 0; i < receipts.size(); ++i) waiting_.erase(receipts[i]);
  }

 private:
  std::atomic<bool> used_{false};
  mutable std::mutex mutex_;
  std::map<receipt, note> waiting_;  // guarded by mutex_
  std::uint64_t count_ = 0;          // guarded by mutex_
};

}  // namespace tableq::inline v0::core
