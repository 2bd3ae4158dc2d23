#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <map>

#include <tableq/testing.hpp>

#include "core/input/identifier.hpp"
#include "core/seam/driver.hpp"
#include "core/seam/statements.hpp"
#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using tableq::core::row_set;
using tableq::core::statement;
using tableq::core::value;

value number_value(std::int64_t n) {
  return value(n);
}
value text_value(std::string_view given) {
  return value(given);
}

/// Batches are sent as arrays, and must be unpacked as they were packed.
class batches_of_postgresql : public tableq_test::on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    session_ = tableq::core::make_driver(here().url())->connect();
    session_->define("catalog", fifo_);
    session_->define("fifo", fifo_);
    session_->define("claim", claim_);
  }
  void TearDown() override {
    session_.reset();
    on_each_backend::TearDown();
  }

  /// Item -> id.
  std::map<std::int64_t, std::int64_t> ids(const row_set& rows) {
    std::map<std::int64_t, std::int64_t> out;
    for (std::size_t i = 0; i < rows.size(); ++i) out[rows.integer(i, 0)] = rows.integer(i, 1);
    EXPECT_EQ(out.size(), rows.size()) << "an item came twice";
    return out;
  }
  std::map<std::int64_t, std::int64_t> enqueue_claims(const std::vector<value>& keys) {
    std::vector<value> items;
    payloads_.clear();
    for (std::size_t i = 0; i < keys.size(); ++i) payloads_.push_back(std::to_string(i));
    for (std::size_t i = 0; i < keys.size(); ++i) {
      items.insert(items.end(),
                   {text_value(payloads_[i]), number_value(0), number_value(0), value(), keys[i],
                    value(), value(), value(), value(), value(), value()});
    }
    const value now;
    return ids(session_->execute(contract_of(statement::claim_enqueue), claim_, {&now, 1}, items));
  }
  std::string stored(const char* table, std::int64_t id) {
    return here()
        .sql(std::string("SELECT convert_from(payload, 'UTF8') FROM ") + table +
             " WHERE id = " + std::to_string(id))
        .at(0)
        .at(0)
        .value();
  }
  /// Takes this number of messages, and returns id and fence of each.
  std::vector<std::pair<std::int64_t, std::int64_t>> take(std::int64_t max) {
    const auto shared = tableq::core::values_of(tableq::core::take_request{
        .max = static_cast<std::size_t>(max), .lease = std::chrono::minutes{1}, .token = 7});
    const row_set rows = session_->execute(contract_of(statement::claim_take), claim_, shared, {});
    std::vector<std::pair<std::int64_t, std::int64_t>> out;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      out.emplace_back(rows.integer(i, 0), rows.integer(i, 1));
    }
    return out;
  }

  tableq::core::table_names fifo_ = tableq::core::names_for({}, "mail");
  tableq::core::table_names claim_ = tableq::core::names_for({}, "jobs");
  std::unique_ptr<tableq::core::connection> session_;
  std::vector<std::string> payloads_;
};
INSTANTIATE_TEST_SUITE_P(, batches_of_postgresql,
                         testing::Values(&tableq_test::postgresql_backend()),
                         tableq_test::backend_name);

TEST_P(batches_of_postgresql, give_each_item_the_id_of_its_row) {
  std::vector<value> items;
  for (int i = 0; i < 1000; ++i) payloads_.push_back(std::to_string(i));
  for (const std::string& each : payloads_) items.insert(items.end(), {text_value(each), value()});
  const value now;
  const auto found =
      ids(session_->execute(contract_of(statement::fifo_enqueue), fifo_, {&now, 1}, items));
  ASSERT_EQ(found.size(), 1000U);
  std::int64_t before = 0;
  for (const auto& [item, id] : found) {
    EXPECT_GT(id, before);
    before = id;
  }
  for (const std::int64_t item : {0, 1, 499, 999}) {
    EXPECT_EQ(stored("mail", found.at(item)), std::to_string(item));
  }
}

TEST_P(batches_of_postgresql, may_mix_messages_with_keys_and_without) {
  enqueue_claims({text_value("taken")});
  const auto found =
      enqueue_claims({value(), text_value("b"), text_value("taken"), text_value("b"), value(),
                      text_value("a"), value(), text_value("b"), text_value("c")});
  std::vector<std::int64_t> added;
  for (const auto& [item, id] : found) {
    added.push_back(item);
    EXPECT_EQ(stored("jobs", id), std::to_string(item));
  }
  EXPECT_EQ(added, (std::vector<std::int64_t>{0, 1, 4, 5, 6, 8}));
}

TEST_P(batches_of_postgresql, find_each_key_for_each_item_that_asks) {
  const auto held = enqueue_claims({text_value("a"), text_value("b")});
  const std::array keys{text_value("b"), text_value("none"), text_value("a"), text_value("b")};
  const auto found =
      ids(session_->execute(contract_of(statement::claim_find_key), claim_, {}, keys));
  EXPECT_EQ(found, (std::map<std::int64_t, std::int64_t>{
                       {0, held.at(1)}, {2, held.at(0)}, {3, held.at(1)}}));
}

TEST_P(batches_of_postgresql, settle_a_receipt_by_its_own_fence) {
  enqueue_claims({value(), value(), value()});
  const auto taken = take(3);
  ASSERT_EQ(taken.size(), 3U);
  const auto [one, fence_one] = taken[0];
  const auto [two, fence_two] = taken[1];
  std::vector<value> items;
  for (const auto& [id, fence] : {std::pair(one, fence_one), std::pair(two, fence_two + 1),
                                  std::pair(std::int64_t{999}, std::int64_t{1})}) {
    items.insert(items.end(), {number_value(id), number_value(fence)});
  }
  const auto found =
      ids(session_->execute(contract_of(statement::claim_complete), claim_, {}, items));
  EXPECT_EQ(found, (std::map<std::int64_t, std::int64_t>{{0, one}}));
  EXPECT_EQ(here().sql("SELECT count(*) FROM jobs").at(0).at(0), "2");
}

TEST_P(batches_of_postgresql, fail_each_message_with_its_own_error_and_delay) {
  enqueue_claims({value(), value(), value()});
  const auto taken = take(3);
  std::vector<value> items;
  const std::array<std::string_view, 3> errors{"first", "second", "third"};
  for (const std::size_t i : {0U, 1U, 2U}) {
    items.insert(items.end(),
                 {number_value(taken[i].first), number_value(taken[i].second),
                  text_value(errors[i]), number_value(static_cast<std::int64_t>(i) * 1'000'000),
                  number_value(1000), number_value(0)});
  }
  const std::array shared{number_value(5), value()};
  const tableq::testing::set_clock set{
      [] { return tableq::timestamp(std::chrono::milliseconds(1000)); }};
  tableq::core::table_names names = claim_;
  names.clock = &set;
  const row_set rows = session_->execute(contract_of(statement::claim_fail), names, shared, items);
  ASSERT_EQ(rows.size(), 3U);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto found =
        here().sql("SELECT errors, due_at FROM jobs WHERE id = " + std::to_string(taken[i].first));
    EXPECT_EQ(found.at(0).at(0), "[{\"at\": 1000, \"error\": \"" + std::string(errors[i]) + "\"}]");
    EXPECT_EQ(found.at(0).at(1), i == 0 ? "0" : std::to_string(1000 + i * 1'000'000));
  }
}

TEST_P(batches_of_postgresql, keep_the_last_ten_errors) {
  enqueue_claims({value()});
  for (int i = 1; i <= 12; ++i) {
    const auto taken = take(1);
    ASSERT_EQ(taken.size(), 1U);
    const std::string error = std::to_string(i);
    const std::array items{number_value(taken[0].first),
                           number_value(taken[0].second),
                           text_value(error),
                           number_value(0),
                           number_value(1000),
                           number_value(0)};
    const std::array shared{number_value(1000), value(), number_value(i)};
    EXPECT_EQ(session_->execute(contract_of(statement::claim_fail), claim_, shared, items).size(),
              1U);
  }
  EXPECT_EQ(here()
                .sql("SELECT json_array_length(errors::json), errors::json->0->>'error',"
                     " errors::json->9->>'error' FROM jobs")
                .at(0),
            (tableq_test::row{"10", "3", "12"}));
}

TEST_P(batches_of_postgresql, that_are_empty_do_nothing) {
  EXPECT_EQ(session_->execute(contract_of(statement::claim_complete), claim_, {}, {}).size(), 0U);
}

}  // namespace
