#include "model/claim_walk.hpp"

#include <algorithm>
#include <set>
#include <string>

#include "model/described.hpp"

namespace tableq_test {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t most_messages = 300;

}  // namespace

void claim_walk::walk_by(const tableq::claim_options& rules) {
  rules_ = rules;
  begin_model(claim_model(rules_));
  walk_along(500);
}

void claim_walk::close() {
  queue_.reset();
  letters_.reset();
  receipts_.clear();
}

void claim_walk::reopen() {
  queue_.reset();
  letters_.reset();
  clear_database();
  queue_ = db_with_clock().claim(claim_model::name, rules_);
  if (rules_.dead_letters) letters_ = db_with_clock().claim(*rules_.dead_letters);
  identity_ = db_with_clock().find(claim_model::name)->identity;
}

void claim_walk::begin_anew() {
  ASSERT_TRUE(db_with_clock().drop(claim_model::name));
  if (rules_.dead_letters) static_cast<void>(db_with_clock().drop(*rules_.dead_letters));
  receipts_.clear();
  model_ = claim_model(rules_);
  reopen();
}

void claim_walk::prepare_change() {
  if (model_.size() > most_messages) begin_anew();
}

void claim_walk::change(tableq::transaction* tx) {
  switch (random_.below(tx == nullptr ? 19 : 13)) {
    case 0:
    case 1:
    case 2:
      return enqueue(tx);
    case 3:
    case 4:
      return take(tx);
    case 5:
    case 6:
    case 7:
      return settle(tx);
    case 8:
      return cancel(tx);
    case 9:
      return set_priority(tx);
    case 10:
      return get(tx);
    case 11:
      return random_.one_in(3) ? write_letter(tx) : read_letter(tx);
    case 12:
      return make_ready(tx);
    case 13:
    case 14:
      return redrive();
    case 15:
      return pause();
    case 16:
      return change_by_filter();
    case 17:
      return letters_ && random_.one_in(3) ? limit_letters() : limit(true);
    default:
      return purge();
  }
}

tableq::claim_enqueue_options claim_walk::any_options(const std::string& payload) {
  tableq::claim_enqueue_options options{
      .priority = static_cast<std::int32_t>(random_.below(3)) - 1,
      .created_at = clock.now() - std::chrono::milliseconds(random_.below(50))};
  // Few groups, so that some of their messages wait behind a failed one.
  if (random_.one_in(rules_.groups.enabled ? 9 : 3)) {
    options.delay = std::chrono::milliseconds(random_.below(9000));
  } else if (rules_.groups.enabled) {
    options.group = "group " + std::to_string(random_.below(2));
  }
  if (random_.one_in(2)) options.headers["n"] = payload;
  if (random_.one_in(rules_.key_window ? 2 : 3)) options.key = any_key();
  if (options.key) options.on_duplicate = any_policy();
  if (random_.one_in(6))
    options.time_to_live = std::chrono::milliseconds(1 + random_.below(20'000));
  if (random_.one_in(4)) options.max_attempts = 1 + static_cast<int>(random_.below(5));
  if (random_.one_in(4)) {
    options.retry = tableq::retry_delays{.after = {std::chrono::milliseconds(random_.below(3000)),
                                                   std::chrono::milliseconds(random_.below(9000))},
                                         .jitter = random_.one_in(2) ? 50 : 0};
  }
  return options;
}

std::string claim_walk::any_key() {
  // Few keys, so that the walk meets them around the end of a window.
  return "key " + std::to_string(random_.below(rules_.key_window ? 4 : 8));
}

tableq::on_duplicate claim_walk::any_policy() {
  switch (random_.below(10)) {
    case 0:
      return tableq::on_duplicate::reject;
    case 1:
    case 2:
      return tableq::on_duplicate::replace;
    case 3:
    case 4:
      return tableq::on_duplicate::postpone;
    default:
      return tableq::on_duplicate::keep_first;
  }
}

void claim_walk::enqueue(tableq::transaction* tx) {
  std::vector<std::string> payloads;
  std::vector<tableq::new_claim_message> batch;
  const std::uint64_t count = 1 + random_.below(6);
  for (std::uint64_t i = 0; i < count; ++i) payloads.push_back(any_payload());
  for (const std::string& payload : payloads) {
    batch.push_back({.payload = payload, .options = any_options(payload)});
  }
  const auto put = [&] {
    if (count > 1) return in(tx, *queue_).enqueue_batch(batch);
    return std::vector{in(tx, *queue_).enqueue(batch[0].payload, batch[0].options)};
  };
  if (refused(model_.limits(), count, model_.waiting_or_running(), put)) return;
  if (rejects(batch)) {
    const tableq::error held = thrown_by(put);
    ASSERT_EQ(tableq::to_string(held.code()), "duplicate_key");
    if (tx != nullptr) spoil(*tx);
    return;
  }
  std::vector<tableq::enqueued> results;
  if (!told([&] { results = put(); })) return enqueued_perhaps(batch);
  ASSERT_EQ(results.size(), batch.size());
  const auto expected = add(batch, [&](std::size_t i) {
    EXPECT_GT(results[i].id, model_.last()) << "an id was used twice, or out of order";
    return results[i].id;
  });
  for (std::size_t i = 0; i < results.size(); ++i) {
    ASSERT_EQ(results[i].id, expected[i].id) << i;
    ASSERT_EQ(results[i].result, expected[i].result) << i;
  }
}

std::vector<tableq::enqueued> claim_walk::add(
    const std::vector<tableq::new_claim_message>& batch,
    const std::function<tableq::message_id(std::size_t)>& id_of) {
  const auto has_key = [](const auto& one) { return one.options.key.has_value(); };
  if (std::any_of(batch.begin(), batch.end(), has_key)) model_.forget_keys(clock.now());
  std::vector<tableq::enqueued> out;
  claim_model::group_names touched;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    const tableq::claim_enqueue_options& options = batch[i].options;
    const std::string payload(batch[i].payload);
    if (options.group) touched.insert(*options.group);
    const auto holder = options.key ? model_.holder(*options.key, clock.now()) : std::nullopt;
    if (holder) {
      out.push_back(
          {.id = *holder, .result = model_.meet(*holder, payload, options, clock.now(), touched)});
    } else {
      out.push_back({.id = id_of(i)});
      model_.add(out.back().id, payload, options, clock.now());
    }
  }
  model_.let_go(touched, clock.now());
  return out;
}

bool claim_walk::rejects(const std::vector<tableq::new_claim_message>& batch) const {
  std::set<std::string> held;
  for (const auto& [payload, options] : batch) {
    if (!options.key) continue;
    const bool known =
        !held.insert(*options.key).second || model_.holder(*options.key, clock.now()).has_value();
    if (known && options.on_duplicate == tableq::on_duplicate::reject) return true;
  }
  return false;
}

void claim_walk::take(tableq::transaction* tx) {
  const std::size_t max = 1 + random_.below(5);
  const tableq::take_options options{
      .wait = tx == nullptr && random_.one_in(8) ? 1ms : 0ms,
      .lease = std::chrono::milliseconds(1 + random_.below(9000)),
      .claimed_at = random_.one_in(2) ? std::optional(clock.now()) : std::nullopt};
  std::vector<tableq::delivery> got;
  const auto take_in_model = [&] {
    return model_.take(max, *options.lease, options.claimed_at, clock.now(), identity_,
                       [&] { unit_ended(); });
  };
  if (!told([&] { got = in(tx, *queue_).take(max, options); })) {
    return either(take_in_model);
  }
  const auto expected = take_in_model();
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_EQ(got[i].receipt.id, expected[i].receipt.id);
    ASSERT_EQ(got[i].receipt.queue, expected[i].receipt.queue);
    ASSERT_GT(got[i].receipt.fence, expected[i].receipt.fence);
    model_.fenced(got[i].receipt);
    may_.each([&](claim_model& other) { other.fenced(got[i].receipt); });
    ASSERT_EQ(got[i].payload, expected[i].payload);
    ASSERT_EQ(got[i].headers, expected[i].headers);
    ASSERT_EQ(got[i].key, expected[i].key);
    ASSERT_EQ(got[i].group, expected[i].group);
    ASSERT_EQ(got[i].priority, expected[i].priority);
    ASSERT_EQ(got[i].attempt, expected[i].attempt);
    ASSERT_EQ(got[i].created_at, expected[i].created_at);
    ASSERT_EQ(got[i].claimed_at, expected[i].claimed_at);
    ASSERT_EQ(got[i].lease_until, expected[i].lease_until);
    receipts_.push_back(got[i].receipt);
  }
}

void claim_walk::settle(tableq::transaction* tx) {
  if (receipts_.empty()) return;
  std::vector<tableq::receipt> some;
  const std::uint64_t recent = std::min<std::uint64_t>(receipts_.size(), 12);
  for (std::uint64_t i = 1 + random_.below(4); i > 0; --i) {
    some.push_back(receipts_[receipts_.size() - 1 - random_.below(recent)]);
  }
  const std::chrono::milliseconds delay(random_.one_in(2) ? 0 : random_.below(5000));
  const std::string error = "error " + std::to_string(random_.below(1000));
  std::vector<tableq::settle_result> expected;
  std::vector<tableq::message_id> ids;
  for (const tableq::receipt& r : some) ids.push_back(r.id);
  const auto touched = model_.groups_of(ids);
  auto queue = in(tx, *queue_);
  const auto settled_as = [&](auto&& call, auto&& settle_one) {
    std::vector<tableq::settle_result> got;
    const bool known = told([&] { got = call(); });
    const auto effect = [&] {
      for (const tableq::receipt& r : some) expected.push_back(settle_one(r));
      model_.let_go(touched, clock.now());
    };
    if (known) {
      effect();
    } else {
      either(effect);
      got = expected;
    }
    return got;
  };
  switch (random_.below(4)) {
    case 0:
      ASSERT_EQ(settled_as([&] { return queue.complete_batch(some); },
                           [&](const auto& r) { return model_.complete(r, clock.now()); }),
                expected);
      break;
    case 1: {
      tableq::fail_options options{.delay = delay, .give_up = random_.one_in(8)};
      if (random_.one_in(2)) options.delay.reset();
      std::vector<tableq::failure> failures;
      for (const auto& r : some) {
        failures.push_back({.receipt = r, .error = error, .options = options});
      }
      const auto fail = [&](const auto& r) {
        return model_.fail(r, error, drawn(tx, r, options), clock.now());
      };
      ASSERT_EQ(settled_as([&] { return queue.fail_batch(failures); }, fail), expected);
      break;
    }
    case 2:
      ASSERT_EQ(settled_as([&] { return queue.release_batch(some); },
                           [&](const auto& r) { return model_.release(r, clock.now()); }),
                expected);
      break;
    default: {
      const auto got =
          settled_as([&] { return queue.extend_batch(some, delay + 1ms); },
                     [&](const auto& r) { return model_.extend(r, delay + 1ms, clock.now()); });
      // Of two equal receipts one is applied: two extensions are as one.
      for (std::size_t i = 0; i < some.size(); ++i) {
        const auto end = some.begin() + static_cast<std::ptrdiff_t>(i);
        if (std::count(some.begin(), end, some[i]) > 0) continue;
        ASSERT_EQ(got[i], expected[i]);
      }
      break;
    }
  }
}

tableq::fail_options claim_walk::drawn(tableq::transaction* tx, const tableq::receipt& of,
                                       tableq::fail_options options) {
  const auto expected = model_.rest_after(of);
  if (options.delay || !expected || expected->least == expected->most) return options;
  const auto stored = in(tx, *queue_).get(of.id);
  using enum tableq::message_state;
  // Still leased: the failure may not have happened.
  if (!stored || stored->state == dead || stored->state == leased) return options;
  options.delay = stored->due_at ? *stored->due_at - clock.now() : 0ms;
  EXPECT_LE(expected->least, *options.delay);
  EXPECT_GE(expected->most, *options.delay);
  return options;
}

tableq::message_id claim_walk::any_message() {
  if (random_.one_in(4)) {
    const auto most = static_cast<std::uint64_t>(model_.last().value) + 2;
    return {1 + static_cast<std::int64_t>(random_.below(most))};
  }
  const tableq::message_id there = model_.some(random_.below(1000));
  return there.value == 0 ? tableq::message_id{1} : there;
}

void claim_walk::cancel(tableq::transaction* tx) {
  const tableq::message_id id = any_message();
  auto got = tableq::change_result::applied;
  if (!told([&] { got = in(tx, *queue_).cancel(id); })) {
    return either([&] { model_.cancel(id, clock.now()); });
  }
  ASSERT_EQ(got, model_.cancel(id, clock.now()));
}

void claim_walk::set_priority(tableq::transaction* tx) {
  const tableq::message_id id = any_message();
  const auto priority = static_cast<std::int32_t>(random_.below(5)) - 2;
  auto got = tableq::change_result::applied;
  if (!told([&] { got = in(tx, *queue_).set_priority(id, priority); })) {
    return either([&] { model_.set_priority(id, priority); });
  }
  ASSERT_EQ(got, model_.set_priority(id, priority));
}

void claim_walk::make_ready(tableq::transaction* tx) {
  const tableq::message_id id = any_message();
  auto got = tableq::change_result::applied;
  if (!told([&] { got = in(tx, *queue_).make_ready(id); })) {
    return either([&] { model_.make_ready(id, clock.now()); });
  }
  ASSERT_EQ(got, model_.make_ready(id, clock.now()));
}

/// Steps of one message, so that each is a unit of work, as in the model.
void claim_walk::change_by_filter() {
  const std::string group = "group " + std::to_string(random_.below(4));
  const bool cancels = random_.one_in(2);
  tableq::message_filter filter;
  if (rules_.groups.enabled) {
    filter.group = group;
  } else {
    filter.key_prefix = any_key();
  }
  std::vector<tableq::message_id> fit;
  for (const tableq::stored_message& each : model_.all()) {
    using enum tableq::message_state;
    const bool right = cancels ? each.state != done && each.state != leased : each.state == delayed;
    const bool meets = filter.group ? each.group == filter.group : each.key == filter.key_prefix;
    if (right && meets) fit.push_back(each.id);
  }
  const auto expect = [&] {
    for (const tableq::message_id id : fit) {
      cancels ? model_.cancel(id, clock.now()) : model_.make_ready(id, clock.now());
    }
  };
  tableq::bulk_result got;
  if (!told([&] {
        got = cancels ? queue_->cancel(filter, {.batch = 1})
                      : queue_->make_ready(filter, {.batch = 1});
      })) {
    may_.heal();
    return begin_anew();  // Any number of the steps may have happened.
  }
  expect();
  ASSERT_EQ(got.count, fit.size());
}

void claim_walk::get(tableq::transaction* tx) {
  const tableq::message_id id = any_message();
  const auto got = in(tx, *queue_).get(id);
  const auto expected = model_.get(id);
  ASSERT_EQ(got.has_value(), expected.has_value());
  if (got) {
    ASSERT_EQ(described(*got), described(*expected));
  }
  const std::string key = any_key();
  const auto found = in(tx, *queue_).find(key);
  const auto holder = model_.holder(key, clock.now());
  ASSERT_EQ(found.has_value(), holder.has_value());
  if (found) {
    ASSERT_EQ(described(*found), described(*model_.get(*holder)));
  }
}

void claim_walk::purge() {
  const auto which = random_.one_in(2) ? tableq::message_state::dead : tableq::message_state::done;
  const tableq::purge_options options{
      .older_than = std::chrono::milliseconds(random_.below(20'000)),
      .batch = 1 + random_.below(5)};
  const auto purge_in_model = [&] {
    return model_.purge(which, options, clock.now(), [&] { unit_ended(); });
  };
  std::size_t got = 0;
  if (!told([&] { got = queue_->purge(which, options); })) return either(purge_in_model);
  ASSERT_EQ(got, purge_in_model());
}

void claim_walk::look() {
  ASSERT_EQ(model_.crowded(), std::nullopt);
  const auto got = queue_->stats();
  const auto expected = model_.stats(clock.now());
  ASSERT_EQ(got.ready, expected.ready);
  ASSERT_EQ(got.delayed, expected.delayed);
  ASSERT_EQ(got.leased, expected.leased);
  ASSERT_EQ(got.held, expected.held);
  ASSERT_EQ(got.done, expected.done);
  ASSERT_EQ(got.dead, expected.dead);
  if (random_.one_in(5)) {
    ASSERT_EQ(described(queue_->peek(10)), described(model_.peek(10, clock.now())));
  }
  if (!random_.one_in(20)) return;
  for (const auto state : {tableq::message_state::dead, tableq::message_state::done}) {
    ASSERT_EQ(described(queue_->list(state, {.max = 10'000})), described(model_.list(state)));
  }
  if (letters_) compare_letters();
}

}  // namespace tableq_test
