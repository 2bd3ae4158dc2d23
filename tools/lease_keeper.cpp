#include "lease_keeper.hpp"

#include <algorithm>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <utility>
#include <vector>

#include "backoff.hpp"

namespace tool {

using std::chrono::milliseconds;

lease_keeper::lease_keeper(tableq::claim_queue queue, milliseconds lease, held_messages& held,
                           status_line& status)
    : queue_(std::move(queue)),
      lease_(lease),
      held_(held),
      status_(status),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

void lease_keeper::run(const std::stop_token& stop) {
  const milliseconds period = std::max(lease_ / 3, milliseconds{1});
  backoff after_failure(std::min(period, milliseconds{100}), std::min(period, milliseconds{5000}));
  std::mutex mutex;
  std::condition_variable_any woken;
  std::unique_lock lock(mutex);
  milliseconds pause = period;
  for (;;) {
    woken.wait_for(lock, stop, pause, [] { return false; });
    if (stop.stop_requested()) return;
    if (extend_all()) {
      after_failure.reset();
      pause = period;
    } else {
      pause = after_failure.pause();
    }
  }
}

bool lease_keeper::extend_all() try {
  const std::vector<tableq::receipt> receipts = held_.receipts();
  if (receipts.empty()) return true;
  const std::vector<tableq::settled> results = queue_.extend(receipts, lease_);
  std::vector<tableq::receipt> lost;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i] == tableq::settled::lease_lost) lost.push_back(receipts[i]);
  }
  held_.signal(lost, SIGTERM);
  return true;
} catch (const std::exception& failure) {
  // The leases may outlive the trouble; the settling will tell.
  status_.trouble("cannot extend leases, trying again: " + std::string(failure.what()));
  return false;
}

}  // namespace tool
