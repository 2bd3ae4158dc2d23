#include <gtest/gtest.h>

#include <vector>

#include "drivers/dialects.hpp"

namespace {

using tableq::advice;
using tableq::errc;
using tableq::verdict;
using tableq::drivers::classify_sqlserver;

struct classified_numbers {
  errc code;
  advice safe;
  std::vector<int> numbers;
};

const classified_numbers all[] = {
    {errc::conflict,
     advice::transaction,
     {1205, 52004, 3960, 601, 3902, 3903, 3930, 3958, 3957, 3961, 3971, 628, 6401}},
    {errc::busy, advice::transaction, {1222, 1203, 1204, 701, 52001, 8628, 802, 845}},
    {errc::not_found, advice::never, {52003, 208, 2760}},
    {errc::busy,
     advice::session,
     {40613, 40501, 49918, 49919, 49920, 10928, 10929, 4221, 615, 926, 978, 983, 924, 927, 942,
      17187, 18401, 18451, 35250}},
    {errc::connection_lost, advice::session, {40197, 40143, 40540, 20004, 20006, 20009, 20017,
                                              20047, 10053, 10054, 10060, 233,   121,   64,
                                              6005,  40549, 40550, 40551, 40552, 40553, 4014}},
    {errc::cancelled, advice::session, {20003}},
    {errc::connection_failed, advice::never, {18452, 18470, 18487, 18488, 40615}},
    {errc::connection_failed, advice::session, {911, 945, 4060}},
    {errc::constraint_violated, advice::never, {2627, 2601, 547, 515, 8134}},
    {errc::permission_denied, advice::never, {229, 230, 262, 15151, 297, 300, 916}},
    {errc::schema_mismatch,
     advice::never,
     {207, 245, 8152, 2628, 308, 8622, 334, 2714, 1913, 220, 241, 242, 248, 517, 535, 8115, 13608,
      13609}},
    {errc::unsupported, advice::never, {650, 1934, 52016, 52130, 3952}},
    {errc::read_only, advice::never, {3906, 3908}},
    {errc::storage_full, advice::never, {1105, 9002, 40544}},
    {errc::storage_failed, advice::never, {823, 824, 825, 9001}},
    {errc::internal, advice::never, {20002}},
};

TEST(classify_sqlserver, judges_every_number_by_its_rule_whatever_the_driver_makes_of_it) {
  for (const classified_numbers& each : all) {
    for (const int number : each.numbers) {
      for (const char* state : {"", "42000", "HY000", "01000"}) {
        const verdict got = classify_sqlserver({.sqlstate = state, .number = number});
        EXPECT_EQ(got.code, each.code) << number;
        EXPECT_EQ(got.advice, each.safe) << number;
      }
      // No words of the server, which may hold data.
      EXPECT_FALSE(classify_sqlserver({.number = number, .sentence = "secret"}).sentence.empty());
    }
  }
}

TEST(classify_sqlserver, an_identity_without_more_values_is_full) {
  const verdict got = classify_sqlserver(
      {.number = 8115,
       .sentence = "Arithmetic overflow error converting IDENTITY to data type bigint."});
  EXPECT_EQ(got.code, errc::storage_full);
}

TEST(classify_sqlserver, a_refused_login_is_no_lost_link_and_says_what_to_check) {
  for (const bool lost : {false, true}) {
    const verdict got = classify_sqlserver(
        {.sqlstate = lost ? "08001" : "42000", .number = 18456, .link_lost = lost});
    EXPECT_EQ(got.code, errc::connection_failed);
    EXPECT_EQ(got.advice, advice::never);
    EXPECT_NE(got.sentence.find("check user and password"), std::string_view::npos);
  }
}

TEST(classify_sqlserver, a_dead_link_outweighs_the_number) {
  const verdict got = classify_sqlserver({.sqlstate = "23000", .number = 2627, .link_lost = true});
  EXPECT_EQ(got.code, errc::connection_lost);
  EXPECT_EQ(got.advice, advice::session);
  EXPECT_FALSE(got.sentence.empty());
}

TEST(classify_sqlserver, a_race_for_a_key_is_known_by_the_index_of_any_queue) {
  for (const std::string queue : {"mail", "mail-", "m-a-i-l", "mail.out", "mail.", "_", "9_key"}) {
    for (const bool of_key : {true, false}) {
      const std::string sentence =
          "Cannot insert duplicate key row in object 'dbo." + queue + "' with unique index '" +
          (of_key ? queue + "_key" : "one_mail") + "'. The duplicate key value is (0x6B00).";
      EXPECT_EQ(classify_sqlserver({.number = 2601, .sentence = sentence}).code,
                of_key ? errc::conflict : errc::constraint_violated)
          << sentence;
    }
  }
}

TEST(classify_sqlserver, an_id_that_was_drawn_twice_is_told) {
  const std::string sentence =
      "Violation of PRIMARY KEY constraint 'PK__mail__3213E83F0AD2A005'. Cannot insert duplicate "
      "key "
      "in object 'dbo.mail'.";
  for (const char* table : {"mail", "app.mail", "other", ""}) {
    const verdict got = classify_sqlserver({.number = 2627, .sentence = sentence, .table = table});
    EXPECT_EQ(got.code, errc::constraint_violated);
    EXPECT_EQ(got.sentence.find("tableq doctor") != std::string_view::npos,
              std::string(table).ends_with("mail"));
  }
}

TEST(classify_sqlserver, a_time_out_leaves_the_effect_unknown) {
  const verdict got = classify_sqlserver({.sqlstate = "HYT00"});
  EXPECT_EQ(got.code, errc::cancelled);
  EXPECT_EQ(got.advice, advice::session);
  EXPECT_NE(got.sentence.find("not known"), std::string_view::npos);
  EXPECT_EQ(classify_sqlserver({.sqlstate = "HYT01"}).code, errc::cancelled);
}

TEST(classify_sqlserver, the_state_judges_what_the_driver_says_of_itself) {
  struct {
    const char* state;
    errc code;
    advice safe;
  } const table[] = {
      {"08S01", errc::connection_lost, advice::session},
      {"08001", errc::connection_lost, advice::session},
      {"28000", errc::connection_failed, advice::never},
      {"IM002", errc::internal, advice::never},
      {"", errc::internal, advice::never},
  };
  for (const auto& one : table) {
    const verdict got = classify_sqlserver({.sqlstate = one.state, .sentence = "of the driver"});
    EXPECT_EQ(got.code, one.code) << one.state;
    EXPECT_EQ(got.advice, one.safe) << one.state;
    EXPECT_TRUE(got.sentence.empty()) << one.state;
    const verdict numbered = classify_sqlserver({.sqlstate = one.state, .number = 99999});
    EXPECT_EQ(numbered.code, one.code) << one.state;
    EXPECT_FALSE(numbered.sentence.empty()) << one.state;
  }
}

}  // namespace
