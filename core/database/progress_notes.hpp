#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
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
  };
  struct entry {
    tableq::receipt receipt;
    std::shared_ptr<const note> said;
  };

  /// Whether a handler has ever reported progress.
  [[nodiscard]] bool used() const noexcept { return used_.load(std::memory_order_relaxed); }

  /// Replaces an earlier report for the message.
  void say(const receipt& of, note said) {
    // Nobody extends the leases of so many: the oldest report is of no use.
    constexpr std::size_t most = 10'000;
    auto made = std::make_shared<const note>(std::move(said));
    const std::scoped_lock hold(mutex_);
    waiting_.insert_or_assign(of, waiting{std::move(made), ++count_});
    if (waiting_.size() > most) {
      const auto number = [](const auto& each) { return each.second.number; };
      waiting_.erase(std::ranges::min_element(waiting_, {}, number));
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
      if (found != waiting_.end()) out.push_back({found->first, found->second.said});
    }
    return out;
  }

  /// This report is stored; a newer one stays.
  void stored(const entry& one) {
    const std::scoped_lock hold(mutex_);
    const auto found = waiting_.find(one.receipt);
    if (found != waiting_.end() && found->second.said == one.said) waiting_.erase(found);
  }

  /// The attempts have ended.
  void forget(const receipts_view& receipts) {
    if (!used()) return;
    const std::scoped_lock hold(mutex_);
    for (std::size_t i = 0; i < receipts.size(); ++i) waiting_.erase(receipts[i]);
  }

 private:
  struct waiting {
    std::shared_ptr<const note> said;
    std::uint64_t number = 0;
  };

  std::atomic<bool> used_{false};
  mutable std::mutex mutex_;
  std::map<receipt, waiting> waiting_;  // guarded by mutex_
  std::uint64_t count_ = 0;             // of all reports; guarded by mutex_
};

}  // namespace tableq::inline v0::core
