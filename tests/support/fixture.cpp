#include "support/fixture.hpp"

#include <cstdlib>
#include <string_view>

namespace tableq_test {

bool combining() {
  const char* const given = std::getenv("TABLEQ_TEST_COMBINING");
  return given == nullptr || std::string_view(given) != "off";
}

void ground::prepare(const backend& on) {
  can_ = on.can();
  if (const auto reason = on.missing()) {
    if (required(on)) FAIL() << on.name() << " is required by TABLEQ_TEST_REQUIRE, but " << *reason;
    GTEST_SKIP() << *reason;
  }
  place_ = on.fresh();
}

tableq::database& ground::db() {
  if (!database_) database_ = open();
  return *database_;
}

tableq::database& ground::db_with_clock() {
  if (!database_) database_ = open({.clock = clock.source()});
  return *database_;
}

tableq::database ground::open(tableq::open_options options) {
  if (!combining()) options.shortcuts.combining = false;
  if (faults_) return faults_->open(place_->url(), options);
  return tableq::database::open(place_->url(), options);
}

std::string backend_name(const testing::TestParamInfo<const backend*>& info) {
  return info.param->name();
}

std::string backend_and_kind(
    const testing::TestParamInfo<std::tuple<const backend*, tableq::kind>>& info) {
  return std::get<0>(info.param)->name() + "_" +
         std::string(tableq::to_string(std::get<1>(info.param)));
}

const std::vector<tableq::kind>& all_kinds() {
  static const std::vector<tableq::kind> all = {tableq::kind::heap, tableq::kind::fifo,
                                                tableq::kind::lifo, tableq::kind::pending,
                                                tableq::kind::claim};
  return all;
}

}  // namespace tableq_test
