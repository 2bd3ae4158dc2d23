#include <array>
#include <stdexcept>

#include "drivers/sqlserver_fixture.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::new_message;
using tableq::receipt;
using tableq::settle_result;
using tableq_test::named_values;
using tableq_test::names_of;
using tableq_test::read_call;
using tableq_test::sqlserver_call;
using tableq_test::tds_answer;
using tableq_test::tds_request;
using tableq_test::tds_value;

namespace answers = tableq_test::sqlserver_rows;

std::vector<std::string> counted(std::size_t count) {
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(std::to_string(i));
  return out;
}

std::vector<new_message> messages_of(const std::vector<std::string>& payloads) {
  std::vector<new_message> out;
  for (const std::string& each : payloads) out.push_back({each});
  return out;
}

/// Several items, or several operations, on the wire.
class sqlserver_batches : public tableq_test::on_each_address {
 protected:
  /// The received statements that have items.
  static std::vector<sqlserver_call> pieces_of(const std::vector<tds_request>& came) {
    std::vector<sqlserver_call> out;
    for (const tds_request& each : came) {
      sqlserver_call call = read_call(each);
      if (call.rows > 0) out.push_back(std::move(call));
    }
    return out;
  }
  /// The values of one name. Checks that rows are either complete or NULL, and NULL only at the
  /// end.
  static std::vector<tds_value> all_of(const std::vector<tds_request>& came, const char* name) {
    std::vector<tds_value> out;
    for (const sqlserver_call& piece : pieces_of(came)) {
      bool ended = false;
      for (const named_values& item : piece.items) {
        const bool null = item.at(name) == tds_value(nullptr);
        EXPECT_TRUE(null || !ended);
        ended = ended || null;
        for (const auto& [column, value] : item) {
          EXPECT_TRUE(!null || value == tds_value(nullptr)) << column;
        }
        if (!null) out.push_back(item.at(name));
      }
    }
    return out;
  }
  std::vector<receipt> receipts(std::size_t count) {
    std::vector<receipt> out;
    for (std::size_t i = 0; i < count; ++i) {
      out.push_back(receipt_of("claim", static_cast<std::int64_t>(i) + 1));
    }
    return out;
  }

  tableq::database db_ = open(0ms);
  tableq::fifo_queue fifo_ = db_.fifo("fifo");
  tableq::claim_queue claim_ = db_.claim("claim");
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_batches, testing::Bool(), tableq_test::address_name);

struct cut_up {
  std::size_t items;
  std::vector<std::size_t> rows;
  std::string enqueues;
};
const std::vector<cut_up> sizes = {
    {1, {1}, "E"},
    {3, {4}, "E"},
    {4, {4}, "E"},
    {5, {16}, "E"},
    {65, {180}, "E"},
    {193, {256}, "E"},
    {256, {256}, "E"},
    {300, {256, 64}, "begin E E commit"},
    {1000, {256, 256, 256, 256}, "begin E E E E commit"},
    {1001, {256, 256, 256, 256, 1}, "begin E E E E E commit"},
};

std::string with_name(std::string pattern, std::string_view name) {
  for (std::size_t at = pattern.find('E'); at != std::string::npos; at = pattern.find('E')) {
    pattern.replace(at, 1, name);
  }
  return pattern;
}

TEST_P(sqlserver_batches, travel_as_rows_of_a_few_numbers_and_in_a_transaction_if_several) {
  for (const cut_up& each : sizes) {
    const auto payloads = counted(each.items);
    const auto came = sent_by([&] { fifo_.enqueue_batch(messages_of(payloads)); });
    EXPECT_EQ(names_of(came), with_name(each.enqueues, "fifo.enqueue"));
    std::vector<std::size_t> sent;
    for (const sqlserver_call& piece : pieces_of(came)) sent.push_back(piece.rows);
    EXPECT_EQ(sent, each.rows) << each.items;
  }
}

TEST_P(sqlserver_batches, carry_each_item_once_in_order_and_null_for_the_rest) {
  for (const cut_up& each : sizes) {
    const auto payloads = counted(each.items);
    const auto came = sent_by([&] { fifo_.enqueue_batch(messages_of(payloads)); });
    EXPECT_EQ(all_of(came, "payload"), (std::vector<tds_value>(payloads.begin(), payloads.end())));
  }
}

TEST_P(sqlserver_batches, stay_below_the_most_parameters_that_a_server_takes) {
  constexpr std::size_t most = 2100;
  const std::vector<tableq::new_claim_message> claims(256, {.payload = "p", .options = {}});
  std::vector<tableq::failure> failures;
  for (const receipt& each : receipts(256)) failures.push_back({each, "why"});
  const auto came = sent_by([&] {
    claim_.enqueue_batch(claims);
    (void)claim_.fail_batch(failures);
  });
  ASSERT_EQ(names_of(came), "begin claim.enqueue claim.enqueue commit claim.fail");
  for (const tds_request& each : came) EXPECT_LT(each.parameters.size() + 2, most);
}

TEST_P(sqlserver_batches, are_settled_in_the_same_pieces) {
  for (const cut_up& each : sizes) {
    const auto given = receipts(each.items);
    const auto came = sent_by([&] {
      EXPECT_EQ(claim_.complete_batch(given),
                std::vector<settle_result>(each.items, settle_result::applied));
    });
    EXPECT_EQ(names_of(came), with_name(each.enqueues, "claim.complete"));
    std::vector<tds_value> ids;
    for (const receipt& one : given) ids.emplace_back(one.id.value);
    EXPECT_EQ(all_of(came, "id"), ids);
    EXPECT_EQ(all_of(came, "fence"), (std::vector<tds_value>(each.items, std::int64_t{5})));
  }
}

TEST_P(sqlserver_batches, give_ids_by_their_size_because_rows_have_no_order) {
  tds_answer out_of_order = answers::added();
  out_of_order.row({nullptr, 42}).row({nullptr, 40}).row({nullptr, 41});
  script_.once("fifo.enqueue", out_of_order);
  const auto ids = fifo_.enqueue_batch(messages_of(counted(3)));
  EXPECT_EQ(ids, (std::vector<tableq::message_id>{{40}, {41}, {42}}));
}

TEST_P(sqlserver_batches, tell_of_each_item_what_its_own_row_said) {
  tds_answer first = answers::added();
  first.row({255, 256}).row({1, 2});
  tds_answer second = answers::added();
  second.row({3, 260});
  script_.once("claim.complete", first);
  script_.once("claim.complete", second);
  const auto results = claim_.complete_batch(receipts(300));
  ASSERT_EQ(results.size(), 300U);
  for (std::size_t i = 0; i < results.size(); ++i) {
    const bool told = i == 1 || i == 255 || i == 256 + 3;
    EXPECT_EQ(results[i], told ? settle_result::applied : settle_result::lease_lost) << i;
  }
}

TEST_P(sqlserver_batches, look_up_held_keys_only) {
  tds_answer one_is_held = answers::added();
  script_.once("claim.enqueue", one_is_held.row({1, 50}));
  tds_answer holder = answers::added();
  script_.once("claim.find_key", holder.row({0, 9}));
  const std::vector<tableq::new_claim_message> both{{.payload = "a", .options = {.key = "held"}},
                                                    {.payload = "b", .options = {.key = "new"}}};
  std::vector<tableq::enqueued> results;
  const auto came = sent_by([&] { results = claim_.enqueue_batch(both); });
  ASSERT_EQ(names_of(came), "claim.enqueue claim.find_key");
  EXPECT_EQ(read_call(came[1]).items, (std::vector<named_values>{{{"key", "held"}}}));
  EXPECT_TRUE(!results.at(0).created() && results.at(0).id.value == 9);
  EXPECT_TRUE(results.at(1).created() && results.at(1).id.value == 50);
}

TEST_P(sqlserver_batches, that_an_error_ends_are_rolled_back_as_a_whole) {
  script_.once("fifo.enqueue", answers::added());
  for (const int good : {0, 1}) {
    if (good == 1) {
      tds_answer all = answers::added();
      for (std::int64_t i = 0; i < 256; ++i) all.row({nullptr, i + 1});
      script_.once("fifo.enqueue", all);
    }
    script_.once("fifo.enqueue", tds_answer().error(547, "a CHECK refused it"));
    const auto came = sent_by(
        [&] { EXPECT_THROW(fifo_.enqueue_batch(messages_of(counted(300))), tableq::error); });
    const std::string sent = names_of(came);
    EXPECT_TRUE(sent.ends_with("fifo.enqueue rollback")) << sent;
    EXPECT_EQ(sent.find("commit"), std::string::npos) << sent;
  }
}

TEST_P(sqlserver_batches, of_operations_cost_begin_and_commit_beside_themselves) {
  const auto came = sent_by([&] {
    tableq::transaction tx = db_.begin();
    fifo_.in(tx).enqueue("p");
    (void)fifo_.in(tx).dequeue();
    (void)claim_.in(tx).complete(receipt_of("claim", 1));
    tx.commit();
  });
  EXPECT_EQ(names_of(came), "begin fifo.enqueue fifo.dequeue claim.complete commit");
  for (const tds_request& each : came) EXPECT_EQ(each.connection, came.front().connection);
}

TEST_P(sqlserver_batches, within_a_transaction_begin_none_of_their_own) {
  const auto came = sent_by([&] {
    db_.transact(
        [&](tableq::transaction& tx) { fifo_.in(tx).enqueue_batch(messages_of(counted(300))); });
  });
  EXPECT_EQ(names_of(came), "begin fifo.enqueue fifo.enqueue commit");
}

TEST_P(sqlserver_batches, that_are_given_up_are_rolled_back_and_the_session_is_used_again) {
  const auto given_up = sent_by([&] { const tableq::transaction tx = db_.begin(); });
  EXPECT_EQ(names_of(given_up), "begin rollback");
  const auto thrown = sent_by([&] {
    EXPECT_THROW(db_.transact([&](tableq::transaction& tx) {
      fifo_.in(tx).enqueue("p");
      throw std::runtime_error("not so");
    }),
                 std::runtime_error);
  });
  EXPECT_EQ(names_of(thrown), "begin fifo.enqueue rollback");
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "fifo.enqueue");
}

}  // namespace
