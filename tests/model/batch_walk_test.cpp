// Random walks over messages of batches, beside a ledger: after each step each batch has the counts
// of the ledger, and one message of its end if it has ended.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "model/walk.hpp"
#include "support/at_once.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

enum class outcome { outstanding, completed, dead, removed };

/// The known state of a batch.
struct record {
  std::map<std::string, outcome> members = {};  ///< By payload; a child by `batch ID`.
  bool sealed = false;
  bool cancelled = false;
  std::optional<std::int64_t> parent = {};
  bool ended = false;
  std::map<outcome, std::size_t> counts = {};  ///< At the end.

  [[nodiscard]] std::map<outcome, std::size_t> now() const {
    std::map<outcome, std::size_t> out;
    for (const auto& [name, what] : members) ++out[what];
    return out;
  }
};

using ledger = std::map<std::int64_t, record>;

class batch_walks : public on_each_backend {
 protected:
  void begin_anew() {
    clear();
    prepare(*GetParam());
    known_.clear();
    taken_.clear();
    sent_ = 0;
    queues_.clear();
    open_queue(db(), tableq::kind::claim, "ends");
    queues_.push_back(db().claim("plain", at_once({.max_attempts = 1, .batches = true})));
    queues_.push_back(db().claim("kept", at_once({.max_attempts = 1,
                                                  .keep_completed = true,
                                                  .groups = tableq::group_options{},
                                                  .batches = true})));
    queues_.push_back(db().claim(
        "buried", at_once({.max_attempts = 1, .dead_letters = "letters", .batches = true})));
  }

  void step(random_source& random) {
    if (random.one_in(3)) {
      // In a transaction, which may be undone.
      const bool undone = random.one_in(3);
      ledger before = known_;
      const auto taken = taken_;
      auto tx = db().begin();
      change(random, &tx);
      if (undone) {
        tx.rollback();
        known_ = std::move(before);
        taken_ = taken;
      } else {
        tx.commit();
      }
    } else {
      change(random, nullptr);
    }
    settle_ends();
    compare();
  }

 private:
  struct lease {
    std::size_t queue;
    tableq::receipt receipt;
    std::string payload;
  };

  [[nodiscard]] tableq::claim_queue in(std::size_t queue, tableq::transaction* tx) {
    return tx == nullptr ? queues_[queue] : queues_[queue].in(*tx);
  }

  void change(random_source& random, tableq::transaction* tx) {
    const std::size_t queue = random.below(queues_.size());
    switch (random.below(10)) {
      case 0:
        begin(random, tx);
        break;
      case 1:
      case 2:
      case 3:
        add(random, queue, tx);
        break;
      case 4:
        take(queue, tx);
        break;
      case 5:
      case 6:
        settle(random, tx);
        break;
      case 7:
        seal(random, tx);
        break;
      case 8:
        remove(random, queue, tx);
        break;
      default:
        if (tx == nullptr) by_itself(random, queue);
    }
  }

  /// Any batch, or none.
  std::optional<std::int64_t> any(random_source& random) {
    if (known_.empty()) return {};
    auto at = known_.begin();
    std::advance(at, random.below(known_.size()));
    return at->first;
  }

  void begin(random_source& random, tableq::transaction* tx) {
    tableq::batch_options options{.then = tableq::batch_end{.queue = "ends"}};
    const auto parent = random.one_in(2) ? any(random) : std::nullopt;
    const bool takes = !parent || takes_more(*parent);
    if (parent) options.parent = tableq::batch_id{.value = *parent};
    if (!takes) {
      if (tx == nullptr) {
        EXPECT_CODE(invalid_argument, (void)queues_[0].begin_batch(options));
      }
      return;
    }
    const std::int64_t id = in(0, tx).begin_batch(options).id();
    known_[id].parent = parent;
    if (parent) known_[*parent].members["batch " + std::to_string(id)] = outcome::outstanding;
  }

  [[nodiscard]] bool takes_more(std::int64_t batch) const {
    const record& at = known_.at(batch);
    return !at.sealed && !at.cancelled && !at.ended;
  }

  void add(random_source& random, std::size_t queue, tableq::transaction* tx) {
    const auto batch = any(random);
    if (!batch) return;
    if (!takes_more(*batch)) {
      if (tx == nullptr) {
        EXPECT_CODE(invalid_argument,
                    queues_[queue].enqueue("no", {.batch = tableq::batch_id{.value = *batch}}));
      }
      return;
    }
    const std::string payload = "message " + std::to_string(++sent_);
    tableq::claim_enqueue_options options{.batch = tableq::batch_id{.value = *batch}};
    if (random.one_in(3)) options.key = "key " + std::to_string(random.below(3));
    if (queue == 1 && random.one_in(2)) options.group = "group";
    std::vector<tableq::new_claim_message> two{{payload, options}, {"of none", {}}};
    if (in(queue, tx).enqueue_batch(two).front().created()) {
      known_[*batch].members[payload] = outcome::outstanding;
    }
  }

  void take(std::size_t queue, tableq::transaction* tx) {
    for (const auto& each : in(queue, tx).take(2)) {
      taken_.push_back({.queue = queue, .receipt = each.receipt, .payload = each.payload});
    }
  }

  void set(const std::string& payload, outcome what) {
    for (auto& [id, batch] : known_) {
      const auto found = batch.members.find(payload);
      if (found != batch.members.end() && !batch.ended) found->second = what;
    }
  }

  void settle(random_source& random, tableq::transaction* tx) {
    if (taken_.empty()) return;
    const lease one = taken_.back();
    taken_.pop_back();
    auto queue = in(one.queue, tx);
    switch (random.below(3)) {
      case 0:
        if (queue.fail(one.receipt, "no") == tableq::settle_result::applied) {
          set(one.payload, outcome::dead);
        }
        break;
      case 1:
        // The next look removes messages that come back to a cancelled batch: at no certain time.
        if (!any_cancelling()) {
          (void)queue.release(one.receipt);
          break;
        }
        [[fallthrough]];
      default:
        if (queue.complete(one.receipt) == tableq::settle_result::applied) {
          set(one.payload, outcome::completed);
        }
    }
  }

  void seal(random_source& random, tableq::transaction* tx) {
    const auto batch = any(random);
    if (!batch) return;
    auto handle = db().batch(*batch);
    if (tx != nullptr) {
      handle.in(*tx).seal();
    } else {
      handle.seal();
    }
    known_[*batch].sealed = true;
  }

  void remove(random_source& random, std::size_t queue, tableq::transaction* tx) {
    const auto all = queues_[queue].peek(5);
    if (all.empty()) return;
    const auto& one = all[random.below(all.size())];
    if (in(queue, tx).cancel(one.id) == tableq::change_result::applied) {
      set(one.payload, outcome::removed);
    }
  }

  [[nodiscard]] bool any_cancelling() const {
    return std::ranges::any_of(
        known_, [](const auto& each) { return each.second.cancelled && !each.second.ended; });
  }

  /// Steps that are never done in a transaction.
  void by_itself(random_source& random, std::size_t queue) {
    if (random.one_in(2)) {
      if (!any_cancelling()) redrive(queue);
      return;
    }
    if (random.one_in(3)) {
      queues_[queue].purge(tableq::message_state::dead);
      return;
    }
    const auto batch = any(random);
    if (!batch || !random.one_in(4)) return;
    EXPECT_EQ(db().batch(*batch).cancel(), !known_[*batch].ended);
    cancelled(*batch);
  }

  void cancelled(std::int64_t batch) {
    record& at = known_[batch];
    if (at.ended) return;
    at.sealed = at.cancelled = true;
    for (auto& [payload, what] : at.members) {
      const bool runs = std::ranges::find(taken_, payload, &lease::payload) != taken_.end();
      const bool child = payload.starts_with("batch ");
      if (what == outcome::outstanding && !runs && !child) what = outcome::removed;
    }
    for (const auto& [payload, what] : at.members) {
      if (payload.starts_with("batch ")) cancelled(std::stoll(payload.substr(6)));
    }
  }

  void redrive(std::size_t queue) {
    std::vector<std::string> back;
    auto& from = queues_[queue];
    const auto dead = queue == 2 ? db().claim("letters").peek(100)
                                 : from.list(tableq::message_state::dead, {.max = 100});
    for (const auto& each : dead) back.push_back(each.payload);
    if (from.redrive_all().key_held > 0) {
      // Those whose keys are held stay: by their payloads.
      for (const auto& each : db().claim("letters").peek(100)) std::erase(back, each.payload);
    }
    for (const std::string& payload : back) {
      for (auto& [id, batch] : known_) {
        const auto found = batch.members.find(payload);
        const bool dead_here = found != batch.members.end() && found->second == outcome::dead;
        if (dead_here && !batch.ended) found->second = outcome::outstanding;
      }
    }
  }

  /// Batches that are sealed and have nothing outstanding end, and then those that they belong to.
  void settle_ends() {
    for (bool more = true; more;) {
      more = false;
      for (auto& [id, batch] : known_) {
        if (batch.ended || !batch.sealed || batch.now()[outcome::outstanding] > 0) continue;
        batch.ended = more = true;
        batch.counts = batch.now();
        if (!batch.parent) continue;
        known_[*batch.parent].members["batch " + std::to_string(id)] = outcome::completed;
      }
    }
  }

  void compare() {
    std::map<std::int64_t, tableq::headers> ends;
    for (const auto& each : db().claim("ends").peek(10'000)) {
      const std::int64_t id = std::stoll(each.headers.at("tableq-batch"));
      EXPECT_FALSE(ends.contains(id)) << "two ends of batch " << id;
      ends[id] = each.headers;
    }
    for (const auto& [id, batch] : known_) {
      const auto found = db().batch(id).get();
      ASSERT_TRUE(found) << id;
      auto counts = batch.ended ? batch.counts : batch.now();
      EXPECT_EQ(found->finished_at.has_value(), batch.ended) << id;
      EXPECT_EQ(found->total, batch.members.size()) << id;
      EXPECT_EQ(found->outstanding, counts[outcome::outstanding]) << id;
      EXPECT_EQ(found->completed, counts[outcome::completed]) << id;
      EXPECT_EQ(found->dead, counts[outcome::dead]) << id;
      EXPECT_EQ(found->removed, counts[outcome::removed]) << id;
      EXPECT_EQ(found->gone, 0U) << id;
      ASSERT_EQ(ends.contains(id), batch.ended) << id;
      if (!batch.ended) continue;
      EXPECT_EQ(ends[id].at("tableq-batch-total"), std::to_string(batch.members.size()));
      EXPECT_EQ(ends[id].at("tableq-batch-completed"), std::to_string(counts[outcome::completed]));
    }
  }

  ledger known_;
  std::vector<lease> taken_;
  std::vector<tableq::claim_queue> queues_;
  std::size_t sent_ = 0;
};
TABLEQ_ON_BACKENDS(batch_walks, shared_backends);

TEST_P(batch_walks, have_the_counts_of_the_ledger_after_each_step) {
  walk({.begin = [this] { begin_anew(); },
        .step = [this](random_source& random) { step(random); },
        .usual_steps = 400});
}

}  // namespace
