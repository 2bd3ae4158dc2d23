#include <cstdint>
#include <limits>

#include "drivers/sqlserver_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// Every byte value, over and over.
std::string every_byte(std::size_t size) {
  std::string out(size, '\0');
  for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<char>((i + i / 256U) & 255U);
  return out;
}

/// Text that breaks if it is treated as bytes, as SQL, as JSON, or as one unit per character.
const std::string difficult = "it's \"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\" @P1 ? :now \\ -- ]]";

/// A sent value, and the value that comes back.
class sqlserver_values : public on_scripted_sqlserver {};
INSTANTIATE_TEST_SUITE_P(, sqlserver_values, all_ways, name_of_way);

TEST_P(sqlserver_values, go_in_and_out_as_payloads_of_any_length_and_any_bytes) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  for (const std::size_t length : {0U, 1U, 255U, 7999U, 8000U, 8001U, 8192U, 8193U, 1'000'000U}) {
    const std::string payload = every_byte(length);
    const auto came = sent_by([&] { fifo.enqueue(payload); });
    EXPECT_TRUE(read_call(came.at(0)).items.at(0).at("payload") == tds_value(payload)) << length;
    script_.once("fifo.dequeue", with_columns(message_columns)
                                     .row({7, 1000, nullptr, payload})
                                     .row({8, 1000, nullptr, "next"}));
    const auto got = fifo.dequeue_batch(2);
    ASSERT_EQ(got.size(), 2U);
    EXPECT_TRUE(got[0].payload == payload) << length;
    EXPECT_EQ(got[1].payload, "next");
  }
}

TEST_P(sqlserver_values, go_in_as_text_of_any_characters_and_any_length) {
  auto db = open(0ms);
  auto claim = db.claim("claim");
  const auto added = sent_by([&] { claim.enqueue("p", {.key = difficult}); });
  EXPECT_EQ(read_call(added.at(0)).items.at(0).at("key"), tds_value(difficult));
  const auto none = sent_by([&] { claim.enqueue("p"); });
  EXPECT_EQ(read_call(none.at(0)).items.at(0).at("key"), tds_value(nullptr));
  // Around 4,000 units, where the declared type of a text changes; some are pairs.
  for (const std::size_t length : {3991U, 3992U, 3993U, 60'000U}) {
    const std::string value = std::string(length - 4, 'v') + "\xF0\x9F\x98\x80vv";
    const auto came = sent_by([&] { claim.enqueue("p", {.headers = {{"h", value}}}); });
    EXPECT_TRUE(read_call(came.at(0)).items.at(0).at("headers") ==
                tds_value("{\"h\":\"" + value + "\"}"))
        << length;
  }
}

TEST_P(sqlserver_values, come_out_of_a_take_as_they_are) {
  auto db = open(0ms);
  const std::string many(60'000, 'v');
  script_.once("claim.take", with_columns(delivery_columns)
                                 .row({2, std::int64_t{1} << 40, 1, -5, 1000, nullptr, 31000, "",
                                       nullptr, 0, nullptr, "", 0})
                                 .row({1, 3, 2, 9, 1001, 77, 31001, difficult, "group", 0,
                                       "{\"long\":\"" + many + "\"}", every_byte(8001), 0}));
  const auto got = db.claim("claim").take(2);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[0].key, difficult);
  EXPECT_EQ(got[0].headers, (tableq::headers{{"long", many}}));
  EXPECT_TRUE(got[0].payload == every_byte(8001));
  EXPECT_EQ(got[0].claimed_at, tableq::timestamp(77ms));
  EXPECT_EQ(got[1].receipt.fence, std::int64_t{1} << 40);
  EXPECT_EQ(got[1].priority, -5);
  EXPECT_EQ(got[1].key, "");
  EXPECT_TRUE(got[1].headers.empty() && got[1].payload.empty() && !got[1].claimed_at);
}

TEST_P(sqlserver_values, come_out_as_numbers_at_both_ends_and_without_half_characters) {
  auto db = open(0ms);
  using limits = std::numeric_limits<std::int64_t>;
  script_.once("fifo.dequeue",
               with_columns(message_columns).row({limits::max(), limits::min(), -1, "p"}));
  const auto got = db.fifo("fifo").dequeue();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->id.value, limits::max());
  EXPECT_EQ(got->created_at, tableq::timestamp(std::chrono::milliseconds(limits::min())));
  EXPECT_EQ(got->due_at, tableq::timestamp(-1ms));
  tds_answer halves = with_columns(replaced(std::string(delivery_columns), "key:n g", "key:u g"));
  const std::string half("a\0\x3D\xD8z\0", 6);
  script_.once("claim.take",
               halves.row({2, 3, 1, 0, 1000, nullptr, 31000, half, nullptr, 0, nullptr, "", 0}));
  const auto key = db.claim("claim").take(1).at(0).key.value();
  EXPECT_TRUE(key.starts_with('a') && key.size() < 6) << key;
}

TEST_P(sqlserver_values, are_not_disturbed_by_what_else_a_server_says) {
  auto db = open(0ms);
  auto fifo = db.fifo("fifo");
  tds_answer answer = tds_answer()
                          .info(5701, "Changed database context to 'app'.")
                          .affected(1)  // a count before the rows
                          .info(8153, "Warning: Null value is eliminated.")
                          .columns(columns_of(message_columns))
                          .row({7, 1000, nullptr, "seven"})
                          .info(3621, "The statement has been told of.")
                          .row({8, 1000, nullptr, "eight"});
  answer.columns(columns_of("other:n")).row({"a result"});
  script_.once("fifo.dequeue", answer.columns({{"empty"}}).affected(9).info(50002, "and again"));
  const auto got = fifo.dequeue_batch(5);
  ASSERT_EQ(got.size(), 2U);
  EXPECT_EQ(got[1].payload, "eight");
  EXPECT_EQ(names_of(sent_by([&] { fifo.enqueue("p"); })), "fifo.enqueue");
  // A count and no rows at all: the driver would keep them back.
  script_.once("fifo.dequeue", tds_answer().affected(1));
  if (GetParam().microsoft()) {
    EXPECT_THROW((void)fifo.dequeue(), tableq::error);
  }
}

}  // namespace
