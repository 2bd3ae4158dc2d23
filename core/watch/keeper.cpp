#include <tableq/keeper.hpp>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <tableq/error.hpp>

#include "core/base/at_end.hpp"
#include "core/base/errors.hpp"
#include "core/base/process.hpp"
#include "core/base/wake_pipe.hpp"
#include "core/claim/operations.hpp"
#include "core/database/access.hpp"
#include "core/database/settlements.hpp"
#include "core/input/validate.hpp"
#include "core/queue/queue_state.hpp"
#include "core/session/backoff.hpp"

namespace tableq::inline v0 {
namespace core {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// After a refusal or a failure.
constexpr milliseconds first_pause_of_a_keeper{100};
constexpr milliseconds longest_pause_of_a_keeper{2000};
/// An open transaction has the row.
constexpr milliseconds pause_for_lock{500};

milliseconds period_of(milliseconds lease) {
  return std::max(lease / 3, milliseconds{1});
}

}  // namespace

/// The messages of a keeper, and the thread that extends their leases.
///
/// @par Thread safety
/// Shared objects: safe.
class keeper_state final : public settle_follower {
 public:
  explicit keeper_state(std::shared_ptr<database_state> database);
  keeper_state(const keeper_state&) = delete;
  keeper_state& operator=(const keeper_state&) = delete;
  ~keeper_state();

  [[nodiscard]] bool here() const noexcept { return database_->here(); }
  [[nodiscard]] const database_state& database() const noexcept { return *database_; }
  [[nodiscard]] int descriptor() const noexcept { return lost_some_.get(); }
  void add(std::shared_ptr<queue_state> queue, const receipt& taken, milliseconds lease);
  [[nodiscard]] bool remove(const receipt& taken) noexcept;
  [[nodiscard]] std::vector<lost_lease> lost();
  [[nodiscard]] std::size_t size() noexcept;

  void settling(const receipts_view& receipts) noexcept override;
  void settled(const receipts_view& receipts, bool done) noexcept override;

 private:
  using moment = steady_clock::time_point;

  struct kept {
    std::shared_ptr<queue_state> queue;
    milliseconds lease;
    moment sure_until;         ///< The lease lasts at least until then.
    moment next_at;            ///< Of its extension.
    int settling = 0;          ///< Settlements that run now.
    bool told_to_end = false;  ///< That its batch was cancelled.
  };
  using all = std::map<receipt, kept>;
  /// Messages of one queue that have one length of lease.
  struct batch {
    std::shared_ptr<queue_state> queue;
    milliseconds lease;
    std::vector<receipt> receipts;
  };

  void run() noexcept;
  /// Waits until a lease is to be extended. @return those; none: the keeper ends.
  [[nodiscard]] std::vector<batch> due();
  void extend(const batch& some);
  /// @throws error of the database.
  void extend_once(const batch& some);
  void postpone(const batch& some, milliseconds pause);
  /// Loses those whose leases may have ended.
  void lose_expired(const batch& some);

  /// After a pause, and before that if the lease ends: then it is lost.
  [[nodiscard]] static moment next_try(const kept& one, milliseconds pause) noexcept;

  // Under the mutex:
  /// The batches of those that are due, or nearly.
  [[nodiscard]] std::vector<batch> due_by(moment now);
  void tell(all::iterator at, lost_lease::cause why);
  void lose(all::iterator at, lost_lease::cause why);

  const std::shared_ptr<database_state> database_;
  std::mutex mutex_;
  std::condition_variable changed_;
  all kept_;  // guarded by mutex_, as all below but the thread
  std::vector<lost_lease> lost_;
  wake_pipe lost_some_;                  // raised while `lost_` has some
  moment sleeps_until_ = moment::min();  ///< An earlier extension wakes the thread.
  bool ended_ = false;
  backoff pauses_;  // of the thread
  std::thread thread_;
};

keeper_state::keeper_state(std::shared_ptr<database_state> database)
    : database_(std::move(database)), pauses_(first_pause_of_a_keeper, longest_pause_of_a_keeper) {
  database_->settled().follow(*this);
  at_end followed([this]() noexcept { database_->settled().unfollow(*this); });
  try {
    thread_ = std::thread([this] { run(); });
    followed.cancel();
  } catch (const std::system_error&) {
    throw error(errc::busy, advice::statement, "the system has no thread for the keeper");
  }
}

keeper_state::~keeper_state() {
  database_->settled().unfollow(*this);
  {
    const std::scoped_lock hold(mutex_);
    ended_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void keeper_state::add(std::shared_ptr<queue_state> queue, const receipt& taken,
                       milliseconds lease) {
  const moment now = steady_clock::now();
  const moment next = now + period_of(lease);
  const kept one{
      .queue = std::move(queue), .lease = lease, .sure_until = now + lease, .next_at = next};
  bool sooner = false;
  {
    const std::scoped_lock hold(mutex_);
    kept_.insert_or_assign(taken, one);
    sooner = next < sleeps_until_;
  }
  if (sooner) changed_.notify_all();
}

bool keeper_state::remove(const receipt& taken) noexcept {
  const std::scoped_lock hold(mutex_);
  return kept_.erase(taken) > 0;
}

std::vector<lost_lease> keeper_state::lost() {
  const std::scoped_lock hold(mutex_);
  lost_some_.lower();
  return std::exchange(lost_, {});
}

std::size_t keeper_state::size() noexcept {
  const std::scoped_lock hold(mutex_);
  return kept_.size();
}

void keeper_state::settling(const receipts_view& receipts) noexcept {
  const std::scoped_lock hold(mutex_);
  for (std::size_t i = 0; i < receipts.size(); ++i) {
    if (const auto at = kept_.find(receipts[i]); at != kept_.end()) ++at->second.settling;
  }
}

void keeper_state::settled(const receipts_view& receipts, bool done) noexcept {
  const std::scoped_lock hold(mutex_);
  for (std::size_t i = 0; i < receipts.size(); ++i) {
    const auto at = kept_.find(receipts[i]);
    if (at == kept_.end()) continue;
    if (done) {
      kept_.erase(at);
    } else if (at->second.settling > 0) {  // Zero: it was added meanwhile.
      --at->second.settling;
    }
  }
}

void keeper_state::run() noexcept {
  for (;;) {
    try {
      const std::vector<batch> some = due();
      if (some.empty()) return;
      for (const batch& one : some) {
        extend(one);
        lose_expired(one);
      }
    } catch (...) {  // noexcept: memory is short; the next round may have some.
      std::unique_lock hold(mutex_);
      changed_.wait_for(hold, first_pause_of_a_keeper, [this] { return ended_; });
    }
  }
}

std::vector<keeper_state::batch> keeper_state::due() {
  std::unique_lock hold(mutex_);
  for (;;) {
    if (ended_) return {};
    const moment now = steady_clock::now();
    sleeps_until_ = now + std::chrono::hours{1};
    for (const auto& [taken, one] : kept_) sleeps_until_ = std::min(sleeps_until_, one.next_at);
    if (sleeps_until_ > now) {
      changed_.wait_until(hold, sleeps_until_);
    } else if (std::vector<batch> out = due_by(now); !out.empty()) {
      return out;
    }
  }
}

std::vector<keeper_state::batch> keeper_state::due_by(moment now) {
  std::vector<batch> out;
  std::map<std::pair<const queue_state*, milliseconds>, std::size_t> places;
  for (auto& [taken, one] : kept_) {
    // Those that are nearly due go along.
    if (one.next_at > now + period_of(one.lease) / 4) continue;
    if (one.settling != 0) {  // It may fail, without a word.
      one.next_at = now + std::min(period_of(one.lease), pause_for_lock);
      continue;
    }
    const auto [place, added] =
        places.try_emplace(std::pair(one.queue.get(), one.lease), out.size());
    if (added) out.push_back(batch{one.queue, one.lease, {}});
    out[place->second].receipts.push_back(taken);
  }
  return out;
}

void keeper_state::extend(const batch& some) {
  try {
    extend_once(some);
    pauses_.reset();
  } catch (const error& failure) {
    if (some.receipts.size() == 1 || !may_concern_one_row(failure))
      return postpone(some, pauses_.pause());
    for (const receipt& each : some.receipts)
      extend({.queue = some.queue, .lease = some.lease, .receipts = {each}});
  }
}

void keeper_state::extend_once(const batch& some) {
  const moment began = steady_clock::now();
  const heartbeats found = heartbeat(*some.queue, some.receipts, some.lease);
  const std::scoped_lock hold(mutex_);
  for (std::size_t i = 0; i < found.leases.size(); ++i) {
    const auto at = kept_.find(some.receipts[i]);
    if (at == kept_.end()) continue;
    kept& one = at->second;
    if (found.leases[i] == pulse::extended) {
      one.sure_until = began + some.lease;
      one.next_at = began + period_of(some.lease);
    } else if (found.leases[i] == pulse::lost && one.settling == 0) {
      lose(at, lost_lease::cause::lease_lost);
    } else {
      one.next_at = next_try(one, std::min(period_of(some.lease), pause_for_lock));
    }
  }
  for (const std::size_t i : found.stopped) {
    const auto at = kept_.find(some.receipts[i]);
    if (at == kept_.end() || std::exchange(at->second.told_to_end, true)) continue;
    tell(at, lost_lease::cause::batch_cancelled);
  }
}

void keeper_state::postpone(const batch& some, milliseconds pause) {
  const std::scoped_lock hold(mutex_);
  for (const receipt& each : some.receipts) {
    const auto at = kept_.find(each);
    if (at == kept_.end()) continue;
    at->second.next_at = next_try(at->second, std::min(period_of(some.lease), pause));
  }
}

keeper_state::moment keeper_state::next_try(const kept& one, milliseconds pause) noexcept {
  const moment now = steady_clock::now();
  return std::min(now + pause, std::max(one.sure_until, now));
}

void keeper_state::lose_expired(const batch& some) {
  const moment now = steady_clock::now();
  const std::scoped_lock hold(mutex_);
  for (const receipt& each : some.receipts) {
    const auto at = kept_.find(each);
    if (at == kept_.end() || at->second.settling != 0 || at->second.sure_until > now) continue;
    lose(at, lost_lease::cause::not_confirmed);
  }
}

void keeper_state::tell(all::iterator at, lost_lease::cause why) {
  lost_.push_back({.receipt = at->first, .queue = at->second.queue->name(), .why = why});
  lost_some_.raise();
}

void keeper_state::lose(all::iterator at, lost_lease::cause why) {
  tell(at, why);
  kept_.erase(at);
}

}  // namespace core

namespace {

/// Checks a message for a keeper.
/// @return the length of its lease.
std::chrono::milliseconds checked_lease(const core::keeper_state& state, const queue& handle,
                                        const receipt& taken,
                                        std::optional<std::chrono::milliseconds> lease) {
  const core::queue_state& queue = core::access::state_of(handle);
  if (&queue.database() != &state.database()) {
    core::refuse("the queue is of another database object than the keeper; make one for each");
  }
  if (core::access::is_bound(handle)) {
    core::refuse("a keeper works outside of transactions: give the queue, not queue.in(tx)");
  }
  if (taken.queue != queue.info().identity) {
    core::refuse("the receipt is not of the queue " + queue.name());
  }
  const std::chrono::milliseconds length = lease.value_or(queue.info().lease);
  core::check_lease(length);
  return length;
}

core::keeper_state& usable_keeper(const std::unique_ptr<core::keeper_state>& state) {
  return core::named({}, "keeper", [&]() -> core::keeper_state& {
    if (!state) core::refuse("the keeper was moved from");
    state->database().check_here();
    return *state;
  });
}

void end(std::unique_ptr<core::keeper_state>& state) noexcept {
  if (state) core::end_at_home()(state.release());
}

}  // namespace

keeper::keeper(const database& db) {
  core::database_state& state = core::access::state_of(db);
  core::named(state.name(), "keeper", [&] {
    state.check_here();
    state_ = std::make_unique<core::keeper_state>(state.shared_from_this());
  });
}
keeper::keeper(keeper&&) noexcept = default;
keeper& keeper::operator=(keeper&& other) noexcept {
  if (this == &other) return *this;
  end(state_);
  state_ = std::move(other.state_);
  return *this;
}
keeper::~keeper() {
  end(state_);
}

void keeper::add(const claim_queue& queue, const receipt& taken,
                 std::optional<std::chrono::milliseconds> lease) {
  core::keeper_state& state = usable_keeper(state_);
  core::named(state.database().name(), "keeper", [&] {
    state.add(core::access::shared_state_of(queue), taken,
              checked_lease(state, queue, taken, lease));
  });
}
void keeper::add(const table_queue& table, const receipt& taken,
                 std::optional<std::chrono::milliseconds> lease) {
  core::keeper_state& state = usable_keeper(state_);
  core::named(state.database().name(), "keeper", [&] {
    if (table.mapping().lease_until.empty()) {
      core::refuse(errc::unsupported,
                   "the mapping of the table " + table.name() +
                       " has no lease_until, so its rows have no lease to extend");
    }
    state.add(core::access::shared_state_of(table), taken,
              checked_lease(state, table, taken, lease));
  });
}
bool keeper::remove(const receipt& taken) noexcept {
  return state_ && state_->here() && state_->remove(taken);
}
std::vector<lost_lease> keeper::lost() {
  return usable_keeper(state_).lost();
}
int keeper::descriptor() const noexcept {
  return state_ && state_->here() ? state_->descriptor() : -1;
}
std::size_t keeper::size() const noexcept {
  return state_ && state_->here() ? state_->size() : 0;
}

}  // namespace tableq::inline v0
