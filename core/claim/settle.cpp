#include "core/claim/operations.hpp"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <random>
#include <utility>

#include <tableq/error.hpp>

#include "core/claim/step.hpp"
#include "core/claim/unseen.hpp"
#include "core/input/codec.hpp"
#include "core/input/utf8.hpp"
#include "core/input/validate.hpp"
#include "core/seam/claim_statements.hpp"
#include "core/seam/run.hpp"

namespace tableq::inline v0::core {
namespace {

/// From -1,000 to 1,000: a thousandth of the jitter.
int throw_dice() {
  constexpr int most = 1000;
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_int_distribution<int>(-most, most)(random);
}

void check_receipt(const queue_state& queue, const receipt& r) {
  if (r.queue == queue.info().identity) return;
  throw error(errc::invalid_argument, advice::never,
              "the receipt is not of the queue " + queue.name() +
                  ": another queue issued it, or an earlier one of that name that was dropped",
              {.backend = queue.database().name()});
}

std::vector<receipt_item> receipt_items(const queue_state& queue, const receipts_view& receipts) {
  std::vector<receipt_item> items;
  items.reserve(receipts.size());
  for (std::size_t i = 0; i < receipts.size(); ++i) {
    const receipt& r = receipts[i];
    check_receipt(queue, r);
    items.push_back({.id = r.id, .fence = r.fence});
  }
  return items;
}

template <class Item>
std::vector<message_id> ids_of(std::span<const Item> items) {
  std::vector<message_id> out;
  out.reserve(items.size());
  for (const Item& one : items) out.push_back(one.id);
  return out;
}

/// Each row of a fenced statement is one item that took effect.
template <class Rows>
std::vector<settle_result> results_of(const Rows& rows, std::size_t items) {
  std::vector<settle_result> out(items, settle_result::lease_lost);
  for (const auto& row : rows) out[row.item] = settle_result::applied;
  return out;
}

/// Receipts, each once, and the place of each given one among them.
struct distinct_items {
  std::vector<receipt_item> items = {};
  std::vector<std::size_t> places = {};
};

distinct_items distinct(std::span<const receipt_item> given) {
  distinct_items out;
  std::map<std::pair<std::int64_t, std::int64_t>, std::size_t> known;
  for (const receipt_item& one : given) {
    const auto [at, added] = known.try_emplace({one.id.value, one.fence}, out.items.size());
    if (added) out.items.push_back(one);
    out.places.push_back(at->second);
  }
  return out;
}

/// In a transaction that keeps a snapshot, a lease that was not found may be newer than the
/// snapshot.
std::vector<settle_result> certain(const queue_state& queue, transaction_state* tx,
                                   std::span<const receipt_item> items,
                                   std::vector<settle_result> results) {
  if (tx == nullptr) return results;
  std::vector<receipt_item> lost;
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (results[i] == settle_result::lease_lost) lost.push_back(items[i]);
  }
  check_unseen(queue, tx, ids_of(std::span<const receipt_item>(lost)),
               [&](connection& session, std::span<const std::size_t> unseen) {
                 std::vector<receipt_item> asked;
                 for (const std::size_t i : unseen) asked.push_back(lost[i]);
                 return run(session, queue.names(), statements::claim_lost, {}, asked).size() ==
                        asked.size();
               });
  return results;
}

/// Runs claim.fail and its consequences.
std::vector<settle_result> fail_items(const queue_state& queue, transaction_state* tx,
                                      std::span<const fail_item> items) {
  if (items.empty()) return {};
  std::vector<receipt_item> receipts;
  if (tx != nullptr) {
    for (const fail_item& one : items) receipts.push_back({.id = one.id, .fence = one.fence});
  }
  const queue_info& rules = queue.info();
  const std::string policy = encode_retry(rules.retry);
  fail_request shared{.max_attempts = rules.max_attempts, .now = queue.database().now()};
  if (!rules.retry.after.empty()) shared.policy = policy;
  const auto work = [&](transaction_state* step_tx, claim_effects& done) {
    const auto rows = queue.execute(step_tx, statements::claim_fail, shared, items);
    for (const auto& row : rows) {
      if (row.state == message_state::dead) done.dead.push_back(row.id);
    }
    done.readable = rows.size() - done.dead.size();
    done.left = !rows.empty();
    return results_of(rows, items.size());
  };
  return certain(queue, tx, receipts,
                 claim_step(queue, tx, ids_of(items), queue.dead_letters() != nullptr, work));
}

}  // namespace

std::vector<settle_result> complete(const queue_state& queue, transaction_state* tx,
                                    const receipts_view& receipts) {
  const std::vector<receipt_item> items = receipt_items(queue, receipts);
  if (items.empty()) return {};
  const queue_info& rules = queue.info();
  const bool keys = !rules.keep_completed && rules.key_window.count() != 0;
  const auto work = [&](transaction_state* step_tx, claim_effects& done) {
    std::vector<row_of_item<id_row>> rows;
    if (rules.keep_completed || keys) {
      rows = queue.execute(
          step_tx, statements::claim_keep,
          {.window = rules.key_window, .strip = keys, .now = queue.database().now()}, items);
    }
    if (!rules.keep_completed) {
      // Messages with keys stay for their keys; the others are removed.
      const auto removed = queue.execute(step_tx, statements::claim_complete, {}, items);
      rows.insert(rows.end(), removed.begin(), removed.end());
    }
    done.left = !rows.empty();
    return results_of(rows, items.size());
  };
  return certain(queue, tx, items, claim_step(queue, tx, ids_of(std::span(items)), keys, work));
}

std::vector<settle_result> fail(const queue_state& queue, transaction_state* tx,
                                std::span<const failed_attempt> failures) {
  std::deque<std::string> texts;  // a deque never moves its elements
  std::vector<fail_item> items;
  items.reserve(failures.size());
  for (const failed_attempt& one : failures) {
    check_receipt(queue, one.receipt);
    if (one.options.delay) check_delay(*one.options.delay);
    items.push_back({.id = one.receipt.id,
                     .fence = one.receipt.fence,
                     .error = texts.emplace_back(to_plain_utf8(one.error, longest_error)),
                     .delay = one.options.delay,
                     .dice = throw_dice(),
                     .final = one.options.give_up ? 1 : 0});
  }
  return fail_items(queue, tx, items);
}

void make_dead(const queue_state& queue, transaction_state* tx,
               std::span<const unfit_message> messages) {
  constexpr int given_up = 1;
  constexpr int untried = 2;
  std::vector<fail_item> items;
  for (const unfit_message& one : messages) {
    items.push_back({.id = one.receipt.id,
                     .fence = one.receipt.fence,
                     .error = one.why,
                     .final = one.attempt_counts ? given_up : untried});
  }
  fail_items(queue, tx, items);
}

std::vector<settle_result> release(const queue_state& queue, transaction_state* tx,
                                   const receipts_view& receipts) {
  const std::vector<receipt_item> items = receipt_items(queue, receipts);
  if (items.empty()) return {};
  const auto rows = queue.execute(tx, statements::claim_release, {}, items);
  apply(queue, tx, {.readable = rows.size(), .left = !rows.empty()});
  return certain(queue, tx, items, results_of(rows, items.size()));
}

std::vector<settle_result> extend(const queue_state& queue, transaction_state* tx,
                                  const receipts_view& receipts, std::chrono::milliseconds lease) {
  check_lease(lease);
  const auto [items, places] = distinct(receipt_items(queue, receipts));
  if (items.empty()) return {};
  const auto rows = queue.execute(tx, statements::claim_extend,
                                  {.lease = lease, .now = queue.database().now()}, items);
  const auto results = certain(queue, tx, items, results_of(rows, items.size()));
  std::vector<settle_result> out;
  out.reserve(places.size());
  for (const std::size_t place : places) out.push_back(results[place]);
  return out;
}

std::vector<pulse> heartbeat(const queue_state& queue, std::span<const receipt> receipts,
                             std::chrono::milliseconds lease) {
  const std::vector<receipt_item> items = receipt_items(queue, receipts);
  std::vector<pulse> out(items.size(), pulse::locked);
  if (items.empty()) return out;
  for (const auto& row : queue.execute(nullptr, statements::claim_heartbeat,
                                       {.lease = lease, .now = queue.database().now()}, items)) {
    out[row.item] = pulse::extended;
  }
  std::vector<receipt_item> others;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == pulse::extended) continue;
    places.push_back(i);
    others.push_back(items[i]);
  }
  if (others.empty()) return out;
  for (const auto& row : queue.execute(nullptr, statements::claim_lost, {}, others)) {
    out[places[row.item]] = pulse::lost;
  }
  return out;
}

}  // namespace tableq::inline v0::core
