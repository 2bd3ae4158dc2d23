#pragma once

#include <gtest/gtest.h>

#include <chrono>

#include "model/limits_model.hpp"
#include "model/walk.hpp"
#include "support/fixture.hpp"

namespace tableq_test {

/// A queue that goes through the same as its model, by a clock that jumps.
template <class Ground, class Model>
class walked : public Ground {
 protected:
  explicit walked(Model empty) : model_(std::move(empty)), empty_(model_) {}

  void walk_along(std::uint64_t usual_steps) {
    walk({.begin = [this] { begin(); },
          .step = [this](random_source& random) { step(random); },
          .usual_steps = usual_steps});
    close();
  }

  /// Closes the database and opens it anew.
  virtual void reopen() = 0;
  virtual void close() = 0;
  /// One change, in the transaction if there is one.
  virtual void change(tableq::transaction* tx) = 0;
  /// Both must be the same.
  virtual void look() = 0;
  virtual tableq::queue& queue() = 0;
  [[nodiscard]] virtual const backend& stands_on() const = 0;
  /// One with which nothing has happened.
  void begin_model(Model empty) { model_ = empty_ = std::move(empty); }

  /// Calls with the transaction when there is one.
  template <class Call>
  static auto with(tableq::transaction* tx, Call&& call) {
    return tx == nullptr ? call() : call(*tx);
  }

  void pause() {
    const bool is = !model_.limits().paused() && random_.one_in(2);
    if (is) {
      queue().pause();
    } else {
      queue().resume();
    }
    model_.limits().pause(is);
    ASSERT_EQ(queue().paused(), is);
  }

  void limit(bool leases) {
    tableq::queue_limits to;
    if (random_.one_in(2)) {
      if (random_.one_in(2)) to.capacity = 1 + random_.below(40);
      // In eighths: they are kept to the millionth.
      if (random_.one_in(2)) to.rate = static_cast<double>(1 + random_.below(16)) / 8;
      if (to.rate && random_.one_in(2)) to.burst = 1 + static_cast<int>(random_.below(8));
      if (leases && random_.one_in(2)) to.concurrency = 1 + static_cast<int>(random_.below(8));
    }
    queue().set_limits(to);
    model_.limits().set(to, this->clock.now());
    ASSERT_EQ(queue().limits(), to);
  }

  /// Whether a queue with these limits refuses so many more, and says so, as it should.
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

  /// The transaction can only be rolled back, and says so.
  void spoil(tableq::transaction& tx) {
    spoilt_ = true;
    ASSERT_EQ(tableq::to_string(thrown_by([&] { tx.commit(); }).code()), "invalid_argument");
  }

  random_source random_{0};
  Model model_;
  std::uint64_t sent_ = 0;

 private:
  void begin() {
    close();
    this->clear();
    this->prepare(stands_on());
    model_ = empty_;
    sent_ = 0;
    reopen();
  }

  void step(random_source& random) {
    random_ = random;
    if (random_.one_in(100)) reopen();
    const std::chrono::milliseconds passed(random_.below(4000));
    this->clock.advance(random_.one_in(20) ? -passed : passed);  // Clocks are set back as well.
    if (random_.one_in(10)) {
      transaction();
    } else {
      change(nullptr);
    }
    look();
  }

  /// Some changes that are all undone, or all kept.
  void transaction() {
    const Model before = model_;
    tableq::transaction tx = this->db_with_clock().begin();
    spoilt_ = false;
    for (std::uint64_t i = random_.below(5); i > 0 && !spoilt_; --i) change(&tx);
    if (!spoilt_ && random_.one_in(2)) {
      tx.commit();
    } else {
      tx.rollback();
      model_ = before;
    }
  }

  Model empty_;
  bool spoilt_ = false;
};

}  // namespace tableq_test
