#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "support/at_once.hpp"
#include "support/expect.hpp"
#include "support/fixture.hpp"

namespace tableq_test {

/// A test with a source on the database under test, and a target on another one, of another kind if
/// the run has one.
class move_test : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped() || HasFatalFailure()) return;
    there_.prepare(other());
  }
  void TearDown() override {
    there_.clear();
    on_each_backend::TearDown();
  }

  [[nodiscard]] ground& there() { return there_; }
  tableq::claim_queue jobs(const tableq::claim_options& options = {}) {
    return db().claim("jobs", at_once(options));
  }
  tableq::claim_queue jobs_there(const tableq::claim_options& options = {}) {
    return there_.db().claim("jobs", at_once(options));
  }
  /// Both queues.
  void make(const tableq::claim_options& options = {}) {
    static_cast<void>(jobs(options));
    static_cast<void>(jobs_there(options));
  }
  tableq::message_move move(const tableq::move_options& options = {}) {
    return tableq::move_messages(db(), there_.db(), "jobs", options);
  }
  static tableq::delivery take_one(tableq::claim_queue from) {
    auto taken = from.take(1);
    if (taken.empty()) throw std::runtime_error("nothing was ready");
    return std::move(taken.front());
  }
  /// The move has left nothing of its own.
  void expect_tidy() {
    EXPECT_TRUE(db().claim("jobs.out").list({.all = true}).messages.empty());
    EXPECT_TRUE(there_.db().claim("jobs.in").list({.all = true}).messages.empty());
  }

 private:
  [[nodiscard]] static const backend& other() {
    const auto& all = distinct_backends();
    std::size_t mine = 0;
    while (mine < all.size() && all[mine] != GetParam()) ++mine;
    for (std::size_t i = 1; i < all.size(); ++i) {
      const backend& next = *all[(mine + i) % all.size()];
      if (!next.missing()) return next;
    }
    return *GetParam();
  }

  ground there_;
};

}  // namespace tableq_test
