#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "model/walked.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// The contents of a destructive queue: by id, the payload and due time.
struct destructive_model {
  struct message {
    std::string payload;
    tableq::timestamp due;
  };
  std::map<tableq::message_id, message> all = {};
  limits_model held_back = {};

  [[nodiscard]] limits_model& limits() { return held_back; }
  [[nodiscard]] const limits_model& limits() const { return held_back; }
};

class destructive_walk : public walked<on_each_kind, destructive_model> {
 protected:
  destructive_walk() : walked(destructive_model()) {}

  tableq::ordering ordering_ = tableq::ordering::relaxed;

 private:
  [[nodiscard]] const backend& stands_on() const override { return *std::get<0>(GetParam()); }
  tableq::queue& queue() override { return mail_->base(); }

  void close() override { mail_.reset(); }

  void reopen() override {
    close();
    clear_database();
    if (ordering_ == tableq::ordering::strict) open_strict();
    mail_.emplace(db_with_clock(), kind(), "mail");
  }

  void open_strict() {
    const tableq::order_options strict{.ordering = ordering_};
    if (kind() == tableq::kind::fifo) {
      static_cast<void>(db_with_clock().fifo("mail", strict));
    } else {
      static_cast<void>(db_with_clock().lifo("mail", strict));
    }
  }

  void change(tableq::transaction* tx) override {
    const std::uint64_t choice = random_.below(20);
    if (choice < 8) return enqueue(tx);
    if (choice < 17 || tx != nullptr) return dequeue(tx);
    if (choice == 17) return limit(false);
    if (choice == 18) return pause();
    std::size_t gone = 0;
    if (!told([&] { gone = purge(); })) return either([&] { model_.all.clear(); });
    ASSERT_EQ(gone, model_.all.size());
    model_.all.clear();
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
    const auto put = [&] { return in(tx, *mail_).put_all(payloads); };
    if (refused(model_.limits(), payloads.size(), model_.all.size(), put)) return;
    std::vector<tableq::message_id> ids;
    if (!told([&] { ids = put(); })) return added_perhaps(payloads, clock.now());
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
    const auto put = [&] { return in(tx, mail).enqueue(payload, options); };
    if (refused(model_.limits(), 1, model_.all.size(), put)) return;
    tableq::message_id id;
    if (!told([&] { id = put(); })) return added_perhaps({payload}, due);
    add(id, payload, due);
  }

  /// By the ids in the table, which follow the order of the payloads.
  void added_perhaps(const std::vector<std::string>& payloads, tableq::timestamp due) {
    either([&] {
      std::vector<tableq::message_id> ids = stored();
      std::erase_if(ids, [&](auto id) { return model_.all.count(id) > 0; });
      if (ids.size() != payloads.size()) return;
      for (std::size_t i = 0; i < ids.size(); ++i) add(ids[i], payloads[i], due);
    });
  }

  void add(tableq::message_id id, const std::string& payload, tableq::timestamp due) {
    // An id is unique among the existing messages; the order is that of enqueue.
    ASSERT_TRUE(model_.all.empty() || id > model_.all.rbegin()->first);
    model_.all[id] = {payload, due};
  }

  [[nodiscard]] bool is_due(const destructive_model::message& one) const {
    return kind() != tableq::kind::pending || one.due <= clock.now();
  }

  /// Ids in the order in which reads return them.
  [[nodiscard]] std::vector<tableq::message_id> in_order() const {
    std::vector<tableq::message_id> ids;
    for (const auto& [id, each] : model_.all) {
      if (is_due(each)) ids.push_back(id);
    }
    if (kind() == tableq::kind::lifo) std::reverse(ids.begin(), ids.end());
    if (kind() == tableq::kind::pending) {
      std::stable_sort(ids.begin(), ids.end(),
                       [&](auto a, auto b) { return model_.all.at(a).due < model_.all.at(b).due; });
    }
    return ids;
  }

  void dequeue(tableq::transaction* tx) {
    const std::size_t max = 1 + random_.below(5);
    std::vector<item> got;
    const bool known = told([&] { got = in(tx, *mail_).take_up_to(max); });
    const std::size_t most = std::min(max, model_.limits().allowed(0, clock.now()));
    const auto expected = in_order();
    if (!known) return read_perhaps(std::min(most, expected.size()));
    ASSERT_EQ(got.size(), std::min(most, expected.size()));
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_TRUE(kind() == tableq::kind::heap || got[i].id == expected[i]) << got[i].id.value;
      ASSERT_EQ(model_.all.count(got[i].id), 1U) << "read twice, or never enqueued";
      ASSERT_EQ(got[i].payload, model_.all.at(got[i].id).payload);
      model_.all.erase(got[i].id);
    }
    model_.limits().took(got.size());
  }

  void read_perhaps(std::size_t count) {
    either([&] {
      auto ids = in_order();
      if (kind() == tableq::kind::heap) {  // The heap has chosen them.
        const auto there = stored();
        std::erase_if(ids, [&](auto id) { return std::count(there.begin(), there.end(), id) > 0; });
        if (ids.size() != count) return;
      }
      for (std::size_t i = 0; i < count; ++i) model_.all.erase(ids[i]);
      model_.limits().took(count);
    });
  }

  /// The ids in the table, due or not.
  std::vector<tableq::message_id> stored() {
    std::vector<tableq::message_id> out;
    for (const auto& row : here().sql("SELECT id FROM mail ORDER BY id")) {
      out.push_back({std::stoll(row.at(0).value())});
    }
    return out;
  }

  /// Ids alone are not enough: in an empty queue they may start again.
  static std::string text_of(const std::vector<tableq::message_id>& ids,
                             std::vector<std::string> due) {
    std::string out;
    for (const auto id : ids) out += std::to_string(id.value) + ' ';
    std::sort(due.begin(), due.end());  // A heap has no order.
    for (const std::string& payload : due) out += '\n' + payload;
    return out;
  }
  std::string shown() override { return shown_limits() + text_of(stored(), mail_->peek(10'000)); }
  [[nodiscard]] std::string shown_by(const destructive_model& model) const override {
    std::vector<tableq::message_id> ids;
    std::vector<std::string> due;
    for (const auto& [id, each] : model.all) {
      ids.push_back(id);
      if (is_due(each)) due.push_back(each.payload);
    }
    return model.limits().described() + text_of(ids, due);
  }

  void look() override {
    const auto expected = in_order();
    ASSERT_EQ(mail_->waiting(), expected.size());
    if (!random_.one_in(5) || kind() == tableq::kind::heap) return;
    const auto seen = mail_->peek(10);
    ASSERT_EQ(seen.size(), std::min<std::size_t>(10, expected.size()));
    for (std::size_t i = 0; i < seen.size(); ++i) {
      ASSERT_EQ(seen[i], model_.all.at(expected[i]).payload);
    }
  }

  std::optional<any_queue> mail_;
};
INSTANTIATE_TEST_SUITE_P(, destructive_walk,
                         testing::Combine(testing::ValuesIn(shared_backends()),
                                          testing::Values(tableq::kind::heap, tableq::kind::fifo,
                                                          tableq::kind::lifo,
                                                          tableq::kind::pending)),
                         backend_and_kind);

TEST_P(destructive_walk, agrees_with_the_model) {
  walk_along(1000);
}

class strict_walk : public destructive_walk {};
INSTANTIATE_TEST_SUITE_P(, strict_walk,
                         testing::Combine(testing::ValuesIn(shared_backends()),
                                          testing::Values(tableq::kind::fifo, tableq::kind::lifo)),
                         backend_and_kind);

TEST_P(strict_walk, agrees_with_the_model) {
  ordering_ = tableq::ordering::strict;
  walk_along(500);
}

}  // namespace
