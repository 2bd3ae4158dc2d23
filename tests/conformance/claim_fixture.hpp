#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <stdexcept>

#include "support/at_once.hpp"
#include "support/fixture.hpp"

namespace tableq_test {

/// A test of one claim queue by a clock that the test sets.
class claim_test : public on_each_backend {
 protected:
  void TearDown() override {
    jobs_.reset();
    on_each_backend::TearDown();
  }
  /// @param options of the first call.
  tableq::claim_queue& jobs(const tableq::claim_options& options = {}) {
    if (!jobs_) jobs_ = db_with_clock().claim("jobs", at_once(options));
    return *jobs_;
  }
  /// Takes exactly one.
  tableq::delivery take_one() { return take_one(jobs()); }
  static tableq::delivery take_one(tableq::claim_queue& from) {
    auto taken = from.take(1);
    if (taken.empty()) throw std::runtime_error("nothing was ready");
    return std::move(taken.front());
  }

 private:
  std::optional<tableq::claim_queue> jobs_;
};

}  // namespace tableq_test
