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

/// What is known of the limits, or the database's answer. Null: outside a transaction.
/// @throws error errc::not_found, errc::kind_mismatch when the queue was dropped.
known_limits limits_now(const queue_state& of, transaction_state* tx);

queue_limits read_limits(const queue_state& of);
bool read_paused(const queue_state& of);
void set_limits(const queue_state& of, const queue_limits& limits);
void set_paused(const queue_state& of, bool paused);

/// What one read of a metered queue may take, with the queue's row locked until the transaction
/// ends.
///
/// @par Thread safety
/// Shared objects: unsafe; it belongs to its transaction's thread.
class allowance {
 public:
  allowance(const queue_state& of, transaction_state& in);

  [[nodiscard]] std::size_t free() const noexcept { return free_; }
  /// If nothing is free: when it is worth to look again. Empty: when leases are given back.
  [[nodiscard]] std::optional<std::chrono::milliseconds> look_again() const noexcept {
    return look_again_;
  }
  /// So many were taken.
  /// @return whether the row has changed.
  bool spend(std::size_t count);

 private:
  void meter(std::int64_t rate, std::int64_t burst, std::int64_t tokens, std::int64_t refilled_at,
             std::int64_t clock);

  const queue_state& of_;
  transaction_state& in_;
  std::size_t free_;
  std::optional<std::chrono::milliseconds> look_again_;
  bool metered_ = false;
  bool set_back_ = false;  // the database's clock
  std::int64_t tokens_ = 0;
  std::int64_t refilled_at_ = 0;
};

/// Stands before the reads of one call: lets through what the limits allow.
///
/// @par Thread safety
/// Shared objects: unsafe.
class read_gate {
 public:
  /// @param wait how long the call may take, from now on.
  read_gate(const queue_state& of, transaction_state* tx, std::chrono::milliseconds wait,
            std::stop_token stop);

  /// Calls `read(transaction_state*, max)` with as many as it may take, or not at all. Reads of a
  /// metered queue have a transaction.
  template <class Read>
  auto pass(std::size_t max, Read read) {
    using found = std::invoke_result_t<Read&, transaction_state*, std::size_t>;
    held_back_.reset();
    const known_limits known = limits_now(of_, tx_);
    if (known.paused) {
      held_back_ = longest_pause;
      return found();
    }
    if (!known.metered) return read(tx_, max);
    const auto metered = [&](transaction_state& in, bool& changed) {
      held_back_.reset();
      keep_ = false;
      allowance allowed(of_, in);
      if (allowed.free() == 0) {
        held_back_ = allowed.look_again().value_or(growing_.pause());
        changed = allowed.spend(0);
        return found();
      }
      found got = read(&in, std::min(max, allowed.free()));
      changed = allowed.spend(got.size()) || !got.empty();
      return got;
    };
    bool changed = false;
    if (tx_ != nullptr) return metered(*tx_, changed);
    of_.table().raise_floor();
    return repeating(of_.database().options().retry_for, contact::known, [&] {
      const auto own = begin_transaction(of_.database().shared_from_this());
      auto got = metered(*own, changed);
      if (changed || keep_) own->commit();
      return got;
    });
  }

  /// Says inside a pass that something was changed although nothing is returned.
  void keep() noexcept { keep_ = true; }

  /// Whether the last pass was stopped by a limit.
  [[nodiscard]] bool held_back() const noexcept { return held_back_.has_value(); }

  /// Calls `read` again for as long as limits hold it back, the time is not over and no stop is
  /// requested.
  template <class Read>
  auto patiently(Read read) {
    for (;;) {
      const std::uint64_t mark = of_.limits().changes().mark();
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

  const queue_state& of_;
  transaction_state* tx_;
  std::chrono::steady_clock::time_point until_;
  std::stop_token stop_;
  std::optional<std::chrono::milliseconds> held_back_;
  bool keep_ = false;
  backoff growing_{first_pause, longest_pause};
};

/// Room for what one call is about to add to a queue, if that is bounded.
///
/// @par Thread safety
/// Shared objects: unsafe.
class room {
 public:
  /// Waits for room outside a transaction, where `full` says so.
  /// @throws error errc::queue_full.
  room(const queue_state& of, transaction_state* tx, std::size_t wanted,
       const when_full& full = {});
  room(const room&) = delete;
  room& operator=(const room&) = delete;
  ~room();

  /// So many were added, the rest not.
  void used(std::size_t count) noexcept { unused_ = reserved_ - std::min(count, reserved_); }

 private:
  [[nodiscard]] bool reserve(transaction_state* tx, std::size_t wanted, std::size_t capacity);
  [[noreturn]] void refuse(const char* sentence, advice safe) const;

  const queue_state& of_;
  std::size_t reserved_ = 0;
  std::size_t unused_ = 0;
};

}  // namespace tableq::inline v0::core
