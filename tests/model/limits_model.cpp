#include "model/limits_model.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "model/described.hpp"

namespace tableq_test {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t message = 1'000'000'000;

}  // namespace

std::int64_t limits_model::full() const {
  return message * limits_.burst.value_or(static_cast<int>(std::ceil(*limits_.rate)));
}

void limits_model::set(const tableq::queue_limits& to, tableq::timestamp now) {
  const bool had_rate = limits_.rate.has_value();
  limits_ = to;
  if (!limits_.rate) return;
  if (had_rate) {
    left_.tokens = std::min(left_.tokens, full());
  } else {
    left_ = {full(), now};
  }
}

std::size_t limits_model::allowed(std::size_t leased, tableq::timestamp now) {
  set_back_ = false;
  if (paused_) return 0;
  std::size_t out = std::numeric_limits<std::size_t>::max();
  if (limits_.rate) {
    const auto passed = now - left_.refilled_at;
    set_back_ = passed < 0ms;
    const double refilled = static_cast<double>(message) * *limits_.rate *
                            std::chrono::duration<double>(std::max(passed, 0ms)).count();
    const auto more = static_cast<std::int64_t>(std::llround(refilled));
    now_.tokens = std::min(left_.tokens + more, full());
    now_.refilled_at = now;
    out = static_cast<std::size_t>(std::max<std::int64_t>(now_.tokens, 0) / message);
  }
  if (limits_.concurrency) {
    const auto most = static_cast<std::size_t>(*limits_.concurrency);
    out = std::min(out, most - std::min(most, leased));
  }
  return out;
}

std::string limits_model::described() const {
  std::string left;
  if (limits_.rate) {
    left = std::to_string(left_.tokens) + ' ' +
           std::to_string(left_.refilled_at.time_since_epoch().count());
  }
  return tableq_test::described(limits_, paused_, left);
}

void limits_model::took(std::size_t count) {
  if (paused_ || !limits_.rate || (count == 0 && !set_back_)) return;
  left_ = now_;
  left_.tokens -= static_cast<std::int64_t>(count) * message;
}

}  // namespace tableq_test
