#include "core/claim/operations.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <random>
#include <string_view>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/step.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/seam/claim_requests.hpp"
#include "core/seam/claim_statements.hpp"
#include "core/seam/row_failure.hpp"

namespace tableq::inline v0::core {
namespace {

/// The number of messages that one statement makes ready.
constexpr std::size_t promote_batch = 1000;

constexpr std::string_view unreadable = "the headers cannot be read: no JSON object in UTF-8";

/// The messages of a take.
struct taken {
  std::vector<delivery> good = {};
  std::vector<unfit_message> unfit = {};
};

taken to_taken(std::vector<delivery_row> rows, const queue_state& queue) {
  taken out;
  out.good.reserve(rows.size());
  for (delivery_row& row : rows) {
    const receipt mine{.id = row.id, .fence = row.fence, .queue = queue.info().identity};
    if (row.expired) {
      out.unfit.push_back({.receipt = mine, .why = "expired"});
      continue;
    }
    std::optional<headers> read = to_headers(row.headers);
    if (!read) {  // No later attempt could read them either.
      out.unfit.push_back({.receipt = mine, .why = unreadable, .attempt_counts = true});
      continue;
    }
    out.good.push_back({.receipt = mine,
                        .payload = std::move(row.payload),
                        .headers = *std::move(read),
                        .key = std::move(row.key),
                        .group = std::move(row.group_key),
                        .priority = row.priority,
                        .attempt = row.attempts,
                        .created_at = row.created_at,
                        .claimed_at = row.claimed_at,
                        .lease_until = row.lease_until});
  }
  // No database guarantees an order for the rows that an UPDATE returns.
  std::sort(out.good.begin(), out.good.end(), [](const delivery& a, const delivery& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.receipt.id < b.receipt.id;
  });
  return out;
}

/// Makes a batch of due or expired messages ready or dead.
/// @return how many.
std::size_t promote_some(const queue_state& queue, transaction_state* tx) {
  const bool pass = queue.info().groups && queue.info().groups->on_failure == group_policy::pass;
  return claim_step(queue, tx, {}, has_consequences(queue),
                    [&](transaction_state* step_tx, claim_effects& done) {
                      const auto rows = queue.execute(step_tx, statements::claim_promote,
                                                      {.max = promote_batch,
                                                       .max_attempts = queue.info().max_attempts,
                                                       .regroup = pass,
                                                       .now = queue.database().now()});
                      std::vector<message_id> left;  // their groups have room
                      for (const state_row& row : rows) {
                        const bool dead = row.state == message_state::dead;
                        if (dead) done.dead.push_back(row.id);
                        if (dead || row.state == message_state::held) left.push_back(row.id);
                      }
                      if (queue.info().groups && !left.empty())
                        lock_groups_of(queue, *step_tx, left, done);
                      done.left = !rows.empty();  // Some messages may be dead now.
                      return rows.size();
                    });
}

/// The part of a fence that stays unique when a take is rolled back.
std::int64_t new_token() {
  // A random device would cost more than the take. The clock makes the numbers of a process differ
  // from those of its fork.
  thread_local std::mt19937_64 random{std::random_device{}()};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t mixed = random() ^ (static_cast<std::uint64_t>(now) * 0x9E3779B97F4A7C15U);
  return static_cast<std::int64_t>(mixed >> 32U);
}

/// Takes messages until some can be delivered, or none is left. Makes the others dead.
std::vector<delivery> take_fit(const queue_state& queue, transaction_state* tx,
                               take_request request, read_gate& gate) {
  for (;;) {
    request.token = new_token();
    request.now = queue.database().now();
    const bool committed = tx == nullptr || tx->in_none();
    taken got = to_taken(queue.execute(tx, statements::claim_take, request), queue);
    if (!got.unfit.empty()) {
      try {
        make_dead(queue, tx, got.unfit);
      } catch (const error& failure) {
        // The deliverable messages are leased, so they are delivered. The others return when their
        // leases end. In a transaction of tableq's the error undoes everything.
        if (!committed && !tx->keeps_changes()) throw;
        if (got.good.empty() && !may_concern_one_row(failure)) throw;
      }
      gate.keep();
    }
    if (!got.good.empty() || got.unfit.empty()) return std::move(got.good);
  }
}

}  // namespace

std::vector<delivery> take(const queue_state& queue, transaction_state* tx, std::size_t max,
                           const take_options& options) {
  check_batch_size(max);
  check_wait(options.wait, tx != nullptr);
  check_timestamp(options.claimed_at, "claimed_at");
  const std::chrono::milliseconds lease = options.lease.value_or(queue.info().lease);
  check_lease(lease);
  const bool unkey = queue.info().keys == key_scope::waiting;
  read_gate gate(queue, tx, options.wait, options.stop);
  const auto once = [&](bool guard) {
    const auto take_now = [&](transaction_state* read_tx, std::size_t most) {
      return take_fit(queue, read_tx,
                      {.max = most,
                       .lease = lease,
                       .claimed_at = options.claimed_at,
                       .guard = guard,
                       .unkey = unkey},
                      gate);
    };
    return gate.unlimited() ? take_now(tx, max) : gate.limited(max, take_now);
  };
  const auto due_ones_too = [&] {
    // With the guard it returns nothing while a due or expired message may come first.
    std::vector<delivery> got = once(true);
    if (!got.empty() || gate.held_back()) return got;
    while (promote_some(queue, tx) == promote_batch) {
    }
    return once(false);
  };
  if (options.wait.count() == 0) return due_ones_too();
  const auto due_in = [&] {
    const auto next =
        queue.execute(nullptr, statements::claim_next_due, {.now = queue.database().now()});
    return next.empty() ? std::nullopt : std::optional(next.front().delay);
  };
  return queue.wait_for(options.wait, options.stop, due_in,
                        [&] { return gate.patiently(due_ones_too); });
}

}  // namespace tableq::inline v0::core
