#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tableq_test {

/// When a call was made and when it returned, by one steady clock, in nanoseconds.
struct span {
  std::int64_t call = 0;
  std::int64_t back = 0;

  /// It was over before the other began.
  [[nodiscard]] bool before(const span& other) const { return back < other.call; }
  [[nodiscard]] bool meets(const span& other) const {
    return !before(other) && !other.before(*this);
  }
};

[[nodiscard]] inline std::int64_t steady_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

enum class deed {
  put,     ///< Added `values`, in this order.
  got,     ///< Read `values`, in this order; none: the queue was said to be empty.
  undone,  ///< Read `values` and rolled back, within `when`: the values were held and went back.
};

/// One call on a queue with destructive reads. A value names one message of a history.
struct operation {
  deed what = deed::put;
  std::vector<std::int64_t> values = {};
  span when = {};
  int actor = 0;
};
using history = std::vector<operation>;

/// The first thing in a history that a queue may not do, in words; nothing when there is none.
using complaint = std::optional<std::string>;

/// Nothing was read that was not put, or before it was put, or twice; with `complete` all that was
/// put was read.
[[nodiscard]] complaint check_conservation(const history& all, bool complete);

/// Linearizable as a first-in-first-out queue, undone reads left out. Takes n log n.
[[nodiscard]] complaint check_fifo(const history& all);

/// The same by trying orders, for any order of reads: for histories of at most 64 operations.
enum class sequence { fifo, lifo };
[[nodiscard]] complaint check_by_search(const history& all, sequence as);

/// How much of a history with relaxed order was not in order.
struct overtaking {
  std::size_t messages = 0;     ///< Were passed over by one that was put wholly later.
  std::size_t most = 0;         ///< So many passed over the same one.
  std::size_t unexplained = 0;  ///< Passed over although nobody held them at that time.
  std::string first;            ///< The first of those, in words.
};
[[nodiscard]] overtaking measure_overtaking(const history& all, sequence as);

/// A history for people.
[[nodiscard]] std::string printed(const history& all);

}  // namespace tableq_test
