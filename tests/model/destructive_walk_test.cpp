#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "model/walk.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// What is in a destructive queue: by id, the payload and when it is due.
struct waiting_message {
  std::string payload;
  tableq::timestamp due;
};
using model = std::map<tableq::message_id, waiting_message>;

class destructive_walk : public on_each_kind {
 protected:
  void walk_along() {
    walk({.begin = [this] { begin(); },
          .step = [this](random_source& random) { step(random); },
          .usual_steps = 1000});
  }

 private:
  void begin() {
    clear();
    prepare(*std::get<0>(GetParam()));
    model_.clear();
    sent_ = 0;
    paused_ = false;
    // There before the first transaction: where one writer has all, another session cannot make it.
    static_cast<void>(db_with_clock());
    static_cast<void>(make("mail"));
  }

  void step(random_source& random) {
    random_ = random;
    if (random_.one_in(100)) clear_database();
    static_cast<void>(db_with_clock());
    const std::chrono::milliseconds passed(random_.below(2000));
    clock.advance(random_.one_in(20) ? -passed : passed);  // Clocks are set back as well.
    if (random_.one_in(8)) {
      transaction();
    } else {
      change(nullptr);
    }
    look();
  }

  void transaction() {
    const model before = model_;
    tableq::transaction tx = db_with_clock().begin();
    for (std::uint64_t i = random_.below(5); i > 0; --i) change(&tx);
    if (random_.one_in(2)) {
      tx.commit();
    } else {
      tx.rollback();
      model_ = before;
    }
  }

  void change(tableq::transaction* tx) {
    const std::uint64_t choice = random_.below(20);
    if (choice < 8) return enqueue(tx);
    if (choice < 18 || tx != nullptr) return dequeue(tx);
    if (choice == 18) return pause();
    ASSERT_EQ(purge(), model_.size());
    model_.clear();
  }

  void pause() {
    paused_ = !paused_ && random_.one_in(2);
    any_queue mail = make("mail");
    if (paused_) {
      mail.base().pause();
    } else {
      mail.base().resume();
    }
  }

  std::size_t purge() {
    auto& opened = db_with_clock();
    switch (kind()) {
      case tableq::kind::heap:
        return opened.heap("mail").purge();
      case tableq::kind::fifo:
        return opened.fifo("mail").purge();
      case tableq::kind::lifo:
        return opened.lifo("mail").purge();
      default:
        return opened.pending("mail").purge();
    }
  }

  void enqueue(tableq::transaction* tx) {
    if (kind() == tableq::kind::pending && random_.one_in(2)) return enqueue_delayed(tx);
    std::vector<std::string> payloads;
    for (std::uint64_t i = random_.below(5); i > 0; --i) {
      payloads.push_back("message " + std::to_string(++sent_));
    }
    any_queue mail = make("mail");
    const auto ids = tx == nullptr ? mail.put_all(payloads) : mail.put_all(*tx, payloads);
    ASSERT_EQ(ids.size(), payloads.size());
    for (std::size_t i = 0; i < ids.size(); ++i) add(ids[i], payloads[i], clock.now());
  }

  void enqueue_delayed(tableq::transaction* tx) {
    auto mail = db_with_clock().pending("mail");
    const std::string payload = "delayed " + std::to_string(++sent_);
    tableq::pending_options options;
    tableq::timestamp due = clock.now();
    if (random_.one_in(2)) {
      options.delay = std::chrono::milliseconds(random_.below(5000));
      due += options.delay;
    } else {
      due += std::chrono::milliseconds(random_.below(8000)) - 3s;
      options.due_at = due;
    }
    add(tx == nullptr ? mail.enqueue(payload, options) : mail.enqueue(*tx, payload, options),
        payload, due);
  }

  void add(tableq::message_id id, const std::string& payload, tableq::timestamp due) {
    // An id names one message among those that are there; the order is that of enqueue.
    ASSERT_TRUE(model_.empty() || id > model_.rbegin()->first);
    model_[id] = {payload, due};
  }

  /// Ids in the order in which reads return them.
  [[nodiscard]] std::vector<tableq::message_id> in_order() const {
    std::vector<tableq::message_id> ids;
    for (const auto& [id, each] : model_) {
      if (kind() != tableq::kind::pending || each.due <= clock.now()) ids.push_back(id);
    }
    if (kind() == tableq::kind::lifo) std::reverse(ids.begin(), ids.end());
    if (kind() == tableq::kind::pending) {
      std::stable_sort(ids.begin(), ids.end(),
                       [&](auto a, auto b) { return model_.at(a).due < model_.at(b).due; });
    }
    return ids;
  }

  void dequeue(tableq::transaction* tx) {
    any_queue mail = make("mail");
    const std::size_t max = 1 + random_.below(5);
    const auto got = tx == nullptr ? mail.take_up_to(max) : mail.take_up_to(*tx, max);
    if (paused_) {
      ASSERT_TRUE(got.empty());
      return;
    }
    const auto expected = in_order();
    ASSERT_EQ(got.size(), std::min(max, expected.size()));
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(kind() == tableq::kind::heap || got[i].id == expected[i]) << got[i].id.value;
      ASSERT_EQ(model_.count(got[i].id), 1U) << "read twice, or never enqueued";
      ASSERT_EQ(got[i].payload, model_.at(got[i].id).payload);
      model_.erase(got[i].id);
    }
  }

  void look() {
    const any_queue mail = make("mail");
    const auto expected = in_order();
    ASSERT_EQ(mail.waiting(), expected.size());
    if (!random_.one_in(5) || kind() == tableq::kind::heap) return;
    const auto seen = mail.peek(10);
    ASSERT_EQ(seen.size(), std::min<std::size_t>(10, expected.size()));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      ASSERT_EQ(seen[i], model_.at(expected[i]).payload);
    }
  }

  random_source random_{0};
  model model_;
  std::uint64_t sent_ = 0;
  bool paused_ = false;
};
INSTANTIATE_TEST_SUITE_P(, destructive_walk,
                         testing::Combine(testing::ValuesIn(shared_backends()),
                                          testing::Values(tableq::kind::heap, tableq::kind::fifo,
                                                          tableq::kind::lifo,
                                                          tableq::kind::pending)),
                         backend_and_kind);

TEST_P(destructive_walk, agrees_with_the_model) {
  walk_along();
}

}  // namespace
