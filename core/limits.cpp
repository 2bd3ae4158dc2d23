#include "core/limits.hpp"

#include <array>
#include <cmath>
#include <limits>
#include <utility>

#include <tableq/error.hpp>

#include "core/validate.hpp"

namespace tableq::core {
namespace {

using namespace std::chrono_literals;

enum class column : std::size_t { paused, capacity, rate, burst, concurrency };
enum class lock_column : std::size_t {
  paused,
  rate,
  burst,
  concurrency,
  tokens,
  refilled_at,
  clock
};

/// A rate of 1 is so many in the table, and a token of a message so many.
constexpr std::int64_t rate_unit = 1'000'000;
constexpr std::int64_t token_unit = 1'000'000'000;

std::optional<std::int64_t> at(const row_set& rows, column c) {
  return rows.maybe_integer(0, static_cast<std::size_t>(c));
}
std::optional<std::int64_t> at(const row_set& rows, lock_column c) {
  return rows.maybe_integer(0, static_cast<std::size_t>(c));
}

template <class Number>
value to_value(const std::optional<Number>& of) {
  return of ? value(static_cast<std::int64_t>(*of)) : value();
}

std::int64_t default_burst(std::int64_t rate) {
  return (rate + rate_unit - 1) / rate_unit;
}

known_limits to_known(const row_set& rows) {
  if (rows.empty()) return {};
  known_limits out{.paused = at(rows, column::paused).value_or(0) != 0,
                   .metered = at(rows, column::rate) || at(rows, column::concurrency)};
  if (const auto capacity = at(rows, column::capacity)) {
    out.capacity = static_cast<std::size_t>(*capacity);
  }
  return out;
}

row_set read_row(const queue_state& of) {
  const value name{std::string_view(of.name())};
  return of.execute(nullptr, statement::limits_read, {&name, 1});
}

/// Changes the queue's row, and lets this process know at once.
void change(const queue_state& of, statement id, std::span<const value> shared) {
  const value name{std::string_view(of.name())};
  const row_set now = of.database().in_transaction([&](connection& session) {
    session.execute(id, of.names(), shared, {});
    return session.execute(statement::limits_read, of.names(), {&name, 1}, {});
  });
  if (now.empty()) {
    throw error(errc::not_found, advice::never,
                "the catalogue does not know the queue " + of.name() + " any more",
                {.backend = of.database().name(), .operation = "limits"});
  }
  of.limits().learn(to_known(now), limits_watch::clock::now());
  of.limits().made_room();
}

}  // namespace

known_limits limits_now(const queue_state& of, transaction* tx) {
  if (const auto known = of.limits().known()) return *known;
  const auto asked = limits_watch::clock::now();
  const value name{std::string_view(of.name())};
  // A caller's transaction may see the past, which is nobody else's business.
  const bool callers = tx != nullptr && tx->state().enlisted();
  const known_limits out = to_known(
      of.execute(tx, callers ? statement::limits_ask : statement::limits_read, {&name, 1}));
  if (!callers) of.limits().learn(out, asked);
  return out;
}

queue_limits read_limits(const queue_state& of) {
  const row_set rows = read_row(of);
  queue_limits out;
  if (rows.empty()) return out;
  if (const auto it = at(rows, column::capacity)) out.capacity = static_cast<std::size_t>(*it);
  if (const auto it = at(rows, column::rate)) {
    out.rate = static_cast<double>(*it) / static_cast<double>(rate_unit);
  }
  if (const auto it = at(rows, column::burst)) out.burst = static_cast<int>(*it);
  if (const auto it = at(rows, column::concurrency)) out.concurrency = static_cast<int>(*it);
  return out;
}

bool read_paused(const queue_state& of) {
  return to_known(read_row(of)).paused;
}

void set_limits(const queue_state& of, const queue_limits& limits) {
  check_limits(limits, of.info().kind);
  if (limits.concurrency && !read_limits(of).concurrency &&
      of.database().options().schema == schema_policy::create_if_missing) {
    of.database().in_transaction([&](connection& session) {
      session.define("concurrency", of.names());
      return true;
    });
  }
  std::optional<std::int64_t> rate;
  if (limits.rate) rate = std::llround(*limits.rate * static_cast<double>(rate_unit));
  const std::int64_t burst =
      limits.burst.value_or(static_cast<int>(default_burst(rate.value_or(0))));
  const std::array shared{value(std::string_view(of.name())),
                          to_value(limits.capacity),
                          to_value(rate),
                          to_value(limits.burst),
                          to_value(limits.concurrency),
                          value(burst * token_unit),
                          of.database().now()};
  change(of, statement::limits_set, shared);
}

void set_paused(const queue_state& of, bool paused) {
  const std::array shared{value(std::string_view(of.name())), value(std::int64_t{paused ? 1 : 0})};
  change(of, statement::limits_pause, shared);
}

void made_room(const queue_state& of, transaction* tx) {
  if (!of.limits().limited()) return;
  of.limits().made_room();
  if (tx != nullptr) tx->state().changes_room(of.limits());
}

void came_back(const queue_state& of, transaction* tx) {
  if (!of.limits().limited()) return;
  of.limits().room().forget();
  if (tx != nullptr) tx->state().changes_room(of.limits(), true);
}

allowance::allowance(const queue_state& of, transaction& in)
    : of_(of), in_(in), free_(std::numeric_limits<std::size_t>::max()) {
  const auto lock = [&] {
    const std::array shared{value(std::string_view(of.name())), of.database().now()};
    return of.execute(&in, statement::limits_lock, shared);
  };
  row_set rows = lock();
  if (rows.empty()) return;
  const auto number = [&](lock_column c) { return at(rows, c).value_or(0); };
  // The time may be that of when the wait for the lock began; with the lock it is asked again.
  if (number(lock_column::clock) < number(lock_column::refilled_at)) rows = lock();
  if (number(lock_column::paused) != 0) {
    free_ = 0;
    look_again_ = 500ms;
    return;
  }
  if (const auto rate = at(rows, lock_column::rate)) {
    meter(*rate, at(rows, lock_column::burst).value_or(default_burst(*rate)),
          number(lock_column::tokens), number(lock_column::refilled_at),
          number(lock_column::clock));
  }
  const auto concurrency = at(rows, lock_column::concurrency);
  if (!concurrency || free_ == 0) return;
  const std::array most{value(*concurrency), of.database().now()};
  const std::int64_t leased = of.execute(&in, statement::claim_leased, most).integer(0, 0);
  free_ = std::min(free_, static_cast<std::size_t>(*concurrency - std::min(*concurrency, leased)));
}

void allowance::meter(std::int64_t rate, std::int64_t burst, std::int64_t tokens,
                      std::int64_t refilled_at, std::int64_t clock) {
  const std::int64_t full = burst * token_unit;
  const std::int64_t passed = clock - refilled_at;
  metered_ = true;
  set_back_ = passed < 0;
  refilled_at_ = clock;
  tokens_ = std::min(tokens, full);
  if (passed > (full - tokens_) / rate) {
    tokens_ = full;
  } else if (passed > 0) {
    tokens_ += rate * passed;
  }
  free_ = static_cast<std::size_t>(std::max<std::int64_t>(tokens_, 0) / token_unit);
  if (free_ == 0) {
    look_again_ = std::chrono::milliseconds((token_unit - tokens_ + rate - 1) / rate);
  }
}

bool allowance::spend(std::size_t count) {
  if (!metered_ || (count == 0 && !set_back_)) return false;
  const std::array shared{value(std::string_view(of_.name())),
                          value(tokens_ - static_cast<std::int64_t>(count) * token_unit),
                          value(refilled_at_)};
  of_.execute(&in_, statement::limits_spend, shared);
  return true;
}

read_gate::read_gate(const queue_state& of, transaction* tx, std::chrono::milliseconds wait,
                     std::stop_token stop)
    : of_(of), tx_(tx), stop_(std::move(stop)) {
  if (wait > 0ms) until_ = std::chrono::steady_clock::now() + wait;
}

std::chrono::milliseconds read_gate::growing_pause() {
  if (!growing_) growing_.emplace(first_pause, longest_pause);
  return growing_->pause();
}

bool read_gate::rest(std::uint64_t since) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(until_ - std::chrono::steady_clock::now());
  if (left <= 0ms || stop_.stop_requested()) return false;
  const auto pause = std::clamp(held_back_.value_or(longest_pause), 1ms, longest_pause);
  of_.limits().changes().wait(since, std::min(left, pause), stop_);
  return true;
}

room::room(const queue_state& of, transaction* tx, std::size_t wanted, const when_full& full)
    : of_(of) {
  check_wait(full.wait, tx != nullptr);
  known_limits known = limits_now(of, tx);
  if (!known.capacity) return;
  const auto until = std::chrono::steady_clock::now() + full.wait;
  std::optional<backoff> growing;
  for (; known.capacity; known = limits_now(of, tx)) {
    if (wanted > *known.capacity) {
      refuse("has not the capacity for so many at once; enqueue fewer", advice::never);
    }
    const std::uint64_t mark = of.limits().changes().mark();
    if (reserve(tx, wanted, *known.capacity)) return;
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left <= 0ms || full.stop.stop_requested()) {
      refuse("is full; wait for room, read from it, or raise its capacity", advice::statement);
    }
    if (!growing) growing.emplace(10ms, 500ms);
    of.limits().changes().wait(mark, std::min(left, growing->pause()), full.stop);
  }
}

room::~room() {
  if (reserved_ != 0) of_.limits().room().done(reserved_, unused_);
}

bool room::reserve(transaction* tx, std::size_t wanted, std::size_t capacity) {
  using answer = room_account::answer;
  constexpr int most_counts = 4;
  room_account& account = of_.limits().room();
  answer got = account.reserve(wanted, room_account::clock::now());
  const statement id =
      of_.info().kind == kind::claim ? statement::claim_count : statement::queue_count;
  const std::array shared{value(static_cast<std::int64_t>(capacity - wanted)),
                          value(static_cast<std::int64_t>(capacity + 1))};
  const bool keep = tx == nullptr || !tx->state().enlisted();
  for (int i = 0; got == answer::count && i < most_counts; ++i) {
    const auto mark = account.begin_count(room_account::clock::now());
    const std::int64_t number = of_.execute(tx, id, shared).integer(0, 0);
    got = account.counted(mark, static_cast<std::size_t>(number), capacity, wanted, keep,
                          room_account::clock::now());
  }
  if (tx != nullptr) tx->state().changes_room(of_.limits());
  if (got != answer::granted) return false;
  reserved_ = wanted;
  return true;
}

void room::refuse(const char* sentence, advice safe) const {
  throw error(errc::queue_full, safe, "the queue " + of_.name() + " " + sentence,
              {.backend = of_.database().name(), .operation = "enqueue"});
}

}  // namespace tableq::core
