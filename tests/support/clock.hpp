#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include <tableq/testing.hpp>

namespace tableq_test {

/// A clock that a test sets. Copies of `source()` stay valid after the clock's end.
class manual_clock {
 public:
  [[nodiscard]] tableq::timestamp now() const { return tableq::timestamp(step(now_->load())); }
  void advance(std::chrono::milliseconds by) { *now_ += by.count(); }
  void set(tableq::timestamp to) { *now_ = to.time_since_epoch().count(); }
  [[nodiscard]] std::shared_ptr<const tableq::testing::set_clock> source() const {
    return tableq::testing::clock_of(
        [shared = now_] { return tableq::timestamp(step(shared->load())); });
  }

 private:
  using step = tableq::timestamp::duration;
  // 2024-01-01T00:00:00Z
  std::shared_ptr<std::atomic<step::rep>> now_ =
      std::make_shared<std::atomic<step::rep>>(1'704'067'200'000);
};

}  // namespace tableq_test
