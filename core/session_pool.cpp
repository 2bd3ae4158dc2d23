#include "core/session_pool.hpp"

#include <utility>

#include <tableq/error.hpp>

namespace tableq::core {

leased_session::~leased_session() {
  if (session_) pool_->give_back(std::move(session_));
}

session_pool::session_pool(driver& from, std::size_t most, std::chrono::milliseconds patience)
    : from_(from), most_(most), patience_(patience) {
  idle_.reserve(most);  // giving back must not fail
}

leased_session session_pool::lease() {
  {
    std::unique_lock hold(mutex_);
    const auto free = [this] { return !idle_.empty() || open_ < most_; };
    if (!returned_.wait_for(hold, patience_, free)) {
      throw no_free_session(
          errc::busy, advice::statement,
          "all sessions stayed in use for the session time-out; end transactions sooner, raise "
          "max_sessions, or do not call from inside an open transaction's thread",
          {.backend = from_.name(), .operation = "connect"});
    }
    while (!idle_.empty()) {
      std::unique_ptr<connection> session = std::move(idle_.back());
      idle_.pop_back();
      // One that died while it was idle is found here, where nothing has been sent yet.
      if (session->usable()) return {*this, std::move(session)};
      --open_;
    }
    ++open_;
  }
  try {
    return {*this, from_.connect()};
  } catch (...) {  // Whatever it was, the place is free again; it goes on unchanged.
    const std::scoped_lock hold(mutex_);
    --open_;
    returned_.notify_one();
    throw;
  }
}

void session_pool::give_back(std::unique_ptr<connection> session) noexcept {
  const bool keep = session->usable();
  {
    const std::scoped_lock hold(mutex_);
    if (keep) {
      idle_.push_back(std::move(session));
    } else {
      --open_;
    }
  }
  returned_.notify_one();
}

}  // namespace tableq::core
