#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/testing.hpp>

namespace tableq::inline v0::core {

/// The state behind `testing::faults`. Decides for each call whether it fails.
///
/// @par Thread safety
/// Shared objects: safe.
class fault_plan {
 public:
  /// The ways in which a call may fail.
  enum class way { any, lost };

  explicit fault_plan(std::uint64_t seed) : random_(seed) {}

  /// Records a call, and returns its fault, if it has one.
  /// @param lasting whether a successful call has a lasting effect.
  std::optional<testing::fault> next(std::string_view name, bool lasting, way may_fail);

 private:
  friend class testing::faults;

  struct order {
    std::string name;
    std::size_t left;  // calls until it is due
    testing::fault fault;
  };

  /// The fault that is due. The mutex is held.
  std::optional<testing::fault> due(std::string_view name);

  mutable std::mutex mutex_;  // guards all below
  std::vector<order> orders_;
  double probability_ = 0;
  std::vector<testing::fault> candidates_;
  std::mt19937_64 random_;
  std::size_t calls_ = 0;
  std::size_t failures_ = 0;
  std::deque<testing::call> history_;
};

}  // namespace tableq::inline v0::core
