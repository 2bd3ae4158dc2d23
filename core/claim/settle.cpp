#include "core/claim/operations.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
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

constexpr std::size_t column(stored_column c) {
  return static_cast<std::size_t>(c);
}

/// From -1,000 to 1,000: a thousandth of the jitter.
value throw_dice() {
  constexpr int most = 1000;
  thread_local std::minstd_rand random{std::random_device{}()};
  return value(std::int64_t{std::uniform_int_distribution<int>(-most, most)(random)});
}

void check_receipt(const queue_state& of, const receipt& r) {
  if (r.queue == of.info().identity) return;
  throw error(errc::invalid_argument, advice::never,
              "the receipt was not issued by the queue " + of.name() +
                  ", or by an earlier queue of that name that was dropped",
              {.backend = of.database().name()});
}

std::vector<value> receipt_items(const queue_state& of, std::span<const receipt> receipts) {
  std::vector<value> items;
  items.reserve(receipts.size() * 2);
  for (const receipt& r : receipts) {
    check_receipt(of, r);
    items.emplace_back(r.id.value);
    items.emplace_back(r.fence);
  }
  return items;
}

std::vector<message_id> ids_of(std::span<const receipt> receipts) {
  std::vector<message_id> out;
  out.reserve(receipts.size());
  for (const receipt& r : receipts) out.push_back(r.id);
  return out;
}

/// Runs a fenced statement; each row that it returns is one item that took effect.
std::vector<settled> settle(const queue_state& of, transaction* tx, statement id,
                            std::span<const value> shared, std::span<const value> items) {
  if (items.empty()) return {};
  std::vector<settled> out(items.size() / contract_of(id).items.size(), settled::lease_lost);
  const row_set rows = of.execute_batch(tx, id, shared, items);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out[static_cast<std::size_t>(rows.integer(i, 0))] = settled::done;
  }
  if (!rows.empty()) made_room(of, tx);
  return out;
}

/// Runs claim.fail, and what follows from it: the dead are moved, and groups go on.
std::vector<settled> fail_items(const queue_state& of, transaction* tx,
                                std::span<const message_id> ids, std::span<const value> items) {
  if (items.empty()) return {};
  const std::string policy = encode_retry(of.info().retry);
  const std::array shared{value(std::int64_t{of.info().max_attempts}),
                          of.info().retry.after.empty() ? value() : value(std::string_view(policy)),
                          of.database().now()};
  const auto work = [&](transaction* in) {
    std::vector<settled> out(ids.size(), settled::lease_lost);
    std::vector<message_id> dead;
    const row_set rows = of.execute_batch(in, statement::claim_fail, shared, items);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out[static_cast<std::size_t>(rows.integer(i, 0))] = settled::done;
      if (static_cast<message_state>(rows.integer(i, 2)) == message_state::dead) {
        dead.push_back({rows.integer(i, 1)});
      }
    }
    if (of.dead_letters() != nullptr) bury(of, *in, dead);
    of.announce(in, ids.size());
    made_room(of, in);
    return out;
  };
  return advancing(of, tx, ids, [&](transaction* in) {
    if (of.dead_letters() == nullptr) return work(in);
    return in_one_transaction(of.database(), in, [&](transaction& one) { return work(&one); });
  });
}

}  // namespace

std::vector<settled> complete(const queue_state& of, transaction* tx,
                              std::span<const receipt> receipts) {
  const std::vector<value> items = receipt_items(of, receipts);
  const queue_info& rules = of.info();
  const auto keep = [&](transaction* in, bool strip) {
    const std::array shared{to_value(rules.key_window), value(std::int64_t{strip ? 1 : 0}),
                            of.database().now()};
    return settle(of, in, statement::claim_keep, shared, items);
  };
  const auto work = [&](transaction* in) {
    if (rules.keep) return keep(in, false);
    if (rules.key_window.count() == 0) return settle(of, in, statement::claim_complete, {}, items);
    // Those with keys stay for their keys; the others are removed.
    return in_one_transaction(of.database(), in, [&](transaction& one) {
      std::vector<settled> out = keep(&one, true);
      const std::vector<settled> rest = settle(of, &one, statement::claim_complete, {}, items);
      for (std::size_t i = 0; i < out.size(); ++i) {
        if (rest[i] == settled::done) out[i] = settled::done;
      }
      return out;
    });
  };
  return advancing(of, tx, ids_of(receipts), work);
}

std::vector<settled> fail(const queue_state& of, transaction* tx,
                          std::span<const failure> failures) {
  std::deque<std::string> texts;
  std::vector<value> items;
  std::vector<message_id> ids;
  items.reserve(failures.size() * contract_of(statement::claim_fail).items.size());
  for (const failure& one : failures) {
    check_receipt(of, one.receipt);
    if (one.options.delay) check_delay(*one.options.delay);
    ids.push_back(one.receipt.id);
    items.emplace_back(one.receipt.id.value);
    items.emplace_back(one.receipt.fence);
    items.emplace_back(
        std::string_view(texts.emplace_back(to_plain_utf8(one.error, longest_error))));
    items.push_back(one.options.delay ? to_value(*one.options.delay) : value());
    items.push_back(throw_dice());
    items.emplace_back(std::int64_t{one.options.give_up ? 1 : 0});
  }
  return fail_items(of, tx, ids, items);
}

void expire(const queue_state& of, transaction* tx, std::span<const receipt> receipts) {
  constexpr std::int64_t untried = 2;
  std::vector<value> items;
  for (const receipt& r : receipts) {
    items.emplace_back(r.id.value);
    items.emplace_back(r.fence);
    items.emplace_back(std::string_view("expired"));
    items.emplace_back();
    items.emplace_back(std::int64_t{0});
    items.emplace_back(untried);
  }
  fail_items(of, tx, ids_of(receipts), items);
}

std::vector<settled> release(const queue_state& of, transaction* tx,
                             std::span<const receipt> receipts) {
  std::vector<settled> out =
      settle(of, tx, statement::claim_release, {}, receipt_items(of, receipts));
  of.announce(tx, receipts.size());
  return out;
}

std::vector<settled> extend(const queue_state& of, transaction* tx,
                            std::span<const receipt> receipts, std::chrono::milliseconds lease) {
  check_lease(lease);
  const std::array shared{to_value(lease), of.database().now()};
  return settle(of, tx, statement::claim_extend, shared, receipt_items(of, receipts));
}

std::vector<pulse> heartbeat(const queue_state& of, std::span<const receipt> receipts,
                             std::chrono::milliseconds lease) {
  constexpr std::size_t width = 2;
  const std::array shared{to_value(lease), of.database().now()};
  const std::vector<value> items = receipt_items(of, receipts);
  std::vector<pulse> out(receipts.size(), pulse::locked);
  const row_set extended = of.execute_batch(nullptr, statement::claim_heartbeat, shared, items);
  for (std::size_t i = 0; i < extended.size(); ++i) {
    out[static_cast<std::size_t>(extended.integer(i, 0))] = pulse::extended;
  }
  std::vector<value> others;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (out[i] == pulse::extended) continue;
    places.push_back(i);
    others.insert(others.end(), items.begin() + static_cast<std::ptrdiff_t>(i * width),
                  items.begin() + static_cast<std::ptrdiff_t>((i + 1) * width));
  }
  if (others.empty()) return out;
  const row_set lost = of.execute_batch(nullptr, statement::claim_lost, {}, others);
  for (std::size_t i = 0; i < lost.size(); ++i) {
    out[places[static_cast<std::size_t>(lost.integer(i, 0))]] = pulse::lost;
  }
  return out;
}

headers to_headers(const std::optional<std::string>& json) {
  return json ? decode_headers(*json) : headers();
}

std::vector<stored_message> to_stored(row_set rows) {
  using enum stored_column;
  const auto when = [&](std::size_t row, stored_column c) {
    return to_timestamp(rows.maybe_integer(row, column(c)));
  };
  std::vector<stored_message> out;
  out.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto of = static_cast<message_state>(rows.integer(i, column(state)));
    const bool timed = of == message_state::delayed || of == message_state::leased;
    const std::optional<std::string> history = rows.take_maybe_text(i, column(errors));
    out.push_back({.id = {rows.integer(i, column(id))},
                   .state = of,
                   .payload = rows.take_text(i, column(payload)),
                   .headers = to_headers(rows.take_maybe_text(i, column(headers))),
                   .key = rows.take_maybe_text(i, column(key)),
                   .group = rows.take_maybe_text(i, column(group_key)),
                   .priority = static_cast<std::int32_t>(rows.integer(i, column(priority))),
                   .attempts = static_cast<int>(rows.integer(i, column(attempts))),
                   .created_at = to_timestamp(rows.integer(i, column(created_at))),
                   .due_at = timed ? when(i, due_at) : std::nullopt,
                   .expires_at = when(i, expires_at),
                   .claimed_at = when(i, claimed_at),
                   .finished_at = when(i, finished_at),
                   .errors = history ? decode_errors(*history) : std::vector<failure_record>()});
  }
  return out;
}

}  // namespace tableq::core
