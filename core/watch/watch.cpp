#include <tableq/watch.hpp>

#include <chrono>
#include <utility>

#include <tableq/error.hpp>

#include "core/base/at_end.hpp"
#include "core/base/errors.hpp"
#include "core/claim/lease_table.hpp"
#include "core/database/access.hpp"
#include "core/database/open_transaction.hpp"
#include "core/queue/destructive.hpp"
#include "core/queue/waiting.hpp"
#include "core/watch/watch_state.hpp"

namespace tableq::inline v0 {
namespace core {
namespace {

/// How long until the next message falls due, by the database.
std::optional<std::chrono::milliseconds> due_in(const queue_state& queue) {
  return queue.info().kind == kind::pending ? next_due(queue) : leases_of(queue).next_due(queue);
}

}  // namespace

/// One queue. Follows its waker, and counts as a waiting reader for the watcher.
class watch_state::entry final : public wake_follower {
 public:
  entry(watch_state& owner, std::shared_ptr<queue_state> queue, std::int64_t given)
      : number(given),
        owner_(owner),
        queue_(std::move(queue)),
        reader_(queue_->database().waking(), queue_->shared().readers()) {}

  void follow() { queue_->shared().watched.readers.follow(*this); }
  void leave() noexcept { queue_->shared().watched.readers.unfollow(*this); }
  [[nodiscard]] bool attended() const { return reader_.attended(); }
  void woken_too() noexcept override { owner_.mark(*this); }

  void found_some() {
    reader_.found_by_itself();
    const std::scoped_lock hold(pauses_mutex_);
    pauses_.reset();
  }
  void found_none() {
    refuse_hidden(*queue_);
    reader_.ask_due([this] { return due_in(*queue_); });
    const auto attend_at = attend(*queue_);
    if (attend_at != std::chrono::steady_clock::time_point::max()) {
      reader_.look_again(std::chrono::ceil<std::chrono::milliseconds>(
          attend_at - std::chrono::steady_clock::now()));
    }
    if (!queue_->limits().limited()) return;
    // A limit may have held the messages back, of which no notification tells the end.
    const std::scoped_lock hold(pauses_mutex_);
    reader_.look_again(pauses_.pause());
  }
  [[nodiscard]] const database_state& database() const noexcept { return queue_->database(); }

  const std::int64_t number;
  entries::iterator place = {};  ///< Guarded by the watch's mutex, as the next one.
  bool marked = false;

 private:
  static constexpr std::chrono::milliseconds first_pause{10};
  static constexpr std::chrono::milliseconds longest_pause{500};

  watch_state& owner_;
  const std::shared_ptr<queue_state> queue_;
  watcher::waiting reader_;
  std::mutex pauses_mutex_;
  backoff pauses_{first_pause, longest_pause};  // guarded by pauses_mutex_
};

watch_state::~watch_state() {
  for (const auto& [number, place] : by_number_) (*place)->leave();
}

void watch_state::add(std::shared_ptr<queue_state> queue, std::int64_t number) {
  const auto made = std::make_shared<entry>(*this, std::move(queue), number);
  if (!made->attended()) {
    throw error(errc::busy, advice::statement, "the system has no thread for the watch");
  }
  {
    const std::scoped_lock hold(mutex_);
    const auto [at, added] = by_number_.try_emplace(number);
    if (!added) refuse("another queue of the watch has this number");
    at_end number_alone([&, at = at]() noexcept { by_number_.erase(at); });
    made->place = idle_.insert(idle_.end(), made);
    number_alone.cancel();
    at->second = made->place;
  }
  at_end entry_alone([&]() noexcept { remove(number); });
  made->follow();
  entry_alone.cancel();
  mark(*made);
}

void watch_state::remove(std::int64_t number) noexcept {
  std::shared_ptr<entry> old;
  {
    const std::scoped_lock hold(mutex_);
    const auto at = by_number_.find(number);
    if (at == by_number_.end()) return;
    old = *at->second;
    (old->marked ? ready_ : idle_).erase(at->second);
    by_number_.erase(at);
    old->place = {};
    old->marked = true;  // News that come now change nothing.
    if (ready_.empty()) ready_now_.lower();
  }
  old->leave();
}

void watch_state::mark(entry& one) noexcept {
  const std::scoped_lock hold(mutex_);
  if (one.marked) return;
  one.marked = true;
  ready_.splice(ready_.end(), idle_, one.place);
  ready_now_.raise();
}

std::optional<std::int64_t> watch_state::next() noexcept {
  const std::scoped_lock hold(mutex_);
  if (ready_.empty()) return std::nullopt;
  entry& first = *ready_.front();
  first.marked = false;
  idle_.splice(idle_.end(), ready_, ready_.begin());
  if (ready_.empty()) ready_now_.lower();
  return first.number;
}

void watch_state::done(std::int64_t number, std::size_t found) {
  std::shared_ptr<entry> read;
  {
    const std::scoped_lock hold(mutex_);
    const auto at = by_number_.find(number);
    if (at == by_number_.end()) refuse("no queue of the watch has this number");
    read = *at->second;
  }
  if (found > 0) {
    read->found_some();
    return mark(*read);
  }
  named(read->database().name(), "watch", [&] {
    read->database().check_here();
    check_beside(read->database(), beside::read_only, false);
    read->found_none();
  });
}

}  // namespace core

namespace {

core::watch_state& usable_watch(const std::unique_ptr<core::watch_state>& state) {
  return core::named({}, "watch", [&]() -> core::watch_state& {
    if (!state) core::refuse("the watch was moved from");
    if (!state->here()) core::refuse("the watch is of the parent process; make another one");
    return *state;
  });
}

void end(std::unique_ptr<core::watch_state>& state) noexcept {
  if (state) core::end_at_home()(state.release());
}

}  // namespace

watch::watch()
    : state_(core::named({}, "watch", [] { return std::make_unique<core::watch_state>(); })) {}
watch::watch(watch&&) noexcept = default;
watch& watch::operator=(watch&& other) noexcept {
  if (this == &other) return *this;
  end(state_);
  state_ = std::move(other.state_);
  return *this;
}
watch::~watch() {
  end(state_);
}

void watch::add(const queue& watched, std::int64_t number) {
  core::watch_state& state = usable_watch(state_);
  const core::database_state& database = core::access::state_of(watched).database();
  core::named(database.name(), "watch", [&] {
    database.check_here();
    if (core::access::is_bound(watched)) {
      core::refuse("a watch looks outside of transactions: give the queue, not queue.in(tx)");
    }
    state.add(core::access::shared_state_of(watched), number);
  });
}
void watch::remove(std::int64_t number) noexcept {
  if (state_ && state_->here()) state_->remove(number);
}
int watch::descriptor() const noexcept {
  return state_ && state_->here() ? state_->descriptor() : -1;
}
std::optional<std::int64_t> watch::next() noexcept {
  return state_ && state_->here() ? state_->next() : std::nullopt;
}
void watch::done(std::int64_t number, std::size_t found) {
  core::watch_state& state = usable_watch(state_);
  core::named({}, "watch", [&] { state.done(number, found); });
}

}  // namespace tableq::inline v0
