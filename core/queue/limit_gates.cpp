#include "core/queue/limit_gates.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include <tableq/error.hpp>

#include "core/database/alter_table.hpp"
#include "core/input/validate.hpp"
#include "core/queue/identity.hpp"
#include "core/queue/waiting.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

using namespace std::chrono_literals;

/// The number in the table that stands for the token of one message.
constexpr std::int64_t token_unit = 1'000'000'000;

/// The nearest number that set_limits accepts. Plain SQL may have set any limit above zero. If
/// columns have no types, it may also be a fraction or a text, which read as a number below one.
template <class Number>
std::optional<Number> within(const std::optional<Number>& found, std::int64_t most) {
  return found ? std::optional(std::clamp<Number>(*found, 1, static_cast<Number>(most)))
               : std::nullopt;
}
std::optional<std::size_t> capacity_of(const limits_row& row) {
  return within(row.capacity, 1'000'000'000'000);
}
template <class Row>
std::optional<std::int64_t> rate_of(const Row& row) {
  return within(row.rate, 1'000'000 * rate_unit);
}
constexpr std::int64_t most_messages = 1'000'000;  // the highest burst and concurrency

known_limits to_known(const std::vector<limits_row>& rows) {
  if (rows.empty()) return {};
  const limits_row& row = rows.front();
  return {
      .paused = row.paused, .metered = row.rate || row.concurrency, .capacity = capacity_of(row)};
}

/// @throws error errc::unsupported for a table of the application.
void check_limitable(const queue_state& queue) {
  if (queue.mapped() == nullptr) return;
  throw error(errc::unsupported, advice::never,
              "the table " + queue.name() +
                  " is the application's; only queues that tableq has made have limits and a "
                  "pause",
              {.backend = queue.database().name()});
}

/// Changes the queue's row, and updates the known limits of this process at once.
template <class Statement>
void change(const queue_state& queue, const Statement& what,
            const typename Statement::shared_type& shared) {
  // If the outcome stays unknown, the next call asks the database.
  queue.limits().forget();
  const auto now = queue.database().in_transaction([&](connection& session) {
    run(session, queue.names(), what, shared);
    auto rows = run(session, queue.names(), statements::limits_read, {.queue = queue.name()});
    check_identity(queue, nullptr, rows);
    return rows;
  });
  queue.limits().learn(to_known(now), limits_watch::clock::now());
  queue.limits().made_room();
}

}  // namespace

known_limits limits_now(const queue_state& queue, transaction_state* tx) {
  if (queue.mapped() != nullptr) return {};
  if (const auto known = queue.limits().known()) return *known;
  const auto asked = limits_watch::clock::now();
  const auto rows = ask_row(queue, tx);
  const known_limits out = to_known(rows);
  // The answer to a caller's transaction with an old snapshot must not serve other calls.
  if (rows.front().latest) queue.limits().learn(out, asked);
  return out;
}

queue_limits read_limits(const queue_state& queue) {
  check_limitable(queue);
  const limits_row row = ask_row(queue).front();
  queue_limits out;
  out.capacity = capacity_of(row);
  if (const auto rate = rate_of(row)) {
    out.rate = static_cast<double>(*rate) / static_cast<double>(rate_unit);
  }
  out.burst = within(row.burst, most_messages);
  out.concurrency = within(row.concurrency, most_messages);
  return out;
}

bool read_paused(const queue_state& queue) {
  check_limitable(queue);
  return to_known(ask_row(queue)).paused;
}

void set_limits(const queue_state& queue, const queue_limits& limits) {
  check_limitable(queue);
  check_limits(limits, queue.info().kind);
  if (limits.concurrency && !read_limits(queue).concurrency &&
      queue.database().options().schema == schema_policy::create_if_missing) {
    queue.database().in_transaction([&](connection& session) {
      alter_table(session, queue.names(), true,
                  [&] { session.define("concurrency", queue.names()); });
      return true;
    });
  }
  std::optional<std::int64_t> rate;
  if (limits.rate) rate = std::llround(*limits.rate * static_cast<double>(rate_unit));
  const std::int64_t burst =
      limits.burst.value_or(static_cast<int>(default_burst(rate.value_or(0))));
  change(queue, statements::limits_set,
         {.queue = queue.name(),
          .capacity = limits.capacity,
          .rate = rate,
          .burst = limits.burst,
          .concurrency = limits.concurrency,
          .tokens = burst * token_unit});
}

void set_paused(const queue_state& queue, bool paused) {
  check_limitable(queue);
  change(queue, statements::limits_pause, {.queue = queue.name(), .paused = paused});
}

allowance::allowance(const queue_state& queue, transaction_state& tx)
    : queue_(queue), tx_(tx), free_(std::numeric_limits<std::size_t>::max()) {
  const auto lock = [&] {
    const auto& what = tx.enlisted() ? statements::limits_lock : statements::limits_held;
    return queue.execute(&tx, what, {.queue = queue.name()});
  };
  auto rows = lock();
  if (rows.empty()) return;
  // The clock may have been read before the wait for the lock, so it is read again under the lock.
  if (rows.front().clock < rows.front().refilled_at) rows = lock();
  const limits_lock_row& row = rows.at(0);
  if (row.paused) {
    free_ = 0;
    retry_after_ = 500ms;
    return;
  }
  if (const auto rate = rate_of(row)) {
    meter(*rate, within(row.burst, most_messages).value_or(default_burst(*rate)),
          row.tokens.value_or(0), row.refilled_at.value_or(0), row.clock.value_or(0));
  }
  const auto concurrency = within(row.concurrency, most_messages);
  if (!concurrency || free_ == 0) return;
  const std::size_t leased =
      queue.execute(&tx, statements::claim_leased, {.max = *concurrency}).at(0).number;
  free_ = std::min(free_, *concurrency - std::min(*concurrency, leased));
}

void allowance::meter(std::int64_t rate, std::int64_t burst, std::int64_t tokens,
                      std::int64_t refilled_at, std::int64_t clock) {
  const std::int64_t full = burst * token_unit;
  const std::int64_t passed = clock - std::max<std::int64_t>(refilled_at, 0);
  metered_ = true;
  set_back_ = passed < 0;
  refilled_at_ = clock;
  tokens_ = std::clamp<std::int64_t>(tokens, 0, full);
  if (passed > (full - tokens_) / rate) {
    tokens_ = full;
  } else if (passed > 0) {
    tokens_ += rate * passed;
  }
  free_ = static_cast<std::size_t>(std::max<std::int64_t>(tokens_, 0) / token_unit);
  if (free_ == 0) {
    retry_after_ = std::chrono::milliseconds((token_unit - tokens_ + rate - 1) / rate);
  }
}

bool allowance::spend(std::size_t count) {
  if (!metered_ || (count == 0 && !set_back_)) return false;
  queue_.execute(&tx_, statements::limits_spend,
                 {.queue = queue_.name(),
                  .tokens = tokens_ - static_cast<std::int64_t>(count) * token_unit,
                  .refilled_at = refilled_at_});
  return true;
}

read_gate::read_gate(const queue_state& queue, transaction_state* tx,
                     std::chrono::milliseconds wait, std::stop_token stop)
    : queue_(queue), tx_(tx), stop_(std::move(stop)) {
  if (wait > 0ms) until_ = std::chrono::steady_clock::now() + wait;
  if (tx == nullptr) attend(queue);
}

bool read_gate::unlimited(bool looks) {
  held_back_.reset();
  if (looks && queue_.limits().was_unlimited()) return true;
  const known_limits known = limits_now(queue_, tx_);
  if (known.paused) held_back_ = longest_pause;
  return !known.paused && !known.metered;
}

bool read_gate::rest(std::uint64_t since) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until_ - std::chrono::steady_clock::now());
  if (left <= 0ms || stop_.stop_requested()) return false;
  const auto pause = std::clamp(held_back_.value_or(longest_pause), 1ms, longest_pause);
  queue_.limits().changes().wait(since, std::min(left, pause), stop_);
  return true;
}

room::room(const queue_state& queue, transaction_state* tx, std::size_t wanted,
           const when_full& full)
    : queue_(queue) {
  check_wait(full.wait, tx != nullptr);
  known_limits known = limits_now(queue, tx);
  if (!known.capacity) return;
  const auto until = std::chrono::steady_clock::now() + full.wait;
  backoff growing(10ms, 500ms);
  for (; known.capacity; known = limits_now(queue, tx)) {
    if (wanted > *known.capacity) {
      refuse("has not the capacity for so many at once; enqueue fewer", advice::never);
    }
    const std::uint64_t mark = queue.limits().changes().mark();
    if (reserve(tx, wanted, *known.capacity)) return;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left <= 0ms || full.stop.stop_requested()) {
      refuse("is full; wait for room, read from it, or raise its capacity", advice::statement);
    }
    queue.limits().changes().wait(mark, std::min(left, growing.pause()), full.stop);
  }
}

room::~room() {
  if (reserved_ != 0) queue_.limits().room().done(reserved_, unused_);
}

bool room::reserve(transaction_state* tx, std::size_t wanted, std::size_t capacity) {
  using answer = room_account::answer;
  constexpr int most_counts = 4;
  room_account& account = queue_.limits().room();
  answer got = account.reserve(wanted, room_account::clock::now());
  const auto& what =
      queue_.info().kind == kind::claim ? statements::claim_count : statements::queue_count;
  const bool keep = tx == nullptr || !tx->enlisted();
  for (int i = 0; got == answer::count && i < most_counts; ++i) {
    const auto mark = account.begin_count(room_account::clock::now());
    const std::size_t number =
        queue_.execute(tx, what, {.enough = capacity - wanted, .max = capacity + 1}).at(0).number;
    got = account.counted(mark, number, capacity, wanted, keep, room_account::clock::now());
  }
  if (tx != nullptr) tx->changes_room(queue_.shared());
  if (got != answer::granted) return false;
  reserved_ = wanted;
  return true;
}

void room::refuse(const char* sentence, advice safe) const {
  throw error(errc::queue_full, safe, "the queue " + queue_.name() + " " + sentence,
              {.backend = queue_.database().name()});
}

}  // namespace tableq::inline v0::core
