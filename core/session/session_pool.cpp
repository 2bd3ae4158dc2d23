#include "core/session/session_pool.hpp"

#include <utility>

#include <tableq/error.hpp>

#include "core/base/at_end.hpp"
#include "core/observe/observation.hpp"

namespace tableq::inline v0::core {

namespace {

const stop_scope*& innermost_here() noexcept {
  thread_local const stop_scope* scope = nullptr;
  return scope;
}

}  // namespace

stop_scope::stop_scope(std::stop_token stop, std::stop_token cut) noexcept
    : stop_(std::move(stop)), cut_(std::move(cut)), outer_(std::exchange(innermost_here(), this)) {}
stop_scope::~stop_scope() {
  innermost_here() = outer_;
}
const stop_scope* stop_scope::innermost() noexcept {
  return innermost_here();
}
std::stop_token stop_scope::stop() noexcept {
  return innermost() == nullptr ? std::stop_token() : innermost()->stop_;
}

void session_returner::operator()(connection* session) noexcept {
  cut.reset();
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
  leased_session out(session.release(), session_returner{this});
  const stop_scope* const scope = stop_scope::innermost();
  if (scope != nullptr && scope->cut().stop_possible()) {
    out.get_deleter().cut =
        std::make_unique<std::stop_callback<session_cut>>(scope->cut(), session_cut{out.get()});
  }
  return out;
}

std::unique_ptr<connection> session_pool::idle_or_place(std::chrono::milliseconds patience) {
  std::size_t broken = 0;
  std::unique_ptr<connection> found;
  {
    std::unique_lock hold(mutex_);
    const auto free = [this] { return !idle_.empty() || open_ < most_; };
    const std::stop_token stop = stop_scope::stop();
    const stop_scope* const scope = stop_scope::innermost();
    const bool cut = scope != nullptr && scope->cut().stop_requested();
    if (cut || (!free() && !returned_.wait_for(hold, stop, patience, free))) {
      throw no_free_session(
          errc::busy, advice::statement,
          stop.stop_requested()
              ? "the call was to stop before it had a session"
              : "all sessions stayed in use for the session time-out; end transactions sooner, "
                "raise max_sessions, or do not call from inside an open transaction's thread",
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
