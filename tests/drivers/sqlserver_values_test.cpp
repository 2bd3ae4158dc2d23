#include <cstdint>
#include <limits>

#include "drivers/sqlserver_fixture.hpp"
#include "drivers/sqlserver_operations.hpp"

namespace {

using namespace std::chrono_literals;
using tableq_test::named_values;
using tableq_test::names_of;
using tableq_test::read_call;
using tableq_test::tds_answer;
using tableq_test::tds_type;
using tableq_test::tds_value;

namespace answers = tableq_test::sqlserver_rows;

/// Every byte value, over and over.
std::string every_byte(std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>((i + i / 256U) & 255U);
  return out;
}

constexpr std::size_t lengths[] = {0, 1, 2, 255, 4000, 7999, 8000, 8001, 8192, 8193, 10'000'000};

/// Text that breaks if it is treated as bytes, as SQL, as JSON, or as one unit per character.
const std::string difficult = "it's \"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\" @P1 ? :now \\ -- ]]";

/// A sent value, and the value that comes back.
class sqlserver_values : public tableq_test::on_each_address {
 protected:
  tableq::database db_ = open(0ms);
  tableq::fifo_queue fifo_ = db_.fifo("fifo");
  tableq::claim_queue claim_ = db_.claim("claim");
};
INSTANTIATE_TEST_SUITE_P(, sqlserver_values, testing::Bool(), tableq_test::address_name);

TEST_P(sqlserver_values, go_in_as_payloads_of_any_length_and_any_bytes) {
  for (const std::size_t length : lengths) {
    const std::string payload = every_byte(length);
    const auto came = sent_by([&] { fifo_.enqueue(payload); });
    EXPECT_TRUE(read_call(came.at(0)).items.at(0).at("payload") == tds_value(payload)) << length;
  }
}

TEST_P(sqlserver_values, that_are_empty_are_not_null) {
  for (const std::string_view empty : {std::string_view(), std::string_view("")}) {
    const auto came = sent_by([&] { fifo_.enqueue(empty); });
    EXPECT_EQ(read_call(came.at(0)).items.at(0).at("payload"), tds_value(""));
  }
  tds_answer one = answers::messages();
  script_.once("fifo.dequeue", one.row({7, 1000, nullptr, ""}));
  EXPECT_EQ(fifo_.dequeue().value().payload, "");
}

TEST_P(sqlserver_values, come_out_as_payloads_of_any_length_and_any_bytes) {
  for (const std::size_t length : lengths) {
    const std::string payload = every_byte(length);
    tds_answer two = answers::messages();
    two.row({7, 1000, nullptr, payload}).row({8, 1000, nullptr, "next"});
    script_.once("fifo.dequeue", two);
    const auto got = fifo_.dequeue_batch(2);
    ASSERT_EQ(got.size(), 2U);
    EXPECT_TRUE(got[0].payload == payload) << length;
    EXPECT_EQ(got[1].payload, "next");
  }
}

TEST_P(sqlserver_values, of_one_byte_go_in_and_out_each_of_them) {
  std::vector<std::string> payloads;
  for (int i = 0; i < 256; ++i) payloads.emplace_back(1, static_cast<char>(i));
  std::vector<tableq::new_message> messages;
  tds_answer all = answers::messages();
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    messages.push_back({payloads[i]});
    all.row({static_cast<std::int64_t>(i) + 1, 1000, nullptr, payloads[i]});
  }
  const auto came = sent_by([&] { fifo_.enqueue_batch(messages); });
  const auto items = read_call(came.at(0)).items;
  script_.once("fifo.peek", all);
  const auto got = fifo_.peek(256);
  ASSERT_EQ(got.size(), 256U);
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    EXPECT_EQ(items.at(i).at("payload"), tds_value(payloads[i])) << i;
    EXPECT_EQ(got[i].payload, payloads[i]) << i;
  }
}

TEST_P(sqlserver_values, go_in_as_text_of_any_characters) {
  const auto added = sent_by([&] {
    claim_.enqueue("p", {.headers = {{difficult, difficult}}, .key = difficult});
  });
  const named_values item = read_call(added.at(0)).items.at(0);
  EXPECT_EQ(item.at("key"), tds_value(difficult));
  const std::string json =
      "it's \\\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\\\" @P1 ? :now \\\\ -- ]]";
  EXPECT_EQ(item.at("headers"), tds_value("{\"" + json + "\":\"" + json + "\"}"));
  const auto failed =
      sent_by([&] { (void)claim_.fail(receipt_of("claim", 1), difficult + "\xFF"); });
  EXPECT_EQ(read_call(failed.at(0)).items.at(0).at("error"), tds_value(difficult + "\xEF\xBF\xBD"));
}

TEST_P(sqlserver_values, go_in_as_text_of_any_length) {
  std::string longest_key;
  for (int i = 0; i < 50; ++i) longest_key += "\xF0\x9F\x98\x80";
  const auto keyed = sent_by([&] { claim_.enqueue("p", {.key = longest_key}); });
  EXPECT_EQ(read_call(keyed.at(0)).items.at(0).at("key"), tds_value(longest_key));
  // Around the length at which the declared type of a text changes.
  for (const std::size_t length : {1U, 3991U, 3992U, 3993U, 4000U, 60000U}) {
    const std::string value(length, 'v');
    const auto came = sent_by([&] { claim_.enqueue("p", {.headers = {{"h", value}}}); });
    EXPECT_TRUE(read_call(came.at(0)).items.at(0).at("headers") ==
                tds_value("{\"h\":\"" + value + "\"}"))
        << length;
  }
}

TEST_P(sqlserver_values, come_out_of_a_take_as_they_are) {
  const std::string many(60000, 'v');
  tds_answer two = answers::deliveries();
  two.row(
      {2, std::int64_t{1} << 40, 1, -5, 1000, nullptr, 31000, nullptr, nullptr, 0, nullptr, ""});
  two.row({1, 3, 2, 9, 1001, 77, 31001, difficult, "group", 0,
           "{\"e\":\"\xF0\x9F\x98\x80\",\"long\":\"" + many + "\"}", every_byte(8001)});
  script_.once("claim.take", two);
  const auto got = claim_.take(2);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].receipt, (tableq::receipt{{1}, 3, receipt_of("claim", 1).queue}));
  EXPECT_EQ(got[0].key, difficult);
  EXPECT_EQ(got[0].headers, (tableq::headers{{"e", "\xF0\x9F\x98\x80"}, {"long", many}}));
  EXPECT_TRUE(got[0].payload == every_byte(8001));
  EXPECT_EQ(got[0].claimed_at, tableq::timestamp(77ms));
  EXPECT_EQ(got[0].lease_until, tableq::timestamp(31001ms));
  EXPECT_EQ(got[0].attempt, 2);
  EXPECT_EQ(got[0].priority, 9);
  EXPECT_EQ(got[1].receipt.fence, std::int64_t{1} << 40);
  EXPECT_EQ(got[1].priority, -5);
  EXPECT_EQ(got[1].key, std::nullopt);
  EXPECT_TRUE(got[1].headers.empty() && got[1].payload.empty() && !got[1].claimed_at);
}

TEST_P(sqlserver_values, of_groups_that_take_turns_come_in_the_order_of_their_times) {
  tds_answer three = answers::deliveries_by_turns();
  const auto row = [&](std::int64_t id, int priority, std::int64_t ready_at) {
    three.row(
        {id, 3, 1, priority, 1000, nullptr, 31000, nullptr, "group", 0, nullptr, "", ready_at});
  };
  row(1, 0, 2002);
  row(3, 0, 2001);
  row(2, 0, 2001);
  row(4, 1, 2003);
  script_.once("claim.take_turns", three);
  std::vector<std::int64_t> ids;
  for (const auto& each : db_.claim("turns").take(4)) ids.push_back(each.receipt.id.value);
  EXPECT_EQ(ids, (std::vector<std::int64_t>{4, 2, 3, 1}));
}

TEST_P(sqlserver_values, come_out_of_a_list_as_they_are) {
  tds_answer one = answers::stored();
  one.row({4, 4, 1, 5, 1000, 0, nullptr, 2000, "key", "group", 3000, nullptr,
           "[{\"at\":1500,\"error\":\"it's \xF0\x9F\x98\x80\"}]", "p"});
  script_.once("claim.list", one);
  const auto got = claim_.list(tableq::message_state::dead);
  ASSERT_EQ(got.size(), 1U);
  EXPECT_EQ(got[0].state, tableq::message_state::dead);
  EXPECT_EQ(got[0].finished_at, tableq::timestamp(2000ms));
  ASSERT_EQ(got[0].errors.size(), 1U);
  EXPECT_EQ(got[0].errors[0].error, "it's \xF0\x9F\x98\x80");
  EXPECT_EQ(got[0].payload, "p");
}

TEST_P(sqlserver_values, come_out_as_numbers_of_any_size) {
  constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();
  tds_answer one = answers::messages();
  script_.once("fifo.dequeue", one.row({greatest, -1, nullptr, "p"}));
  const auto got = fifo_.dequeue();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->id.value, greatest);
  EXPECT_EQ(got->created_at, tableq::timestamp(-1ms));
  EXPECT_EQ(got->due_at, std::nullopt);
}

TEST_P(sqlserver_values, are_put_into_the_queues_order_by_the_client) {
  tds_answer out_of_order = answers::messages();
  for (const std::int64_t id : {5, 9, 7}) {
    out_of_order.row({id, 1000, nullptr, std::to_string(id)});
  }
  const auto ids = [](const std::vector<tableq::message>& got) {
    std::vector<std::int64_t> out;
    for (const auto& each : got) out.push_back(each.id.value);
    return out;
  };
  script_.once("fifo.dequeue", out_of_order);
  EXPECT_EQ(ids(fifo_.dequeue_batch(3)), (std::vector<std::int64_t>{5, 7, 9}));
  script_.once("lifo.dequeue", out_of_order);
  EXPECT_EQ(ids(db_.lifo("lifo").dequeue_batch(3)), (std::vector<std::int64_t>{9, 7, 5}));
}

TEST_P(sqlserver_values, are_not_disturbed_by_what_else_a_server_says) {
  const auto with_noise = [](const char* second) {
    return tds_answer()
        .info(5701, "Changed database context to 'app'.")
        .affected(1)
        .info(8153, "Warning: Null value is eliminated by an aggregate.")
        .columns({{"id", tds_type::bigint},
                  {"created_at", tds_type::bigint},
                  {"due_at", tds_type::bigint},
                  {"payload", tds_type::varbinary_max}})
        .row({7, 1000, nullptr, "seven"})
        .info(3621, "The statement has been told of.")
        .row({8, 1000, nullptr, second})
        .info(50001, "a trigger prints")
        .columns({{"other", tds_type::nvarchar, 20}})
        .row({"a result"})
        .row({"of another kind"})
        .columns({{"empty", tds_type::integer}})
        .affected(9)
        .info(50002, "and again");
  };
  script_.once("fifo.dequeue", with_noise("eight"));
  const auto got = fifo_.dequeue_batch(5);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].payload, "seven");
  EXPECT_EQ(got[1].payload, "eight");
  script_.once("fifo.peek", with_noise("nine"));
  EXPECT_EQ(fifo_.peek(5).at(1).payload, "nine");
  EXPECT_EQ(names_of(sent_by([&] { fifo_.enqueue("p"); })), "fifo.enqueue");
}

TEST_P(sqlserver_values, survive_messages_at_login_in_the_set_up_and_in_transactions) {
  const tds_answer chatter = tds_answer().info(5701, "Changed database context.").info(0, "hello");
  script_.always("setup", chatter);
  script_.always("begin", chatter);
  script_.always("commit", chatter);
  script_.always("rollback", chatter);
  auto db = open(0ms);
  const auto came = sent_by([&] {
    db.transact([&](tableq::transaction& tx) { db.fifo("fifo").in(tx).enqueue("p"); });
    (void)db.begin();
  });
  EXPECT_TRUE(names_of(came).ends_with("fifo.enqueue commit begin rollback")) << names_of(came);
}

}  // namespace
