#include "core/session/session_pool.hpp"

#include <utility>

#include <tableq/error.hpp>

#include "core/base/at_end.hpp"
#include "core/observe/observation.hpp"

namespace tableq::inline v0::core {

void session_returner::operator()(connection* session) const noexcept {
  pool->give_back(std::unique_ptr<connection>(session));
}

session_pool::session_pool(driver& source, std::size_t most, std::chrono::milliseconds patience,
                           observer* sink)
    : driver_(source), most_(most), patience_(patience), sink_(sink) {
  idle_.reserve(most);  // giving back must not fail
}

session_pool::~session_pool() {
  report_closed(idle_.size(), false);
}

leased_session session_pool::lease(std::chrono::milliseconds patience) {
  born_.check(driver_.name());
  std::unique_ptr<connection> session = idle_or_place(patience);
  if (!session) session = connect();
  return leased_session(session.release(), session_returner{this});
}

std::unique_ptr<connection> session_pool::idle_or_place(std::chrono::milliseconds patience) {
  std::size_t broken = 0;
  std::unique_ptr<connection> found;
  {
    std::unique_lock hold(mutex_);
    const auto free = [this] { return !idle_.empty() || open_ < most_; };
    if (!free() && !returned_.wait_for(hold, patience, free)) {
      throw no_free_session(
          errc::busy, advice::statement,
          "all sessions stayed in use for the session time-out; end transactions sooner, raise "
          "max_sessions, or do not call from inside an open transaction's thread",
          {.backend = driver_.name(), .operation = "connect"});
    }
    while (!idle_.empty() && !found) {
      found = std::move(idle_.back());
      idle_.pop_back();
      // A session that was lost while idle is found here, before anything is sent.
      if (found->usable()) continue;
      found.reset();
      --open_;
      ++broken;
    }
    if (!found) ++open_;
  }
  report_closed(broken, true);
  return found;
}

std::unique_ptr<connection> session_pool::connect() {
  const auto begin = std::chrono::steady_clock::now();
  at_end place([this]() noexcept {
    const std::scoped_lock hold(mutex_);
    --open_;
    returned_.notify_one();
  });
  std::unique_ptr<connection> session = driver_.connect();
  place.cancel();
  notify_observer(sink_, [&](observer& sink) {
    sink.session_opened(driver_.name(), std::chrono::steady_clock::now() - begin);
  });
  return session;
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
  if (!keep) report_closed(1, true);
}

void session_pool::report_closed(std::size_t count, bool broken) const noexcept {
  for (; count > 0; --count) {
    notify_observer(sink_, [&](observer& sink) { sink.session_closed(driver_.name(), broken); });
  }
}

}  // namespace tableq::inline v0::core
