#include "core/claim_operations.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <random>
#include <utility>

#include <tableq/error.hpp>

#include "core/codec.hpp"
#include "core/validate.hpp"

namespace tableq::core {
namespace {

/// Messages that are moved to ready by one statement.
constexpr std::size_t promote_batch = 1000;
constexpr std::size_t longest_error = 2000;

constexpr std::size_t column(delivery_column c) {
  return static_cast<std::size_t>(c);
}
constexpr std::size_t column(stored_column c) {
  return static_cast<std::size_t>(c);
}

headers to_headers(const std::optional<std::string>& json) {
  return json ? decode_headers(*json) : headers();
}

std::vector<delivery> to_deliveries(row_set rows, const queue_state& of) {
  using enum delivery_column;
  std::vector<delivery> out;
  out.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out.push_back({.receipt = {.id = {rows.integer(i, column(id))},
                               .fence = rows.integer(i, column(fence)),
                               .queue = of.info().identity},
                   .payload = rows.take_text(i, column(payload)),
                   .headers = to_headers(rows.take_maybe_text(i, column(headers))),
                   .key = rows.take_maybe_text(i, column(key)),
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

/// Moves everything that is due or expired to ready, or to dead.
void promote_all(const queue_state& of, transaction* tx) {
  const std::array shared{to_value(promote_batch), value(std::int64_t{of.info().max_attempts}),
                          of.database().now()};
  while (of.execute(tx, statement::claim_promote, shared).size() == promote_batch) {
  }
}

/// The part of a fence that does not come again when a take is rolled back.
value new_token() {
  std::random_device random;
  return value(std::int64_t{std::uniform_int_distribution<std::uint32_t>()(random)});
}

/// A JSON array of milliseconds; nothing where failed messages do not rest.
std::string delays_text(const retry_delays& retry) {
  if (retry.after.empty()) return {};
  std::string out;
  for (const std::chrono::milliseconds each : retry.after) {
    out += out.empty() ? '[' : ',';
    out += std::to_string(each.count());
  }
  out += ']';
  return out;
}

/// By how many thousandths a delay is multiplied.
value spread(int jitter) {
  thread_local std::minstd_rand random{std::random_device{}()};
  constexpr int whole = 1000;
  const int most = jitter * whole / 100;
  return value(
      std::int64_t{std::uniform_int_distribution<int>(whole - most, whole + most)(random)});
}

void check_receipt(const queue_state& of, const receipt& r) {
  if (r.queue == of.info().identity) return;
  throw error(errc::invalid_argument, advice::never,
              "the receipt was not issued by the queue " + of.name() +
                  ", or by an earlier queue of that name that was dropped",
              {.backend = of.database().name(), .operation = "settle"});
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

/// Runs a fenced statement; each row that it returns is one item that took effect.
std::vector<settled> settle(const queue_state& of, transaction* tx, statement id,
                            std::span<const value> shared, std::span<const value> items) {
  if (items.empty()) return {};
  std::vector<settled> out(items.size() / contract_of(id).items.size(), settled::lease_lost);
  const row_set rows = of.execute_batch(tx, id, shared, items);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out[static_cast<std::size_t>(rows.integer(i, 0))] = settled::done;
  }
  return out;
}

/// Fills in the messages that hold the keys of those that were not added.
void find_holders(const queue_state& of, transaction* tx,
                  std::span<const new_claim_message> messages, std::vector<enqueued>& results) {
  std::vector<value> keys;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].id.value != 0) continue;
    if (!messages[i].options.key) not_stored(of);
    results[i].existed = true;
    keys.emplace_back(std::string_view(*messages[i].options.key));
    places.push_back(i);
  }
  if (keys.empty()) return;
  const row_set rows = of.execute_batch(tx, statement::claim_find_key, {}, keys);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    results[places[static_cast<std::size_t>(rows.integer(i, 0))]].id = {rows.integer(i, 1)};
  }
}

}  // namespace

std::vector<enqueued> add_claims(const queue_state& to, transaction* tx,
                                 std::span<const new_claim_message> messages) {
  if (messages.empty()) return {};
  std::deque<std::string> encoded;  // keeps its elements where they are
  std::vector<value> items;
  items.reserve(messages.size() * contract_of(statement::claim_enqueue).items.size());
  for (const new_claim_message& one : messages) {
    check_payload(one.payload, to.database().able().max_payload);
    check_message(one.options);
    items.emplace_back(one.payload);
    items.emplace_back(std::int64_t{one.options.priority});
    items.push_back(to_value(one.options.delay));
    items.push_back(one.options.key ? value(std::string_view(*one.options.key)) : value());
    items.push_back(
        one.options.headers.empty()
            ? value()
            : value(std::string_view(encoded.emplace_back(encode_headers(one.options.headers)))));
    items.push_back(to_value(one.options.created_at));
  }
  const value now = to.database().now();
  const row_set rows = to.execute_batch(tx, statement::claim_enqueue, {&now, 1}, items);
  std::vector<enqueued> results(messages.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    results[static_cast<std::size_t>(rows.integer(i, 0))].id = {rows.integer(i, 1)};
  }
  to.announce(tx);
  find_holders(to, tx, messages, results);
  return results;
}

std::vector<delivery> take(const queue_state& of, transaction* tx, const take_options& options) {
  check_batch_size(options.max);
  check_wait(options.wait, tx != nullptr);
  check_timestamp(options.claimed_at, "claimed_at");
  const std::chrono::milliseconds lease = options.lease.value_or(of.info().lease);
  check_lease(lease);
  const auto once = [&](bool guard) {
    const std::array shared{to_value(options.max),
                            to_value(lease),
                            to_value(options.claimed_at),
                            value(std::int64_t{guard ? 1 : 0}),
                            new_token(),
                            of.database().now()};
    return to_deliveries(of.execute(tx, statement::claim_take, shared), of);
  };
  const auto due_ones_too = [&] {
    // Guarded, it returns nothing as long as something due or expired might come first.
    std::vector<delivery> got = once(true);
    if (!got.empty()) return got;
    promote_all(of, tx);
    return once(false);
  };
  if (options.wait.count() == 0) return due_ones_too();
  return of.wait_for(options.wait, options.stop, statement::claim_next_due, due_ones_too);
}

std::vector<settled> complete(const queue_state& of, transaction* tx,
                              std::span<const receipt> receipts) {
  const std::vector<value> items = receipt_items(of, receipts);
  if (!of.info().keep) return settle(of, tx, statement::claim_complete, {}, items);
  const value now = of.database().now();
  return settle(of, tx, statement::claim_keep, {&now, 1}, items);
}

std::vector<settled> fail(const queue_state& of, transaction* tx,
                          std::span<const failure> failures) {
  std::deque<std::string> texts;
  std::vector<value> items;
  items.reserve(failures.size() * contract_of(statement::claim_fail).items.size());
  for (const failure& one : failures) {
    check_receipt(of, one.receipt);
    if (one.options.delay) check_delay(*one.options.delay);
    items.emplace_back(one.receipt.id.value);
    items.emplace_back(one.receipt.fence);
    items.emplace_back(
        std::string_view(texts.emplace_back(to_plain_utf8(one.error, longest_error))));
    items.push_back(one.options.delay ? to_value(*one.options.delay) : value());
    items.push_back(spread(of.info().retry.jitter));
    items.emplace_back(std::int64_t{one.options.give_up ? 1 : 0});
  }
  const std::string delays = delays_text(of.info().retry);
  const std::array shared{value(std::int64_t{of.info().max_attempts}),
                          delays.empty() ? value() : value(std::string_view(delays)),
                          of.database().now()};
  std::vector<settled> out = settle(of, tx, statement::claim_fail, shared, items);
  of.announce(tx);
  return out;
}

std::vector<settled> release(const queue_state& of, transaction* tx,
                             std::span<const receipt> receipts) {
  std::vector<settled> out =
      settle(of, tx, statement::claim_release, {}, receipt_items(of, receipts));
  of.announce(tx);
  return out;
}

std::vector<settled> extend(const queue_state& of, transaction* tx,
                            std::span<const receipt> receipts, std::chrono::milliseconds lease) {
  check_lease(lease);
  const std::array shared{to_value(lease), of.database().now()};
  return settle(of, tx, statement::claim_extend, shared, receipt_items(of, receipts));
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
                   .priority = static_cast<std::int32_t>(rows.integer(i, column(priority))),
                   .attempts = static_cast<int>(rows.integer(i, column(attempts))),
                   .created_at = to_timestamp(rows.integer(i, column(created_at))),
                   .due_at = timed ? when(i, due_at) : std::nullopt,
                   .claimed_at = when(i, claimed_at),
                   .finished_at = when(i, finished_at),
                   .errors = history ? decode_errors(*history) : std::vector<failure_record>()});
  }
  return out;
}

}  // namespace tableq::core
