#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <type_traits>

#include <tableq/fwd.hpp>
#include <tableq/limits.hpp>

#include "core/database/transaction_state.hpp"
#include "core/queue/queue_state.hpp"
#include "core/session/backoff.hpp"

namespace tableq::inline v0::core {

/// The known limits of this process, or the database's answer. `tx` is null outside a transaction.
/// @throws error errc::not_found, errc::kind_mismatch when the queue was dropped.
known_limits limits_now(const queue_state& queue, transaction_state* tx);

queue_limits read_limits(const queue_state& queue);
bool read_paused(const queue_state& queue);
void set_limits(const queue_state& queue, const queue_limits& limits);
void set_paused(const queue_state& queue, bool paused);

/// The number of messages that one read of a metered queue may take. Locks the queue's row until
/// the transaction ends.
///
/// @par Thread safety
/// Shared objects: unsafe; it belongs to its transaction's thread.
class allowance {
 public:
  allowance(const queue_state& queue, transaction_state& tx);

  [[nodiscard]] std::size_t free() const noexcept { return free_; }
  /// If nothing is free: when to try again. Empty: after leases have ended.
  [[nodiscard]] std::optional<std::chrono::milliseconds> retry_after() const noexcept {
    return retry_after_;
  }
  /// Call this after `count` messages were taken.
  /// @return whether the row has changed.
  bool spend(std::size_t count);

 private:
  void meter(std::int64_t rate, std::int64_t burst, std::int64_t tokens, std::int64_t refilled_at,
             std::int64_t clock);

  const queue_state& queue_;
  transaction_state& tx_;
  std::size_t free_;
  std::optional<std::chrono::milliseconds> retry_after_;
  bool metered_ = false;
  bool set_back_ = false;  // the database's clock was set back
  std::int64_t tokens_ = 0;
  std::int64_t refilled_at_ = 0;
};

/// Controls the reads of one call, so that they respect the limits.
///
/// @par Thread safety
/// Shared objects: unsafe.
class read_gate {
 public:
  /// @param wait how long the call may take from now on.
  read_gate(const queue_state& queue, transaction_state* tx, std::chrono::milliseconds wait,
            std::stop_token stop);

  /// Called before each read.
  /// @param looks the read takes nothing from a queue with limits: then an old answer is enough.
  /// @return whether it needs no `limited`.
  [[nodiscard]] bool unlimited(bool looks = false);

  /// Calls `read(transaction_state*, max)` in a transaction, with the number of messages that it
  /// may take; does not call it if that is zero, or if the queue is paused.
  template <class Read>
  auto limited(std::size_t max, Read read) {
    using found = std::invoke_result_t<Read&, transaction_state*, std::size_t>;
    if (held_back()) return found();
    const auto within = [&](transaction_state& tx, bool& changed) {
      held_back_.reset();
      keep_ = false;
      allowance allowed(queue_, tx);
      if (allowed.free() == 0) {
        held_back_ = allowed.retry_after().value_or(growing_.pause());
        changed = allowed.spend(0);
        return found();
      }
      found got = read(&tx, std::min(max, allowed.free()));
      changed = allowed.spend(got.size()) || !got.empty();
      return got;
    };
    bool changed = false;
    if (tx_ != nullptr) return tx_->as_unit([&] { return within(*tx_, changed); });
    return repeating(queue_.database().options().retry_for, contact::known, [&] {
      const auto own = begin_transaction(queue_.database().shared_from_this());
      auto got = within(*own, changed);
      if (changed || keep_) {
        own->commit();
      } else {
        own->found_nothing();
      }
      return got;
    });
  }

  /// Called inside `limited`, if the read changed rows although it returns nothing.
  void keep() noexcept { keep_ = true; }

  /// A limit stopped the last read, which keeps limits by itself.
  /// @param retry_in empty: after leases have ended.
  void hold_back(std::optional<std::chrono::milliseconds> retry_in) {
    held_back_ = retry_in.value_or(growing_.pause());
  }

  /// Whether a limit stopped the last read.
  [[nodiscard]] bool held_back() const noexcept { return held_back_.has_value(); }

  /// Repeats `read` while limits stop it, until the time ends or a stop is requested.
  template <class Read>
  auto patiently(Read read) {
    for (;;) {
      const std::uint64_t mark = queue_.limits().changes().mark();
      auto got = read();
      if (!got.empty() || !held_back()) {
        growing_.reset();
        return got;
      }
      if (!rest(mark)) return got;
    }
  }

 private:
  static constexpr std::chrono::milliseconds first_pause{10};
  static constexpr std::chrono::milliseconds longest_pause{500};

  /// @return false when there is no time left, or a stop was requested.
  bool rest(std::uint64_t since);

  const queue_state& queue_;
  transaction_state* tx_;
  std::chrono::steady_clock::time_point until_;
  std::stop_token stop_;
  std::optional<std::chrono::milliseconds> held_back_;
  bool keep_ = false;
  backoff growing_{first_pause, longest_pause};
};

/// Reserves room in a bounded queue for the messages that one call adds.
///
/// @par Thread safety
/// Shared objects: unsafe.
class room {
 public:
  /// Outside a transaction it waits for room as `full` demands.
  /// @throws error errc::queue_full.
  room(const queue_state& queue, transaction_state* tx, std::size_t wanted,
       const when_full& full = {});
  room(const room&) = delete;
  room& operator=(const room&) = delete;
  ~room();

  /// Only `count` of the reserved messages were added.
  void used(std::size_t count) noexcept { unused_ = reserved_ - std::min(count, reserved_); }

 private:
  [[nodiscard]] bool reserve(transaction_state* tx, std::size_t wanted, std::size_t capacity);
  [[noreturn]] void refuse(const char* sentence, advice safe) const;

  const queue_state& queue_;
  std::size_t reserved_ = 0;
  std::size_t unused_ = 0;
};

}  // namespace tableq::inline v0::core
