#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace tableq::inline v0::core {

/// Decides which source of a worker gets the next free handler: the highest precedence first, and
/// within one precedence by weight. Start-time fair queueing (Goyal, Vin, Cheng: "Start-time Fair
/// Queueing", SIGCOMM 1996) with one unit for each message: a source that had no messages gets no
/// credit for that time, and a source that was alone has no debt.
///
/// @par Thread safety
/// Shared objects: unsafe; the mutex of worker_state guards it.
class turns {
 public:
  /// @param weight 1 to 1,000.
  void add(std::size_t weight, int precedence) {
    served_.try_emplace(precedence, 0);
    sources_.push_back({.step = unit / weight, .precedence = precedence});
  }

  /// Whether sources differ in precedence.
  [[nodiscard]] bool ranked() const noexcept { return served_.size() > 1; }

  /// Messages arrived at a source that had none.
  void filled(std::size_t source) noexcept {
    state& one = sources_[source];
    one.start = std::max(one.start, served_.find(one.precedence)->second);
  }

  /// The source whose turn it is among those that have messages; it has used its turn afterwards.
  /// @param has called with the number of a source.
  template <class Has>
  [[nodiscard]] std::optional<std::size_t> next(Has has) noexcept {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < sources_.size(); ++i) {
      if (has(i) && (!best || before(sources_[i], sources_[*best]))) best = i;
    }
    if (best) {
      state& one = sources_[*best];
      served_.find(one.precedence)->second = one.start;
      one.start += one.step;
    }
    return best;
  }

 private:
  /// The cost of a message at weight 1. 2^44 messages fit into a start.
  static constexpr std::uint64_t unit = std::uint64_t{1} << 20U;

  struct state {
    std::uint64_t step;
    int precedence;
    std::uint64_t start = 0;  ///< Virtual time of the next message.
  };

  static bool before(const state& one, const state& other) noexcept {
    if (one.precedence != other.precedence) return one.precedence > other.precedence;
    return one.start < other.start;
  }

  std::vector<state> sources_;
  std::map<int, std::uint64_t> served_;  ///< For each precedence, the start of the last message.
};

}  // namespace tableq::inline v0::core
