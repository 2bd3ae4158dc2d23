#pragma once

#include <utility>

namespace tableq::inline v0::core {

/// Runs `work`, which must not throw, at its end, unless `cancel` was called: what an exception
/// interrupts does not stay half done.
///
/// @par Thread safety
/// One thread.
template <class Work>
class at_end {
 public:
  explicit at_end(Work work) : work_(std::move(work)) {}
  at_end(const at_end&) = delete;
  at_end& operator=(const at_end&) = delete;
  ~at_end() {
    if (armed_) work_();
  }
  void cancel() noexcept { armed_ = false; }

 private:
  Work work_;
  bool armed_ = true;
};

}  // namespace tableq::inline v0::core
