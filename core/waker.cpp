#include "core/waker.hpp"

namespace tableq::core {

void waker::wake() noexcept {
  {
    const std::scoped_lock hold(mutex_);
    ++count_;
  }
  woken_.notify_all();
}

std::uint64_t waker::mark() noexcept {
  const std::scoped_lock hold(mutex_);
  return count_;
}

void waker::wait(std::uint64_t since, std::chrono::milliseconds longest,
                 const std::stop_token& stop) {
  std::unique_lock hold(mutex_);
  woken_.wait_for(hold, stop, longest, [&] { return count_ != since; });
}

}  // namespace tableq::core
