#include "core/claim/lease_table.hpp"

#include <algorithm>
#include <chrono>
#include <random>
#include <string>
#include <utility>

#include "core/input/codec.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

constexpr std::string_view unreadable = "the headers cannot be read: no JSON object in UTF-8";

/// From -1,000 to 1,000: a thousandth of the jitter.
int throw_dice() {
  constexpr int most = 1000;
  thread_local std::minstd_rand random{std::random_device{}()};
  return std::uniform_int_distribution<int>(-most, most)(random);
}

/// @param rows of a statement that returns only ids.
template <class Rows>
void append(std::vector<changed_message>& out, const Rows& rows) {
  for (const auto& row : rows) out.push_back({.item = row.item, .id = row.id});
}

template <class Rows>
std::vector<changed_message> changed(const Rows& rows) {
  std::vector<changed_message> out;
  out.reserve(rows.size());
  append(out, rows);
  return out;
}

class own_table final : public lease_table {
 public:
  own_table() : lease_table({}) {}

  taken_messages take(const queue_state& queue, transaction_state* tx,
                      const take_terms& terms) const override {
    take_request asked{.max = terms.max,
                       .lease = terms.lease,
                       .claimed_at = terms.claimed_at,
                       .guard = terms.how == reading::guarded,
                       .token = fence_token(),
                       .unkey = queue.info().keys == key_scope::waiting,
                       .queue = queue.name()};
    if (terms.within_limits)
      return within_limits(queue, queue.execute(tx, statements::claim_take_limited, asked));
    if (terms.how != reading::look)
      return to_taken(queue, queue.execute(tx, statements::claim_take, asked));
    if (looks_at_limits(queue)) {
      const auto known = queue.shared().stored.last();
      if (known != nullptr) asked.options = known->text;
      return looked(queue, queue.execute(tx, statements::claim_look, asked));
    }
    const auto due_in = next_due_in(queue, tx);
    taken_messages out;
    const bool due = due_in && due_in->count() <= 0;
    if (!due) out = to_taken(queue, queue.execute(tx, statements::claim_take, asked));
    out.due = due;
    out.told = true;
    out.due_in = due_in;
    return out;
  }

  std::vector<changed_message> promote(const queue_state& queue, transaction_state* tx,
                                       std::size_t max,
                                       std::optional<std::string_view> locked) const override {
    std::vector<changed_message> out;
    promote_request asked = due_now(queue, max);
    asked.locked = locked;
    for (const state_row& row : queue.execute(tx, statements::claim_promote, asked)) {
      out.push_back({.id = row.id, .state = row.state});
    }
    return out;
  }

  [[nodiscard]] std::optional<std::chrono::milliseconds> next_due(
      const queue_state& queue) const override {
    return next_due_in(queue, nullptr);
  }

  std::vector<changed_message> change(const queue_state& queue, transaction_state* tx,
                                      const receipts_view& receipts,
                                      const lease_change& what) const override {
    const std::vector<receipt> items = copied(receipts);
    const extend_request longer{what.lease};
    switch (what.is) {
      case lease_change::kind::complete:
        return complete(queue, tx, items, what.results);
      case lease_change::kind::release:
        return changed(queue.execute(tx, statements::claim_release, {}, items));
      case lease_change::kind::extend:
        return changed(queue.execute(tx, statements::claim_extend, longer, items));
      case lease_change::kind::heartbeat:
        return changed(queue.execute(tx, statements::claim_heartbeat, longer, items));
      case lease_change::kind::find_lost:
        break;
    }
    return changed(queue.execute(tx, statements::claim_lost, {}, items));
  }

  std::vector<changed_message> fail(const queue_state& queue, transaction_state* tx,
                                    std::span<const ended_attempt> attempts) const override {
    std::vector<fail_item> items;
    items.reserve(attempts.size());
    for (const ended_attempt& one : attempts) {
      items.push_back({.id = one.receipt.id,
                       .fence = one.receipt.fence,
                       .error = one.error,
                       .delay = one.delay,
                       .dice = throw_dice(),
                       .final = static_cast<int>(one.how)});
    }
    const queue_info& rules = queue.info();
    const std::string policy = encode_retry(rules.retry);
    fail_request shared{.max_attempts = rules.max_attempts};
    if (!rules.retry.after.empty()) shared.policy = policy;
    std::vector<changed_message> out;
    for (const auto& row : queue.execute(tx, statements::claim_fail, shared, items))
      out.push_back({.item = row.item, .id = row.id, .state = row.state});
    return out;
  }

  [[nodiscard]] claim_stats stats(const queue_state& queue,
                                  const stats_options& options) const override {
    claim_stats out =
        queue.execute(nullptr, statements::claim_stats, {.max = count_limit(options)}).at(0);
    out.counted_to = counted_to(options);
    return out;
  }

 private:
  static std::vector<changed_message> complete(const queue_state& queue, transaction_state* tx,
                                               std::span<const receipt> items,
                                               given_results results) {
    const queue_info& rules = queue.info();
    const bool keys = !rules.keep_completed && rules.key_window.count() != 0;
    std::vector<changed_message> out;
    const keep_request how{.window = rules.key_window, .strip = keys};
    const auto keep = [&] {
      if (results.empty() && !queue.shared().notes.used()) {
        append(out, queue.execute(tx, statements::claim_keep, how, items));
        return;
      }
      std::vector<result_item> kept;
      kept.reserve(items.size());
      for (std::size_t i = 0; i < items.size(); ++i) {
        kept.push_back({.id = items[i].id, .fence = items[i].fence});
        if (!results.empty() && results[i]) kept.back().result = byte_view(*results[i]);
      }
      append(out, queue.execute(tx, statements::claim_keep_result, how, kept));
    };
    const auto remove = [&] {
      append(out, queue.execute(tx, statements::claim_complete, {}, items));
    };
    if (keys) {
      // `keep` keeps the messages with keys, `remove` removes the others.
      queue.execute_as_one(*tx, contract_of(statement::claim_complete), items.size(), [&] {
        keep();
        remove();
        return out.size();
      });
    } else if (rules.keep_completed) {
      keep();
    } else {
      remove();
    }
    return out;
  }

  template <class Row>
  static taken_messages to_taken(const queue_state& queue, std::vector<Row> rows) {
    taken_messages out;
    out.good.reserve(rows.size());
    for (Row& row : rows) add(out, row, queue);
    return out;
  }

  static taken_messages looked(const queue_state& queue, std::vector<look_row> rows) {
    if (rows.empty()) return {.refused = true};
    const auto due_in = rows.front().due_in;
    taken_messages out;
    if (rows.front().id.value != 0) {
      out = to_taken(queue, std::move(rows));
    } else {
      out.due = due_in && due_in->count() <= 0;
    }
    out.told = true;
    out.due_in = due_in;
    return out;
  }

  static taken_messages within_limits(const queue_state& queue, std::vector<limited_row> rows) {
    const auto told = std::ranges::find(rows, message_id(), &limited_row::id);
    const bool limited = told != rows.end();
    const auto retry_in = limited ? told->retry_in : std::nullopt;
    if (limited) rows.erase(told);
    taken_messages out = to_taken(queue, std::move(rows));
    out.limited = limited;
    out.retry_in = retry_in;
    return out;
  }

  static std::optional<std::chrono::milliseconds> next_due_in(const queue_state& queue,
                                                              transaction_state* tx) {
    const auto next = queue.execute(tx, statements::claim_next_due);
    return next.empty() ? std::nullopt : next.front().delay;
  }

  static void add(taken_messages& taken, delivery_row& row, const queue_state& queue) {
    const receipt mine{.id = row.id, .fence = row.fence, .queue = queue.info().identity};
    if (row.expired) {
      taken.unfit.push_back(
          {.receipt = mine, .error = "expired", .how = ended_attempt::kind::untried});
      return;
    }
    std::optional<headers> read = to_headers(row.headers);
    if (!read) {  // No later attempt could read them either.
      taken.unfit.push_back(
          {.receipt = mine, .error = unreadable, .how = ended_attempt::kind::given_up});
      return;
    }
    taken.good.push_back({.receipt = mine,
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
};

}  // namespace

bool looks_at_limits(const queue_state& queue) {
  return queue.mapped() == nullptr && queue.database().capabilities().takes_look;
}

bool takes_within_limits(const queue_state& queue) {
  return !queue.database().sharded() && queue.database().capabilities().takes_look;
}

std::vector<receipt> copied(const receipts_view& receipts) {
  std::vector<receipt> items;
  items.reserve(receipts.size());
  for (std::size_t i = 0; i < receipts.size(); ++i) items.push_back(receipts[i]);
  return items;
}

const lease_table& leases_of(const queue_state& queue) noexcept {
  static const own_table table;
  return queue.mapped() != nullptr ? *queue.mapped() : table;
}

promote_request due_now(const queue_state& queue, std::size_t max) noexcept {
  return {.max = max,
          .max_attempts = queue.info().max_attempts,
          .regroup = regroup_of(queue),
          .starts = queue.info().group_rates};
}

int regroup_of(const queue_state& queue) noexcept {
  const auto& groups = queue.info().groups;
  if (!groups) return 0;
  return groups->on_failure == group_policy::hold ? 1 : 2;
}

std::int64_t fence_token() {
  // A random device would cost more than the take. The clock makes the numbers of a process differ
  // from those of its fork.
  thread_local std::mt19937_64 random{std::random_device{}()};
  const auto now = std::chrono::steady_clock::now().time_since_epoch().count();
  const std::uint64_t mixed = random() ^ (static_cast<std::uint64_t>(now) * 0x9E3779B97F4A7C15U);
  return static_cast<std::int64_t>(mixed >> 32U);
}

}  // namespace tableq::inline v0::core
