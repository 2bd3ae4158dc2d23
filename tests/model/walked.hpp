#pragma once

#include <gtest/gtest.h>

#include <chrono>

#include "model/described.hpp"
#include "model/limits_model.hpp"
#include "model/possibilities.hpp"
#include "model/walk.hpp"
#include "support/fixture.hpp"
#include "support/report.hpp"

namespace tableq_test {

/// A queue with the same operations as its model, and a clock that jumps. Sometimes the outcome of
/// a change is unknown; then there are several models, until a query of the queue decides.
template <class Ground, class Model>
class walked : public Ground {
 protected:
  explicit walked(Model empty) : model_(std::move(empty)), empty_(model_) {}

  void walk_along(std::uint64_t usual_steps) {
    walk({.begin = [this] { begin(); },
          .step = [this](random_source& random) { step(random); },
          // The second way to a database has the statements of the first.
          .usual_steps = stands_on().can().second_way ? usual_steps / 3 : usual_steps});
    close();
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    const std::string name = test.name();
    report_injected(std::string("unknown outcomes in ") + test.test_suite_name(),
                    name.substr(name.find('/') + 1), may_.decisions(),
                    name.substr(0, name.find('/')) + ", each decided by a look");
  }

  /// Closes the database and opens it again.
  virtual void reopen() = 0;
  virtual void close() = 0;
  /// One change, in the transaction if there is one.
  virtual void change(tableq::transaction* tx) = 0;
  /// Both must be the same.
  virtual void look() = 0;
  /// The visible state of the queue as text, and the state by a model.
  virtual std::string shown() = 0;
  [[nodiscard]] virtual std::string shown_by(const Model& model) const = 0;
  /// Called before a change. Must not fail.
  virtual void prepare_change() {}
  virtual tableq::queue& queue() = 0;
  [[nodiscard]] virtual const backend& stands_on() const = 0;
  /// One with which nothing has happened.
  void begin_model(Model empty) { model_ = empty_ = std::move(empty); }

  /// The queue, in the transaction when there is one.
  template <class Queue>
  static Queue in(tableq::transaction* tx, const Queue& queue) {
    return tx == nullptr ? queue : queue.in(*tx);
  }

  /// Makes a call. @return whether its outcome is known; then the walk goes on as usual.
  template <class Call>
  [[nodiscard]] bool told(Call&& call) {
    return may_.told(std::forward<Call>(call));
  }
  /// The call with the unknown outcome may have done nothing, or what `effect` does to the model.
  /// Between several units of work `effect` calls `unit_ended`.
  template <class Effect>
  void either(Effect&& effect) {
    may_.may_be(model_);
    std::forward<Effect>(effect)();
  }
  void unit_ended() {
    if (may_.lost()) may_.may_be(model_);
  }

  void pause() {
    const bool is = !model_.limits().paused() && random_.one_in(2);
    const bool known = told([&] { is ? queue().pause() : queue().resume(); });
    if (!known) return either([&] { model_.limits().pause(is); });
    model_.limits().pause(is);
    ASSERT_EQ(queue().paused(), is);
  }

  void limit(bool leases) {
    tableq::queue_limits to;
    if (random_.one_in(2)) {
      // Mostly so small that it is reached.
      if (random_.one_in(2)) to.capacity = 1 + random_.below(random_.one_in(4) ? 40 : 5);
      // In eighths: they are kept to the millionth.
      if (random_.one_in(2)) to.rate = static_cast<double>(1 + random_.below(16)) / 8;
      if (to.rate && random_.one_in(2)) to.burst = 1 + static_cast<int>(random_.below(8));
      if (leases && random_.one_in(2)) to.concurrency = 1 + static_cast<int>(random_.below(8));
    }
    const auto now_limited = [&] { model_.limits().set(to, this->clock.now()); };
    if (!told([&] { queue().set_limits(to); })) return either(now_limited);
    now_limited();
    ASSERT_EQ(queue().limits(), to);
  }

  /// Whether a queue with these limits refuses this number of messages, with the right error.
  template <class Enqueue>
  static bool refused(const limits_model& by, std::size_t count, std::size_t there,
                      Enqueue enqueue) {
    if (count == 0 || by.has_room(there, count)) return false;
    const tableq::error full = thrown_by(std::move(enqueue));
    EXPECT_EQ(tableq::to_string(full.code()), "queue_full");
    EXPECT_EQ(full.advice(),
              by.has_room(0, count) ? tableq::advice::statement : tableq::advice::never);
    return true;
  }

  /// The transaction can only be rolled back, with the right error.
  void spoil(tableq::transaction& tx) {
    spoilt_ = true;
    ASSERT_EQ(tableq::to_string(thrown_by([&] { tx.commit(); }).code()), "invalid_argument");
  }

  /// The limits in the database, in the form of limits_model::described.
  [[nodiscard]] std::string shown_limits() {
    const std::string what = "SELECT tokens, refilled_at FROM tableq_limits WHERE queue = '";
    std::string left;
    for (const auto& fields : this->here().sql(what + queue().name() + "' AND rate IS NOT NULL")) {
      left = fields.at(0).value() + ' ' + fields.at(1).value();
    }
    return described(queue().limits(), queue().paused(), left);
  }

  random_source random_{0};
  possibilities<Model> may_;
  Model model_;
  std::uint64_t sent_ = 0;

 private:
  void begin() {
    close();
    this->clear();
    this->prepare(stands_on());
    this->open_with(may_.faults());
    may_.heal();
    may_.forget();
    model_ = empty_;
    sent_ = 0;
    reopen();
  }

  void step(random_source& random) {
    random_ = random;
    if (random_.one_in(100)) reopen();
    const std::chrono::milliseconds passed(random_.below(4000));
    this->clock.advance(random_.one_in(20) ? -passed : passed);  // Clocks are set back as well.
    prepare_change();
    const bool in_transaction = random_.one_in(10);
    if (random_.one_in(in_transaction ? 3 : 12)) may_.arm(random_);
    if (in_transaction) {
      transaction();
    } else {
      change(nullptr);
    }
    may_.heal();
    if (may_.open()) decide();
    look();
  }

  /// An outcome was unknown: the queue equals one of the models, and no mixture of them.
  void decide() {
    const std::string there = shown();
    auto found = may_.decided(model_, there, [&](const Model& each) { return shown_by(each); });
    ASSERT_TRUE(found) << "an unknown outcome is none of those that are possible; there is\n"
                       << there << "and one of them would be\n"
                       << shown_by(model_);
    model_ = *std::move(found);
  }

  /// Some changes, which are all rolled back, or all committed.
  void transaction() {
    const Model before = model_;
    tableq::transaction tx = this->db_with_clock().begin();
    spoilt_ = false;
    for (std::uint64_t i = random_.below(5); i > 0 && !spoilt_; --i) change(&tx);
    if (!spoilt_ && random_.one_in(2)) {
      if (!told([&] { tx.commit(); })) may_.may_be(before);
    } else {
      tx.rollback();
      model_ = before;
    }
  }

  Model empty_;
  bool spoilt_ = false;
};

}  // namespace tableq_test
