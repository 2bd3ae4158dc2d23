#include "core/seam/fault_plan.hpp"

#include <utility>

#include "core/base/errors.hpp"

namespace tableq::inline v0::core {
namespace {

constexpr std::size_t longest_history = 10'000;

bool suits(const testing::fault& fault, bool lasting, fault_plan::way may_fail) noexcept {
  switch (fault.what) {
    case testing::trouble::lost_connection:
      return true;
    case testing::trouble::unknown_commit:
      return lasting;
    default:
      return may_fail == fault_plan::way::any;
  }
}

}  // namespace

std::optional<testing::fault> fault_plan::next(std::string_view name, bool lasting, way may_fail) {
  const std::scoped_lock hold(mutex_);
  std::optional<testing::fault> found = due(name);
  if (found && !suits(*found, lasting, may_fail)) found.reset();
  if (found) ++failures_;
  history_.push_back(
      {.number = ++calls_, .name = std::string(name), .lasting = lasting, .failed = found});
  if (history_.size() > longest_history) history_.pop_front();
  return found;
}

std::optional<testing::fault> fault_plan::due(std::string_view name) {
  std::optional<testing::fault> found;
  for (order& each : orders_) {
    if (!each.name.empty() && each.name != name) continue;
    if (--each.left == 0 && !found) found = each.fault;
  }
  std::erase_if(orders_, [](const order& each) { return each.left == 0; });
  if (found || probability_ == 0) return found;
  // No distribution of the standard library: their results differ between implementations.
  constexpr double steps = 4294967296.0;
  const auto draw = static_cast<double>(random_() >> 32U);
  const std::uint64_t index = random_();
  if (draw < probability_ * steps) found = candidates_[index % candidates_.size()];
  return found;
}

}  // namespace tableq::inline v0::core

namespace tableq::inline v0::testing {

faults::faults(std::uint64_t seed) : plan_(std::make_shared<core::fault_plan>(seed)) {}
void faults::fail(std::size_t nth, const fault& failure) const {
  fail({}, failure, nth);
}
void faults::fail(std::string_view name, const fault& failure, std::size_t nth) const {
  core::named({}, "testing", [&] {
    if (nth == 0) core::refuse("calls are counted from 1: nth must not be 0");
  });
  const std::scoped_lock hold(plan_->mutex_);
  plan_->orders_.push_back({std::string(name), nth, failure});
}
void faults::fail_some(double probability, std::vector<fault> failures) const {
  core::named({}, "testing", [&] {
    if (!(probability >= 0 && probability <= 1))
      core::refuse("the probability must be from 0 to 1");
    if (failures.empty()) core::refuse("the list of faults is empty");
  });
  const std::scoped_lock hold(plan_->mutex_);
  plan_->probability_ = probability;
  plan_->candidates_ = std::move(failures);
}
void faults::heal() const {
  const std::scoped_lock hold(plan_->mutex_);
  plan_->orders_.clear();
  plan_->probability_ = 0;
}
std::size_t faults::calls() const {
  const std::scoped_lock hold(plan_->mutex_);
  return plan_->calls_;
}
std::size_t faults::failures() const {
  const std::scoped_lock hold(plan_->mutex_);
  return plan_->failures_;
}
std::vector<call> faults::history() const {
  const std::scoped_lock hold(plan_->mutex_);
  return {plan_->history_.begin(), plan_->history_.end()};
}
void faults::start_over() const {
  heal();
  const std::scoped_lock hold(plan_->mutex_);
  plan_->calls_ = 0;
  plan_->failures_ = 0;
  plan_->history_.clear();
}

}  // namespace tableq::inline v0::testing
