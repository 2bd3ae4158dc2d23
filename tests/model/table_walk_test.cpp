// Random walks over tables of applications, with every combination of optional columns.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "model/table_model.hpp"
#include "model/walk.hpp"
#include "support/fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::message_state;

class table_walk : public on_each_backend {
 protected:
  static constexpr std::uint64_t steps_of_a_mapping = 40;

  void begin() {
    queue_.reset();
    clear();
    prepare(*GetParam());
    here().sql(
        "CREATE TABLE walked (Id INTEGER NOT NULL PRIMARY KEY, Flag INTEGER DEFAULT 0 NOT NULL, "
        "MarkedAt BIGINT, State VARCHAR(20) DEFAULT 'new' NOT NULL, TakenAt BIGINT, "
        "LeaseUntil BIGINT, Fence BIGINT DEFAULT 0 NOT NULL, Attempts INTEGER DEFAULT 0 NOT NULL, "
        "LastError VARCHAR(200), DueAt BIGINT, Importance INTEGER DEFAULT 0 NOT NULL, "
        "SentAt BIGINT, Errors " +
        here().types().text + ")");
    sent_ = 0;
  }

  void step(random_source& random) {
    random_ = random;
    if (!queue_ || random_.one_in(steps_of_a_mapping)) begin_mapping();
    clock.advance(std::chrono::milliseconds(random_.below(4000)));
    if (random_.one_in(8)) {
      transaction();
    } else {
      change(nullptr);
    }
    look();
  }

 private:
  std::string maybe(const char* column) { return random_.one_in(2) ? column : ""; }

  /// Any combination that a mapping may have.
  tableq::table_mapping any_mapping() {
    tableq::table_mapping out{.key = {"Id"}, .columns = {"Id"}, .lease = 5s};
    out.taken_at = maybe("TakenAt");
    out.lease_until = maybe("LeaseUntil");
    out.fence = maybe("Fence");
    out.attempts = maybe("Attempts");
    out.last_error = maybe("LastError");
    out.errors = maybe("Errors");
    out.due_at = maybe("DueAt");
    out.priority = maybe("Importance");
    if (!out.attempts.empty() && random_.one_in(2))
      out.max_attempts = 1 + static_cast<int>(random_.below(3));
    switch (random_.below(3)) {
      case 0:
        out.waiting = tableq::flag("Flag");
        break;
      case 1:
        out.waiting = tableq::null_time("MarkedAt");
        break;
      default:
        out.waiting = tableq::states(
            "State", {.waiting = "new", .taken = "busy", .done = "done", .dead = "dead"});
    }
    if (random_.one_in(2)) out.done = tableq::null_time("SentAt");
    const bool marks = out.done || out.waiting.done;
    if (random_.one_in(3)) out.ordering = tableq::ordering::strict;
    out.completed = tableq::on_complete(random_.below(3));
    if (out.completed == tableq::on_complete::mark && !marks)
      out.completed = tableq::on_complete::remove;
    return out;
  }

  void begin_mapping() {
    here().sql("DELETE FROM walked");
    receipts_.clear();
    model_ = table_model(any_mapping());
    queue_ = db_with_clock().table("walked", model_.mapping());
  }

  [[nodiscard]] table_model::millis now() const { return clock.now().time_since_epoch().count(); }
  [[nodiscard]] tableq::table_queue in(tableq::transaction* tx) const {
    return tx == nullptr ? *queue_ : queue_->in(*tx);
  }

  void transaction() {
    const table_model before = model_;
    tableq::transaction tx = db_with_clock().begin();
    for (std::uint64_t i = random_.below(4); i > 0; --i) change(&tx);
    if (random_.one_in(2)) {
      tx.commit();
    } else {
      tx.rollback();
      model_ = before;
    }
  }

  void change(tableq::transaction* tx) {
    switch (random_.below(tx == nullptr ? 9 : 8)) {
      case 0:
      case 1:
        return insert(tx);
      case 2:
      case 3:
      case 4:
        return take(tx);
      case 5:
      case 6:
      case 7:
        return settle(tx);
      default:
        return requeue();
    }
  }

  void insert(tableq::transaction* tx) {
    for (std::uint64_t i = 1 + random_.below(4); i > 0; --i) {
      const auto id = static_cast<std::int64_t>(++sent_);
      const auto importance = static_cast<std::int64_t>(random_.below(3));
      std::optional<table_model::millis> due;
      if (random_.one_in(3)) due = now() + static_cast<std::int64_t>(random_.below(5000));
      const tableq::row added =
          in(tx).enqueue({{"Id", id}, {"Importance", importance}, {"DueAt", due}});
      ASSERT_EQ(added.get<std::int64_t>("Id"), id);
      model_.add(id, importance, due);
    }
  }

  void take(tableq::transaction* tx) {
    const std::size_t max = 1 + random_.below(4);
    const auto lease = static_cast<std::int64_t>(1 + random_.below(9000));
    const auto got = in(tx).take(max, {.lease = std::chrono::milliseconds(lease)});
    const auto expected = model_.take(max, lease, now());
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      ASSERT_EQ(got[i].row.get<std::int64_t>("Id"), expected[i]) << i;
      const auto& row = model_.all().at(expected[i]);
      if (!model_.mapping().attempts.empty()) {
        ASSERT_EQ(got[i].attempt, row.attempts);
      }
      if (!model_.mapping().fence.empty()) {
        ASSERT_GT(got[i].receipt.fence, row.fence);
      }
      model_.fenced(expected[i], got[i].receipt.fence);
      receipts_.push_back(got[i].receipt);
    }
  }

  /// Distinct ones: of two equal receipts one has the effect.
  std::vector<tableq::receipt> some_receipts() {
    std::vector<tableq::receipt> out;
    const std::uint64_t recent = std::min<std::uint64_t>(receipts_.size(), 10);
    for (std::uint64_t i = recent == 0 ? 0 : 1 + random_.below(4); i > 0; --i) {
      const tableq::receipt& one = receipts_[receipts_.size() - 1 - random_.below(recent)];
      const bool there =
          std::any_of(out.begin(), out.end(), [&](const auto& each) { return each.id == one.id; });
      if (!there) out.push_back(one);
    }
    return out;
  }

  /// Some are long, so that a history loses its oldest text.
  std::string any_error() {
    std::string out = "error " + std::to_string(random_.below(1000));
    if (random_.one_in(3) && model_.mapping().last_error.empty()) {
      for (std::uint64_t i = 200 + random_.below(450); i > 0; --i) out += "\xe2\x82\xac";
    }
    return out;
  }

  void settle(tableq::transaction* tx) {
    const auto some = some_receipts();
    std::vector<tableq::settle_result> expected;
    std::vector<tableq::settle_result> got;
    const bool due = !model_.mapping().due_at.empty();
    const bool leases = !model_.mapping().lease_until.empty();
    const auto delay = static_cast<std::int64_t>(due ? random_.below(5000) : 0);
    const bool give_up = random_.one_in(8);
    const std::string error = any_error();
    std::vector<tableq::failure> failures;
    for (const auto& r : some) {
      failures.push_back(
          {.receipt = r,
           .error = error,
           .options = {.delay = std::chrono::milliseconds(delay), .give_up = give_up}});
    }
    switch (random_.below(leases ? 4 : 3)) {
      case 0:
        for (const auto& r : some) expected.push_back(model_.complete(r, now()));
        got = in(tx).complete_batch(some);
        break;
      case 1:
        for (const auto& r : some) {
          expected.push_back(model_.fail(r, error, delay, give_up, now()));
        }
        got = in(tx).fail_batch(failures);
        break;
      case 2:
        for (const auto& r : some) expected.push_back(model_.release(r));
        got = in(tx).release_batch(some);
        break;
      default:
        for (const auto& r : some) expected.push_back(model_.extend(r, delay + 1, now()));
        got = in(tx).extend_batch(some, std::chrono::milliseconds(delay + 1));
    }
    ASSERT_EQ(got, expected);
  }

  void requeue() {
    if (model_.mapping().taken_at.empty()) return;
    const auto age = static_cast<std::int64_t>(random_.below(20'000));
    ASSERT_EQ(queue_->requeue_older_than(std::chrono::milliseconds(age)),
              model_.requeue(age, now()));
  }

  static std::string text(const std::optional<std::int64_t>& number) {
    return number ? std::to_string(*number) : "NULL";
  }

  [[nodiscard]] std::string expected_row(std::int64_t id, const table_model::entry& of) const {
    const bool taken = of.state == message_state::leased || of.state == message_state::held;
    const bool dead = of.state == message_state::dead;
    const bool done = of.state == message_state::done;
    const auto form = model_.mapping().waiting.is;
    const bool marked = taken || dead || done;
    std::string out = std::to_string(id) + " ";
    out += form == tableq::table_state::form::flag && marked ? "1 " : "0 ";
    out += form == tableq::table_state::form::time ? text(of.marked_at) + " " : "NULL ";
    if (form != tableq::table_state::form::states || !marked) {
      out += "new ";
    } else {
      out += dead ? "dead " : (done ? "done " : "busy ");
    }
    out += text(of.taken_at) + " " + text(of.lease_until) + " " + std::to_string(of.attempts) + " ";
    out += of.error.value_or("NULL") + " " + text(of.due_at) + " " + text(of.sent_at) + " ";
    out += of.errors.value_or("NULL");
    return out;
  }

  void look() {
    std::vector<std::string> there;
    for (const auto& each : here().sql(
             "SELECT Id, Flag, MarkedAt, State, TakenAt, LeaseUntil, Attempts, LastError, DueAt, "
             "SentAt, Errors FROM walked ORDER BY Id")) {
      std::string line;
      for (const auto& field : each) line += (line.empty() ? "" : " ") + field.value_or("NULL");
      there.push_back(line);
    }
    std::vector<std::string> expected;
    for (const auto& [id, each] : model_.all()) expected.push_back(expected_row(id, each));
    ASSERT_EQ(there, expected);
    const auto waiting = model_.waiting(now());
    const auto figures = queue_->stats();
    ASSERT_EQ(figures.ready, waiting.size() + model_.expired(now()));
    if (!model_.mapping().lease_until.empty()) {
      ASSERT_EQ(figures.leased, model_.count(message_state::leased) - model_.expired(now()));
    }
    std::vector<std::int64_t> seen;
    for (const auto& each : queue_->peek(5)) seen.push_back(each.get<std::int64_t>("Id"));
    ASSERT_EQ(seen, std::vector<std::int64_t>(
                        waiting.begin(),
                        waiting.begin() + std::min<std::ptrdiff_t>(
                                              5, static_cast<std::ptrdiff_t>(waiting.size()))));
  }

  random_source random_{0};
  table_model model_;
  std::optional<tableq::table_queue> queue_;
  std::vector<tableq::receipt> receipts_;
  std::uint64_t sent_ = 0;
};
TABLEQ_ON_BACKENDS(table_walk, shared_backends);

TEST_P(table_walk, agrees_with_the_model) {
  walk({.begin = [this] { begin(); },
        .step = [this](random_source& random) { step(random); },
        .usual_steps = GetParam()->can().second_way ? 500U : 1500U});
}

}  // namespace
