#include "core/waking/change_signal.hpp"

namespace tableq::inline v0::core {

void change_signal::ring() noexcept {
  {
    const std::scoped_lock hold(mutex_);
    ++count_;
  }
  rung_.notify_all();
}

std::uint64_t change_signal::mark() noexcept {
  const std::scoped_lock hold(mutex_);
  return count_;
}

void change_signal::wait(std::uint64_t since, std::chrono::milliseconds longest,
                         const std::stop_token& stop) {
  std::unique_lock hold(mutex_);
  rung_.wait_for(hold, stop, longest, [&] { return count_ != since; });
}

}  // namespace tableq::inline v0::core
