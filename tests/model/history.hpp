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

  /// It ended before the other began.
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
  got,     ///< Read `values`, in this order; none: the read returned empty.
  undone,  ///< Read `values` and rolled back, within `when`: the values were held and returned.
};

/// One call on a queue with destructive reads. A value names one message of a history.
struct operation {
  deed what = deed::put;
  std::vector<std::int64_t> values = {};
  span when = {};
  int actor = 0;
};
using history = std::vector<operation>;

/// The first violation in a history, as text; empty when there is none.
using complaint = std::optional<std::string>;

/// No value was read without or before its put, or twice; with `complete` all put values were read.
[[nodiscard]] complaint check_conservation(const history& all, bool complete);

/// Linearizable as a first-in-first-out queue, without undone reads. Takes n log n.
[[nodiscard]] complaint check_fifo(const history& all);

/// The same by trying orders, for any order of reads: for histories of at most 64 operations.
enum class sequence { fifo, lifo };
[[nodiscard]] complaint check_by_search(const history& all, sequence as);

/// The disorder in a history with relaxed order.
struct overtaking {
  std::size_t messages = 0;     ///< Messages passed over by one that was put after them.
  std::size_t most = 0;         ///< The most that passed over the same one.
  std::size_t unexplained = 0;  ///< Passed over although no call held them at that time.
  std::string first;            ///< The first of those, as text.
};
[[nodiscard]] overtaking measure_overtaking(const history& all, sequence as);

/// A history as text.
[[nodiscard]] std::string printed(const history& all);

}  // namespace tableq_test
