#include "core/claim/operations.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <random>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/dead_letters.hpp"
#include "core/claim/groups.hpp"
#include "core/database/in_transaction.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/limit_gates.hpp"

namespace tableq::core {
namespace {

/// Messages that are moved to ready by one statement.
constexpr std::size_t promote_batch = 1000;

constexpr std::size_t column(delivery_column c) {
  return static_cast<std::size_t>(c);
}

/// Whether the end of a message has consequences for others.
bool several_steps(const queue_state& of) noexcept {
  return of.info().groups || of.dead_letters() != nullptr;
}

/// @param expired_ones gets the receipts of those that came too late.
std::vector<delivery> to_deliveries(row_set rows, const queue_state& of,
                                    std::vector<receipt>& expired_ones) {
  using enum delivery_column;
  std::vector<delivery> out;
  out.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const receipt mine{.id = {rows.integer(i, column(id))},
                       .fence = rows.integer(i, column(fence)),
                       .queue = of.info().identity};
    if (rows.integer(i, column(expired)) != 0) {
      expired_ones.push_back(mine);
      continue;
    }
    out.push_back({.receipt = mine,
                   .payload = rows.take_text(i, column(payload)),
                   .headers = to_headers(rows.take_maybe_text(i, column(headers))),
                   .key = rows.take_maybe_text(i, column(key)),
                   .group = rows.take_maybe_text(i, column(group_key)),
                   .priority = static_cast<std::int32_t>(rows.integer(i, column(priority))),
                   .attempt = static_cast<int>(rows.integer(i, column(attempts))),
                   .created_at = to_timestamp(rows.integer(i, column(created_at))),
                   .claimed_at = to_timestamp(rows.maybe_integer(i, column(claimed_at))),
                   .lease_until = to_timestamp(rows.integer(i, column(lease_until)))});
  }
  // No database promises an order of the rows that an UPDATE returns.
  std::sort(out.begin(), out.end(), [](const delivery& a, const delivery& b) {
    return a.priority != b.priority ? a.priority > b.priority : a.receipt.id < b.receipt.id;
  });
  return out;
}

/// What promotion leaves to do: the dead go to the dead-letter queue, and groups go on.
void after_promotion(const queue_state& of, transaction& tx, const row_set& rows) {
  std::vector<message_id> dead;
  std::vector<message_id> changed;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const message_id id{rows.integer(i, 0)};
    const auto state = static_cast<message_state>(rows.integer(i, 1));
    if (state == message_state::dead) dead.push_back(id);
    if (state == message_state::dead || state == message_state::held) changed.push_back(id);
  }
  advancing(of, &tx, changed, [&](transaction* in) {
    if (of.dead_letters() != nullptr) bury(of, *in, dead);
    return 0;
  });
}

/// Moves everything that is due or expired to ready, or to dead.
void promote_all(const queue_state& of, transaction* tx) {
  const bool pass = of.info().groups && of.info().groups->on_failure == group_policy::pass;
  const std::array shared{to_value(promote_batch), value(std::int64_t{of.info().max_attempts}),
                          value(std::int64_t{pass ? 1 : 0}), of.database().now(),
                          value()};  // Where to begin, queue_state knows.
  const auto once = [&](transaction* in) {
    const row_set rows = of.execute(in, statement::claim_promote, shared);
    if (!rows.empty()) made_room(of, in);  // Some may be dead now.
    if (in != nullptr && several_steps(of)) after_promotion(of, *in, rows);
    return rows.size();
  };
  const auto in_one = [&] {
    if (!several_steps(of)) return once(tx);
    return in_one_transaction(of.database(), tx, [&](transaction& in) { return once(&in); });
  };
  while (in_one() == promote_batch) {
  }
}

/// The part of a fence that does not come again when a take is rolled back.
value new_token() {
  // A device in each take would cost more than the take. The clock tells a process from its fork.
  thread_local std::mt19937_64 random{std::random_device{}()};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t mixed = random() ^ (static_cast<std::uint64_t>(now) * 0x9E3779B97F4A7C15U);
  return value(static_cast<std::int64_t>(mixed >> 32U));
}

}  // namespace

std::vector<delivery> take(const queue_state& of, transaction* tx, const take_options& options) {
  check_batch_size(options.max);
  check_wait(options.wait, tx != nullptr);
  check_timestamp(options.claimed_at, "claimed_at");
  const std::chrono::milliseconds lease = options.lease.value_or(of.info().lease);
  check_lease(lease);
  const bool unkey = of.info().keys == key_scope::waiting;
  read_gate gate(of, tx, options.wait, options.stop);
  const auto read = [&](transaction* in, std::size_t max, bool guard) {
    for (;;) {
      std::vector<value> shared{to_value(max),
                                to_value(lease),
                                to_value(options.claimed_at),
                                value(std::int64_t{guard ? 1 : 0}),
                                new_token(),
                                value(std::int64_t{unkey ? 1 : 0}),
                                of.database().now()};
      // Where a read begins, queue_state knows.
      shared.resize(contract_of(statement::claim_take).shared.size());
      std::vector<receipt> expired;
      std::vector<delivery> got =
          to_deliveries(of.execute(in, statement::claim_take, shared), of, expired);
      if (!expired.empty()) {
        try {
          expire(of, in, expired);
        } catch (const error&) {
          // Those taken are taken for good, and are to be handed out. Those that came too late come
          // again when their leases are over.
          if (in != nullptr || got.empty()) throw;
        }
        gate.keep();
      }
      if (!got.empty() || expired.empty()) return got;
    }
  };
  const auto once = [&](bool guard) {
    return gate.pass(options.max,
                     [&](transaction* in, std::size_t max) { return read(in, max, guard); });
  };
  const auto due_ones_too = [&] {
    // Guarded, it returns nothing as long as something due or expired might come first.
    std::vector<delivery> got = once(true);
    if (!got.empty() || gate.held_back()) return got;
    promote_all(of, tx);
    return once(false);
  };
  if (options.wait.count() == 0) return due_ones_too();
  return of.wait_for(options.wait, options.stop, statement::claim_next_due,
                     [&] { return gate.patiently(due_ones_too); });
}

}  // namespace tableq::core
