#include "support/tds_gate.hpp"

#include <condition_variable>
#include <list>
#include <mutex>

namespace tableq_test {

struct tds_gate::state {
  std::mutex guard;
  std::condition_variable changed;
  bool open = false;                       // under guard
  bool reached = false;                    // under guard
  std::list<std::function<void()>> awake;  // under guard
};

tds_gate::tds_gate() : state_(std::make_shared<state>()) {}

void tds_gate::open() {
  const std::lock_guard lock(state_->guard);
  state_->open = true;
  for (const auto& wake : state_->awake) wake();
}

bool tds_gate::is_open() const {
  const std::lock_guard lock(state_->guard);
  return state_->open;
}

bool tds_gate::reached(std::chrono::milliseconds limit) const {
  std::unique_lock lock(state_->guard);
  return state_->changed.wait_for(lock, limit, [this] { return state_->reached; });
}

std::shared_ptr<void> tds_gate::stand(std::function<void()> wake) {
  const std::lock_guard lock(state_->guard);
  const auto place = state_->awake.insert(state_->awake.end(), std::move(wake));
  state_->reached = true;
  state_->changed.notify_all();
  return {nullptr, [kept = state_, place](void*) {
            const std::lock_guard leaving(kept->guard);
            kept->awake.erase(place);
          }};
}

}  // namespace tableq_test
