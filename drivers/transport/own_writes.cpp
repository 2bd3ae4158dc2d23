#include "drivers/transport/own_writes.hpp"

#include <atomic>
#include <cstddef>
#include <mutex>
#include <vector>

namespace tableq::inline v0::drivers {

/// The writes of one `database` object.
class own_writes::watches {
 public:
  void mute() noexcept {
    if (count_.load(std::memory_order_relaxed) == 0) return;
    const std::scoped_lock hold(mutex_);
    for (mutable_watch* watch : all_) watch->mute();
  }

  void add(mutable_watch& watch) {
    const std::scoped_lock hold(mutex_);
    all_.push_back(&watch);
    count_ = all_.size();
  }

  void remove(mutable_watch& watch) noexcept {
    const std::scoped_lock hold(mutex_);
    std::erase(all_, &watch);
    count_ = all_.size();
  }

 private:
  std::mutex mutex_;
  std::vector<mutable_watch*> all_;
  std::atomic<std::size_t> count_ = 0;
};

own_writes::own_writes() : watches_(std::make_shared<watches>()) {}

void own_writes::begin() noexcept {
  watches_->mute();
}

void own_writes::add(mutable_watch& watch) {
  watches_->add(watch);
}

void own_writes::remove(mutable_watch& watch) noexcept {
  watches_->remove(watch);
}

}  // namespace tableq::inline v0::drivers
