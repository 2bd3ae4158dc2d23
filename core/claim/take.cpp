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
#include "core/seam/claim_statements.hpp"
#include "core/seam/row_failure.hpp"

namespace tableq::inline v0::core {
namespace {

/// Messages that are moved to ready by one statement.
constexpr std::size_t promote_batch = 1000;

constexpr std::string_view unreadable = "the headers cannot be read: no JSON object in UTF-8";

/// What a take got.
struct taken {
  std::vector<delivery> good = {};
  std::vector<unfit_message> unfit = {};
};

taken to_taken(std::vector<delivery_row> rows, const queue_state& of) {
  taken out;
  out.good.reserve(rows.size());
  for (delivery_row& row : rows) {
    const receipt mine{.id = row.id, .fence = row.fence, .queue = of.info().identity};
    if (row.expired) {
      out.unfit.push_back({.receipt = mine, .why = "expired"});
      continue;
    }
    std::optional<headers> read = to_headers(row.headers);
    if (!read) {  // No later attempt would read them either.
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
  // No database promises an order of the rows that an UPDATE returns.
  std::sort(out.good.begin(), out.good.end(), [](const delivery& a, const delivery& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.receipt.id < b.receipt.id;
  });
  return out;
}

/// Moves up to a batch of what is due or expired to ready, or to dead.
/// @return how many.
std::size_t promote_some(const queue_state& of, transaction_state* tx) {
  const bool pass = of.info().groups && of.info().groups->on_failure == group_policy::pass;
  return claim_step(of, tx, {}, has_consequences(of),
                    [&](transaction_state* in, claim_effects& done) {
                      const auto rows = of.execute(in, statements::claim_promote,
                                                   {.max = promote_batch,
                                                    .max_attempts = of.info().max_attempts,
                                                    .regroup = pass,
                                                    .now = of.database().now()});
                      std::vector<message_id> left;  // their groups
                      for (const state_row& row : rows) {
                        const bool dead = row.state == message_state::dead;
                        if (dead) done.dead.push_back(row.id);
                        if (dead || row.state == message_state::held) left.push_back(row.id);
                      }
                      if (of.info().groups && !left.empty()) lock_groups_of(of, *in, left, done);
                      done.left = !rows.empty();  // Some may be dead now.
                      return rows.size();
                    });
}

/// The part of a fence that does not come again when a take is rolled back.
std::int64_t new_token() {
  // A device in each take would cost more than the take. The clock tells a process from its fork.
  thread_local std::mt19937_64 random{std::random_device{}()};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t mixed = random() ^ (static_cast<std::uint64_t>(now) * 0x9E3779B97F4A7C15U);
  return static_cast<std::int64_t>(mixed >> 32U);
}

}  // namespace

std::vector<delivery> take(const queue_state& of, transaction_state* tx, std::size_t max,
                           const take_options& options) {
  check_batch_size(max);
  check_wait(options.wait, tx != nullptr);
  check_timestamp(options.claimed_at, "claimed_at");
  const std::chrono::milliseconds lease = options.lease.value_or(of.info().lease);
  check_lease(lease);
  const bool unkey = of.info().keys == key_scope::waiting;
  read_gate gate(of, tx, options.wait, options.stop);
  const auto read = [&](transaction_state* in, std::size_t allowed, bool guard) {
    for (;;) {
      taken got = to_taken(of.execute(in, statements::claim_take,
                                      {.max = allowed,
                                       .lease = lease,
                                       .claimed_at = options.claimed_at,
                                       .guard = guard,
                                       .token = new_token(),
                                       .unkey = unkey,
                                       .now = of.database().now()}),
                           of);
      if (!got.unfit.empty()) {
        try {
          make_dead(of, in, got.unfit);
        } catch (const error& failure) {
          // Those taken are taken for good, and are to be handed out. The others come again when
          // their leases are over. In a transaction all is to be undone.
          if (in != nullptr || (got.good.empty() && !may_concern_one_row(failure))) throw;
        }
        gate.keep();
      }
      if (!got.good.empty() || got.unfit.empty()) return std::move(got.good);
    }
  };
  const auto once = [&](bool guard) {
    return gate.pass(
        max, [&](transaction_state* in, std::size_t allowed) { return read(in, allowed, guard); });
  };
  const auto due_ones_too = [&] {
    // Guarded, it returns nothing as long as something due or expired might come first.
    std::vector<delivery> got = once(true);
    if (!got.empty() || gate.held_back()) return got;
    while (promote_some(of, tx) == promote_batch) {
    }
    return once(false);
  };
  if (options.wait.count() == 0) return due_ones_too();
  const auto due_in = [&] {
    const auto next = of.execute(nullptr, statements::claim_next_due, {.now = of.database().now()});
    return next.empty() ? std::nullopt : std::optional(next.front().delay);
  };
  return of.wait_for(options.wait, options.stop, due_in,
                     [&] { return gate.patiently(due_ones_too); });
}

}  // namespace tableq::inline v0::core
