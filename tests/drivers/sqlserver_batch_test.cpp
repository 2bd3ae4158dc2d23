#include "drivers/sqlserver_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

/// Several items on the wire.
class sqlserver_batches : public on_scripted_sqlserver {
 protected:
  static std::vector<tableq::new_message> messages(std::size_t count) {
    std::vector<tableq::new_message> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i].payload = std::to_string(i);
    return out;
  }
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_batches, both_drivers, name_of_way);

TEST_P(sqlserver_batches, travel_as_rows_of_a_few_numbers_each_item_once_and_null_for_the_rest) {
  struct cut_up {
    std::size_t items;
    std::vector<std::size_t> rows;
  };
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  for (const cut_up& each :
       {cut_up{1, {1}}, cut_up{3, {4}}, cut_up{5, {16}}, cut_up{65, {180}}, cut_up{256, {256}},
        cut_up{300, {256, 64}}, cut_up{513, {256, 256, 1}}}) {
    const auto came = sent_by([&] { fifo.enqueue_batch(messages(each.items)); });
    std::vector<std::size_t> rows;
    std::size_t sent = 0;
    for (const tds_request& one : came) {
      const auto call = read_call(one);
      if (call.rows > 0) rows.push_back(call.rows);
      for (const auto& item : call.items) {
        const bool rest = sent == each.items;
        EXPECT_EQ(item.at("payload"), rest ? tds_value(nullptr) : tds_value(std::to_string(sent)));
        if (!rest) ++sent;
      }
    }
    EXPECT_EQ(rows, each.rows) << each.items;
    EXPECT_EQ(sent, each.items);
    EXPECT_EQ(came.size(), rows.size() + (rows.size() > 1 ? 2 : 0)) << "begin and commit";
  }
}

TEST_P(sqlserver_batches, stay_below_the_most_parameters_that_a_server_takes) {
  auto db = open(0ms);
  auto claim = db.claim("claim");
  const std::vector<tableq::new_claim_message> many(256, {.payload = "p", .options = {}});
  const auto came = sent_by([&] { claim.enqueue_batch(many); });
  EXPECT_EQ(names_of(came), "begin claim.enqueue claim.enqueue commit");
  std::size_t most = 0;
  for (const tds_request& each : came) most = std::max(most, each.parameters.size());
  EXPECT_TRUE(most > 1900 && most + 2 < 2100) << most;
}

TEST_P(sqlserver_batches, give_each_item_what_its_own_row_said_in_whatever_order) {
  auto db = open(0ms);
  script_.once("fifo.enqueue",
               with_columns("item id").row({nullptr, 42}).row({nullptr, 40}).row({nullptr, 41}));
  EXPECT_EQ(db.fifo("fifo").enqueue_batch(messages(3)),
            (std::vector<tableq::message_id>{{40}, {41}, {42}}));
  script_.once("claim.complete", with_columns("item id").row({255, 256}).row({1, 2}));
  script_.once("claim.complete", with_columns("item id").row({3, 260}));
  std::vector<tableq::receipt> receipts;
  for (std::int64_t id = 1; id <= 300; ++id) receipts.push_back(receipt_of("claim", id));
  const auto results = db.claim("claim").complete_batch(receipts);
  ASSERT_EQ(results.size(), 300U);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool told = i == 1 || i == 255 || i == 256 + 3;
    EXPECT_EQ(results[i], told ? settle_result::applied : settle_result::lease_lost) << i;
  }
}

}  // namespace
