#include "backoff.hpp"

#include <algorithm>
#include <condition_variable>
#include <mutex>

namespace tool {

bool transient(tableq::errc code) {
  switch (code) {
    case tableq::errc::connection_failed:
    case tableq::errc::connection_lost:
    case tableq::errc::busy:
    case tableq::errc::conflict:
    case tableq::errc::cancelled:
      return true;
    default:
      return false;
  }
}

backoff::backoff(std::chrono::milliseconds first, std::chrono::milliseconds most)
    : first_(first), most_(most), next_(first), random_(std::random_device{}()) {}

std::chrono::milliseconds backoff::pause() {
  const auto whole = next_.count();
  next_ = std::min(most_, 2 * next_);
  return std::chrono::milliseconds{
      std::uniform_int_distribution<std::chrono::milliseconds::rep>(whole / 2, whole)(random_)};
}

bool backoff::wait(const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  // Nothing but the stop request can end it early.
  woken.wait_for(lock, stop, pause(), [] { return false; });
  return !stop.stop_requested();
}

}  // namespace tool
