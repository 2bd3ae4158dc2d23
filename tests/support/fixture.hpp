#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <tuple>

#include <tableq/testing.hpp>

#include "support/any_queue.hpp"
#include "support/backend.hpp"
#include "support/clock.hpp"
#include "support/expect.hpp"

namespace tableq_test {

/// The longest wait for a certain event, even on a slow machine.
inline constexpr std::chrono::seconds for_ever{120};

/// False with TABLEQ_TEST_COMBINING=off: the tests run without combining.
[[nodiscard]] bool combining();

/// Makes a place on a backend, or gives the reason why there is none.
class ground {
 public:
  /// Skips the test with the reason when the backend is missing, fails it when it is required.
  void prepare(const backend& on);
  void clear() {
    clear_database();
    place_.reset();
  }
  /// Closes the database of `db`; the next call opens it again.
  void clear_database() { database_.reset(); }

  [[nodiscard]] place& here() { return *place_; }
  [[nodiscard]] features can() const { return can_; }
  /// One database for the whole test, by the database's own clock.
  tableq::database& db();
  /// The same with a clock that the test sets. A test uses only one of the two.
  tableq::database& db_with_clock();
  /// One more database object on the same place.
  [[nodiscard]] tableq::database open(tableq::open_options options = {});
  /// The enlistment of an application's session: by SOCI, or by the client library's own handle.
  [[nodiscard]] tableq::enlistment enlist(const tableq::database& with, soci::session& session,
                                          const tableq::enlist_options& options = {});
  /// From now on these faults can make calls of newly opened databases fail.
  void open_with(const tableq::testing::faults& faults) { faults_ = faults; }
  manual_clock clock;

 private:
  std::unique_ptr<place> place_;
  features can_;
  std::optional<tableq::database> database_;
  std::optional<tableq::testing::faults> faults_;
};

/// A test that runs on every backend.
class on_each_backend : public testing::TestWithParam<const backend*>, public ground {
 protected:
  void SetUp() override { prepare(*GetParam()); }
  void TearDown() override { clear(); }
};

/// A test that runs for every kind of queue on every backend.
class on_each_kind : public testing::TestWithParam<std::tuple<const backend*, tableq::kind>>,
                     public ground {
 protected:
  void SetUp() override { prepare(*std::get<0>(GetParam())); }
  void TearDown() override { clear(); }
  [[nodiscard]] tableq::kind kind() const { return std::get<1>(GetParam()); }
  /// A queue of the kind under test.
  [[nodiscard]] any_queue make(std::string_view name) { return {db(), kind(), name}; }
};

std::string backend_name(const testing::TestParamInfo<const backend*>& info);
std::string backend_and_kind(
    const testing::TestParamInfo<std::tuple<const backend*, tableq::kind>>& info);
const std::vector<tableq::kind>& all_kinds();

/// The name of a suite's list has its databases. `shared_backends`: a second session must see the
/// place.
#define TABLEQ_ON_BACKENDS(suite, which)                                       \
  INSTANTIATE_TEST_SUITE_P(, suite, testing::ValuesIn(::tableq_test::which()), \
                           ::tableq_test::backend_name)
#define TABLEQ_ON_KINDS(suite, which)                                                       \
  INSTANTIATE_TEST_SUITE_P(, suite,                                                         \
                           testing::Combine(testing::ValuesIn(::tableq_test::which()),      \
                                            testing::ValuesIn(::tableq_test::all_kinds())), \
                           ::tableq_test::backend_and_kind)

}  // namespace tableq_test
