#pragma once

#include <mutex>
#include <utility>

#include "model/claim_history.hpp"
#include "model/history.hpp"
#include "support/any_queue.hpp"

namespace tableq_test {

/// Runs `call` and returns its times.
template <class F>
span timed(F&& call) {
  const std::int64_t begin = steady_now();
  call();
  return {begin, steady_now()};
}

/// The collected calls of many threads.
template <class One>
class recorder {
 public:
  void add(One one) {
    const std::lock_guard lock(guard_);
    all_.push_back(std::move(one));
  }
  [[nodiscard]] const std::vector<One>& all() const { return all_; }
  void clear() { all_.clear(); }

 private:
  std::mutex guard_;
  std::vector<One> all_;
};

/// One thread's calls on a queue of any kind with destructive reads; the payloads are numbers. Each
/// call is recorded when its outcome is certain.
class queue_actor {
 public:
  queue_actor(tableq::database& db, any_queue& queue, recorder<operation>& into, int actor)
      : db_(db), queue_(queue), into_(into), actor_(actor) {}

  void put(const std::vector<std::int64_t>& values);
  void get(std::size_t max);
  /// Reads in a transaction that is rolled back.
  void get_and_undo(std::size_t max);
  /// Reads and adds in one transaction.
  void get_and_put(std::size_t max, std::int64_t value);
  /// Reads until nothing is left.
  void drain();

 private:
  tableq::database& db_;
  any_queue& queue_;
  recorder<operation>& into_;
  int actor_;
};

/// One thread's calls on a `claim` queue. Payloads and options have no effect here.
class claim_actor {
 public:
  claim_actor(tableq::claim_queue queue, recorder<claim_event>& into)
      : queue_(std::move(queue)), into_(into) {}

  /// @param group zero: none
  void put(std::size_t count, int group = 0);
  /// With a wait the lease also begins within the call, at an unknown time, so it is used only at
  /// the end.
  void take(std::size_t max, std::chrono::milliseconds lease, std::chrono::milliseconds wait = {});
  /// Takes in a transaction of `db` that is rolled back: its receipts are not valid.
  void take_and_undo(tableq::database& db, std::size_t max);
  /// Calls `what` with one of the last receipts, which may be stale; `which` chooses it.
  void ask(claim_deed what, std::uint64_t which, std::chrono::milliseconds lease);
  /// Completes the other messages when their leases end.
  void drain();

 private:
  void settle(claim_deed what, const tableq::receipt& by, std::chrono::milliseconds lease);

  tableq::claim_queue queue_;
  recorder<claim_event>& into_;
  std::vector<tableq::receipt> receipts_;
};

}  // namespace tableq_test
