#include <gtest/gtest.h>

#include "model/claim_model.hpp"
#include "model/walk.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

constexpr int max_attempts = 3;
constexpr std::size_t most_messages = 300;

class claim_walk : public on_each_backend {
 protected:
  void walk_along(bool keep) {
    keep_ = keep;
    walk({.begin = [this] { begin(); },
          .step = [this](random_source& random) { step(random); },
          .usual_steps = 1500});
    queue_.reset();
  }

 private:
  void begin() {
    queue_.reset();
    clear();
    prepare(*GetParam());
    model_ = claim_model(max_attempts, keep_);
    receipts_.clear();
    sent_ = 0;
    last_ = {};
    paused_ = false;
    reopen();
  }

  /// More is added than is completed: now and then the queue is dropped with all that is in it.
  void begin_anew() {
    ASSERT_TRUE(db_with_clock().drop("jobs"));
    model_ = claim_model(max_attempts, keep_);
    receipts_.clear();
    last_ = {};
    paused_ = false;
    reopen();
  }

  void reopen() {
    queue_.reset();
    clear_database();
    queue_ =
        db_with_clock().claim("jobs", {.lease = 5s, .max_attempts = max_attempts, .keep = keep_});
    identity_ = db_with_clock().find("jobs")->identity;
  }

  void step(random_source& random) {
    random_ = random;
    if (random_.one_in(100)) reopen();
    if (model_.size() > most_messages) begin_anew();
    const std::chrono::milliseconds passed(random_.below(4000));
    clock.advance(random_.one_in(20) ? -passed : passed);  // Clocks are set back as well.
    if (random_.one_in(10)) {
      transaction();
    } else {
      change(nullptr);
    }
    look();
  }

  /// Some changes that are all undone, or all kept.
  void transaction() {
    const claim_model before = model_;
    const tableq::message_id last_before = last_;
    tableq::transaction tx = db_with_clock().begin();
    for (std::uint64_t i = random_.below(5); i > 0; --i) change(&tx);
    if (random_.one_in(2)) {
      tx.commit();
    } else {
      tx.rollback();
      model_ = before;
      last_ = last_before;  // The id of a message that never was may be used.
    }
  }

  /// Calls with the transaction when there is one.
  template <class Call>
  static auto with(tableq::transaction* tx, Call&& call) {
    return tx == nullptr ? call() : call(*tx);
  }

  void change(tableq::transaction* tx) {
    switch (random_.below(tx == nullptr ? 14 : 11)) {
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
        return redrive();
      case 12:
        return pause();
      default:
        return purge();
    }
  }

  void enqueue(tableq::transaction* tx) {
    std::vector<std::string> payloads;
    std::vector<tableq::new_claim_message> batch;
    const std::uint64_t count = 1 + random_.below(6);
    for (std::uint64_t i = 0; i < count; ++i)
      payloads.push_back("message " + std::to_string(++sent_));
    for (const std::string& payload : payloads) {
      tableq::claim_enqueue_options options{
          .priority = static_cast<std::int32_t>(random_.below(3)) - 1,
          .delay = random_.one_in(3) ? std::chrono::milliseconds(random_.below(9000)) : 0ms,
          .created_at = clock.now() - std::chrono::milliseconds(random_.below(50))};
      if (random_.one_in(2)) options.headers["n"] = payload;
      if (random_.one_in(3)) options.key = "key " + std::to_string(random_.below(8));
      if (options.key) options.on_duplicate = any_policy();
      if (random_.one_in(4)) options.max_attempts = 1 + static_cast<int>(random_.below(5));
      if (random_.one_in(4)) {
        options.retry =
            tableq::retry_delays{.after = {std::chrono::milliseconds(random_.below(3000)),
                                           std::chrono::milliseconds(random_.below(9000))}};
      }
      batch.push_back({.payload = payload, .options = options});
    }
    const auto results =
        count == 1
            ? std::vector{with(tx,
                               [&](auto&... t) {
                                 return queue_->enqueue(t..., batch[0].payload, batch[0].options);
                               })}
            : with(tx, [&](auto&... t) { return queue_->enqueue_batch(t..., batch); });
    ASSERT_EQ(results.size(), batch.size());
    for (std::size_t i = 0; i < batch.size(); ++i) {
      const auto holder =
          batch[i].options.key ? model_.holder(*batch[i].options.key) : std::nullopt;
      ASSERT_EQ(results[i].existed(), holder.has_value()) << i;
      if (holder) {
        ASSERT_EQ(results[i].id, *holder);
        ASSERT_EQ(results[i].result,
                  model_.meet(*holder, payloads[i], batch[i].options, clock.now()));
      } else {
        ASSERT_GT(results[i].id, last_) << "an id was used twice, or out of order";
        last_ = results[i].id;
        model_.add(results[i].id, payloads[i], batch[i].options, clock.now());
      }
    }
  }

  tableq::on_duplicate any_policy() {
    switch (random_.below(4)) {
      case 0:
        return tableq::on_duplicate::replace;
      case 1:
        return tableq::on_duplicate::postpone;
      default:
        return tableq::on_duplicate::keep_first;
    }
  }

  void take(tableq::transaction* tx) {
    const tableq::take_options options{
        .max = 1 + random_.below(5),
        .lease = std::chrono::milliseconds(1 + random_.below(9000)),
        .claimed_at = random_.one_in(2) ? std::optional(clock.now()) : std::nullopt};
    const auto got = with(tx, [&](auto&... t) { return queue_->take(t..., options); });
    if (paused_) {
      ASSERT_TRUE(got.empty());
      return;
    }
    const auto expected =
        model_.take(options.max, *options.lease, options.claimed_at, clock.now(), identity_);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].receipt.id, expected[i].receipt.id);
      ASSERT_EQ(got[i].receipt.queue, expected[i].receipt.queue);
      ASSERT_GT(got[i].receipt.fence, expected[i].receipt.fence);
      model_.fenced(got[i].receipt);
      ASSERT_EQ(got[i].payload, expected[i].payload);
      ASSERT_EQ(got[i].headers, expected[i].headers);
      ASSERT_EQ(got[i].key, expected[i].key);
      ASSERT_EQ(got[i].priority, expected[i].priority);
      ASSERT_EQ(got[i].attempt, expected[i].attempt);
      ASSERT_EQ(got[i].created_at, expected[i].created_at);
      ASSERT_EQ(got[i].claimed_at, expected[i].claimed_at);
      ASSERT_EQ(got[i].lease_until, expected[i].lease_until);
      receipts_.push_back(got[i].receipt);
    }
  }

  /// Settles receipts that may be fresh, stale, or of a take that was rolled back.
  void settle(tableq::transaction* tx) {
    if (receipts_.empty()) return;
    std::vector<tableq::receipt> some;
    const std::uint64_t recent = std::min<std::uint64_t>(receipts_.size(), 12);
    for (std::uint64_t i = 1 + random_.below(4); i > 0; --i) {
      some.push_back(receipts_[receipts_.size() - 1 - random_.below(recent)]);
    }
    const std::chrono::milliseconds delay(random_.one_in(2) ? 0 : random_.below(5000));
    const std::string error = "error " + std::to_string(random_.below(1000));
    std::vector<tableq::settled> got;
    std::vector<tableq::settled> expected;
    const auto ask = [&](auto&& settle_one) {
      for (const tableq::receipt& r : some) expected.push_back(settle_one(r));
    };
    switch (random_.below(4)) {
      case 0:
        got = with(tx, [&](auto&... t) { return queue_->complete(t..., some); });
        ask([&](const auto& r) { return model_.complete(r, clock.now()); });
        break;
      case 1: {
        tableq::fail_options options{.delay = delay, .give_up = random_.one_in(8)};
        if (random_.one_in(2)) options.delay.reset();
        std::vector<tableq::failure> failures;
        for (const auto& r : some) {
          failures.push_back({.receipt = r, .error = error, .options = options});
        }
        got = with(tx, [&](auto&... t) { return queue_->fail(t..., failures); });
        ask([&](const auto& r) { return model_.fail(r, error, options, clock.now()); });
        break;
      }
      case 2:
        got = with(tx, [&](auto&... t) { return queue_->release(t..., some); });
        ask([&](const auto& r) { return model_.release(r); });
        break;
      default:
        got = with(tx, [&](auto&... t) { return queue_->extend(t..., some, delay + 1ms); });
        // One of two equal receipts answers: extending twice is extending once.
        ask([&](const auto& r) { return model_.extend(r, delay + 1ms, clock.now()); });
        for (std::size_t i = 0; i < some.size(); ++i) {
          if (std::count(some.begin(), some.begin() + static_cast<std::ptrdiff_t>(i), some[i]) >
              0) {
            expected[i] = got[i];
          }
        }
        break;
    }
    ASSERT_EQ(got, expected);
  }

  /// One that is there, or one that was or will be.
  tableq::message_id any_message() {
    if (random_.one_in(4))
      return {1 + static_cast<std::int64_t>(
                      random_.below(static_cast<std::uint64_t>(last_.value) + 2))};
    const tableq::message_id there = model_.some(random_.below(1000));
    return there.value == 0 ? tableq::message_id{1} : there;
  }

  void cancel(tableq::transaction* tx) {
    const tableq::message_id id = any_message();
    const auto got = with(tx, [&](auto&... t) { return queue_->cancel(t..., id); });
    ASSERT_EQ(got, model_.cancel(id));
  }

  void set_priority(tableq::transaction* tx) {
    const tableq::message_id id = any_message();
    const auto priority = static_cast<std::int32_t>(random_.below(5)) - 2;
    const auto got = with(tx, [&](auto&... t) { return queue_->set_priority(t..., id, priority); });
    ASSERT_EQ(got, model_.set_priority(id, priority));
  }

  void get(tableq::transaction* tx) {
    const tableq::message_id id = any_message();
    const auto got = with(tx, [&](auto&... t) { return queue_->get(t..., id); });
    const auto expected = model_.get(id);
    ASSERT_EQ(got.has_value(), expected.has_value());
    if (got) compare({*got}, {*expected});
    const std::string key = "key " + std::to_string(random_.below(8));
    const auto found = with(tx, [&](auto&... t) { return queue_->find(t..., key); });
    const auto holder = model_.holder(key);
    ASSERT_EQ(found.has_value(), holder.has_value());
    if (found) compare({*found}, {*model_.get(*holder)});
  }

  void pause() {
    paused_ = !paused_ && random_.one_in(2);
    if (paused_) {
      queue_->pause();
    } else {
      queue_->resume();
    }
    ASSERT_EQ(queue_->paused(), paused_);
  }

  void redrive() {
    if (random_.one_in(4)) {
      ASSERT_EQ(queue_->redrive_all(), model_.redrive_all());
      return;
    }
    std::vector<tableq::message_id> ids = {{1}, last_};
    const auto dead = model_.list(tableq::message_state::dead);
    if (!dead.empty()) ids.push_back(dead[random_.below(dead.size())].id);
    ASSERT_EQ(queue_->redrive(ids), model_.redrive(ids));
  }

  void purge() {
    const auto which = random_.one_in(2) ? tableq::retained::dead : tableq::retained::done;
    const std::chrono::milliseconds age(random_.below(20'000));
    ASSERT_EQ(queue_->purge(which, {.older_than = age, .batch = 1 + random_.below(5)}),
              model_.purge(which, age, clock.now()));
  }

  void look() {
    const auto got = queue_->stats();
    const auto expected = model_.stats(clock.now());
    ASSERT_EQ(got.ready, expected.ready);
    ASSERT_EQ(got.delayed, expected.delayed);
    ASSERT_EQ(got.leased, expected.leased);
    ASSERT_EQ(got.done, expected.done);
    ASSERT_EQ(got.dead, expected.dead);
    if (random_.one_in(5)) compare(queue_->peek(10), model_.peek(10, clock.now()));
    if (random_.one_in(20)) {
      compare(queue_->list(tableq::message_state::dead, {.max = 10'000}),
              model_.list(tableq::message_state::dead));
      compare(queue_->list(tableq::message_state::done, {.max = 10'000}),
              model_.list(tableq::message_state::done));
    }
  }

  static void compare(const std::vector<tableq::stored_message>& got,
                      const std::vector<tableq::stored_message>& expected) {
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].id, expected[i].id);
      ASSERT_EQ(got[i].state, expected[i].state);
      ASSERT_EQ(got[i].payload, expected[i].payload);
      ASSERT_EQ(got[i].headers, expected[i].headers);
      ASSERT_EQ(got[i].key, expected[i].key);
      ASSERT_EQ(got[i].priority, expected[i].priority);
      ASSERT_EQ(got[i].attempts, expected[i].attempts);
      ASSERT_EQ(got[i].created_at, expected[i].created_at);
      ASSERT_EQ(got[i].due_at, expected[i].due_at);
      ASSERT_EQ(got[i].claimed_at, expected[i].claimed_at);
      ASSERT_EQ(got[i].finished_at, expected[i].finished_at);
      ASSERT_EQ(got[i].errors.size(), expected[i].errors.size());
      for (std::size_t e = 0; e < got[i].errors.size(); ++e) {
        ASSERT_EQ(got[i].errors[e].at, expected[i].errors[e].at);
        ASSERT_EQ(got[i].errors[e].error, expected[i].errors[e].error);
      }
    }
  }

  random_source random_{0};
  claim_model model_{max_attempts, false};
  bool keep_ = false;
  std::optional<tableq::claim_queue> queue_;
  std::int64_t identity_ = 0;
  std::vector<tableq::receipt> receipts_;
  std::uint64_t sent_ = 0;
  bool paused_ = false;
  tableq::message_id last_;
};
TABLEQ_ON_BACKENDS(claim_walk, shared_backends);

TEST_P(claim_walk, agrees_with_the_model) {
  walk_along(false);
}

TEST_P(claim_walk, of_a_queue_that_keeps_agrees_with_the_model) {
  walk_along(true);
}

}  // namespace
