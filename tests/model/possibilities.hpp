#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tableq/testing.hpp>

#include "support/seed.hpp"

namespace tableq_test {

/// The possible states of the queue while the outcome of a call is unknown. Owns the faults that
/// make outcomes unknown.
template <class Model>
class possibilities {
 public:
  [[nodiscard]] const tableq::testing::faults& faults() const { return faults_; }

  /// Until `heal` the outcome of a commit, or of a change outside of a transaction, is lost: of the
  /// first one, or of a later one.
  void arm(random_source& random) {
    using tableq::testing::moment;
    const tableq::testing::fault lost{.what = tableq::testing::trouble::unknown_commit,
                                      .when = random.one_in(2) ? moment::before : moment::after};
    const std::size_t first = random.one_in(2) ? 1 : 1 + random.below(12);
    constexpr std::size_t calls = 40;
    faults_.start_over();  // The history is of the last 10,000 calls.
    for (std::size_t nth = first; nth < first + calls; ++nth) faults_.fail(nth, lost);
    armed_ = true;
  }
  void heal() {
    faults_.heal();
    armed_ = false;
  }
  /// Whether an outcome was lost since `arm`.
  [[nodiscard]] bool lost() const { return armed_ && failures() > 0; }

  /// Makes a call. @return whether its success was reported.
  template <class Call>
  [[nodiscard]] bool told(Call&& call) {
    try {
      std::forward<Call>(call)();
      return true;
    } catch (const tableq::error& failure) {
      if (!lost() || failure.code() != tableq::errc::outcome_unknown) throw;
      return false;
    }
  }

  /// Adds a possible state, beside that of the walk's model.
  void may_be(const Model& state) { states_.push_back(state); }
  template <class Change>
  void each(Change change) {
    for (Model& state : states_) change(state);
  }
  void forget() { states_.clear(); }
  [[nodiscard]] bool open() const { return !states_.empty(); }

  /// The state whose `describe` equals the queue; empty when there is none. If several do, the one
  /// before the changes: a database may give the ids of a lost transaction again.
  template <class Describe>
  [[nodiscard]] std::optional<Model> decided(const Model& model, const std::string& there,
                                             Describe describe) {
    states_.push_back(model);
    std::optional<Model> out;
    for (Model& each : states_) {
      if (out || describe(each) != there) continue;
      out = std::move(each);
    }
    ++decisions_;
    states_.clear();
    return out;
  }
  /// The number of unknown outcomes that a query has decided.
  [[nodiscard]] std::uint64_t decisions() const { return decisions_; }

 private:
  /// What a process tells others of deleted rows may get lost without any effect.
  [[nodiscard]] std::size_t failures() const {
    const auto calls = faults_.history();
    return static_cast<std::size_t>(std::ranges::count_if(calls, [](const auto& call) {
      return call.failed && !call.name.starts_with("floors.write");
    }));
  }

  tableq::testing::faults faults_;
  bool armed_ = false;
  std::vector<Model> states_;
  std::uint64_t decisions_ = 0;
};

}  // namespace tableq_test
