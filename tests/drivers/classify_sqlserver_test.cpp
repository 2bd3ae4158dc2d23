#include <gtest/gtest.h>

#include "drivers/dialects.hpp"

namespace {

using tableq::advice;
using tableq::errc;
using tableq::verdict;
using tableq::drivers::classify_sqlserver;

struct classified_number {
  int number;
  errc code;
  advice safe;
};

constexpr classified_number classified_numbers[] = {
    {1205, errc::conflict, advice::transaction},
    {52004, errc::conflict, advice::transaction},
    {3960, errc::conflict, advice::transaction},
    {601, errc::conflict, advice::transaction},
    {3902, errc::conflict, advice::transaction},
    {3903, errc::conflict, advice::transaction},
    {3930, errc::conflict, advice::transaction},
    {1222, errc::busy, advice::transaction},
    {1203, errc::busy, advice::transaction},
    {1204, errc::busy, advice::transaction},
    {701, errc::busy, advice::transaction},
    {52001, errc::busy, advice::transaction},
    {52003, errc::not_found, advice::never},
    {40613, errc::busy, advice::session},
    {40501, errc::busy, advice::session},
    {49918, errc::busy, advice::session},
    {49919, errc::busy, advice::session},
    {49920, errc::busy, advice::session},
    {10928, errc::busy, advice::session},
    {10929, errc::busy, advice::session},
    {4221, errc::busy, advice::session},
    {615, errc::busy, advice::session},
    {926, errc::busy, advice::session},
    {978, errc::busy, advice::session},
    {40197, errc::connection_lost, advice::session},
    {40143, errc::connection_lost, advice::session},
    {40540, errc::connection_lost, advice::session},
    {20003, errc::cancelled, advice::session},
    {20004, errc::connection_lost, advice::session},
    {20006, errc::connection_lost, advice::session},
    {20009, errc::connection_lost, advice::session},
    {20017, errc::connection_lost, advice::session},
    {20047, errc::connection_lost, advice::session},
    {10053, errc::connection_lost, advice::session},
    {10054, errc::connection_lost, advice::session},
    {10060, errc::connection_lost, advice::session},
    {233, errc::connection_lost, advice::session},
    {121, errc::connection_lost, advice::session},
    {64, errc::connection_lost, advice::session},
    {6005, errc::connection_lost, advice::session},
    {18452, errc::connection_failed, advice::never},
    {18470, errc::connection_failed, advice::never},
    {18487, errc::connection_failed, advice::never},
    {18488, errc::connection_failed, advice::never},
    {40615, errc::connection_failed, advice::never},
    {911, errc::connection_failed, advice::session},
    {945, errc::connection_failed, advice::session},
    {4060, errc::connection_failed, advice::session},
    {8628, errc::busy, advice::transaction},
    {3958, errc::conflict, advice::transaction},
    {983, errc::busy, advice::session},
    {2627, errc::constraint_violated, advice::never},
    {2601, errc::constraint_violated, advice::never},
    {547, errc::constraint_violated, advice::never},
    {515, errc::constraint_violated, advice::never},
    {208, errc::not_found, advice::never},
    {2760, errc::not_found, advice::never},
    {229, errc::permission_denied, advice::never},
    {230, errc::permission_denied, advice::never},
    {262, errc::permission_denied, advice::never},
    {15151, errc::permission_denied, advice::never},
    {207, errc::schema_mismatch, advice::never},
    {245, errc::schema_mismatch, advice::never},
    {8152, errc::schema_mismatch, advice::never},
    {2628, errc::schema_mismatch, advice::never},
    {308, errc::schema_mismatch, advice::never},
    {8622, errc::schema_mismatch, advice::never},
    {334, errc::schema_mismatch, advice::never},
    {2714, errc::schema_mismatch, advice::never},
    {1913, errc::schema_mismatch, advice::never},
    {650, errc::unsupported, advice::never},
    {1934, errc::unsupported, advice::never},
    {52016, errc::unsupported, advice::never},
    {52130, errc::unsupported, advice::never},
    {3906, errc::read_only, advice::never},
    {3908, errc::read_only, advice::never},
    {1105, errc::storage_full, advice::never},
    {9002, errc::storage_full, advice::never},
    {823, errc::storage_failed, advice::never},
    {40544, errc::storage_full, advice::never},
    {3957, errc::conflict, advice::transaction},
    {3961, errc::conflict, advice::transaction},
    {3971, errc::conflict, advice::transaction},
    {628, errc::conflict, advice::transaction},
    {6401, errc::conflict, advice::transaction},
    {802, errc::busy, advice::transaction},
    {845, errc::busy, advice::transaction},
    {924, errc::busy, advice::session},
    {927, errc::busy, advice::session},
    {942, errc::busy, advice::session},
    {17187, errc::busy, advice::session},
    {18401, errc::busy, advice::session},
    {18451, errc::busy, advice::session},
    {35250, errc::busy, advice::session},
    {40549, errc::connection_lost, advice::session},
    {40550, errc::connection_lost, advice::session},
    {40551, errc::connection_lost, advice::session},
    {40552, errc::connection_lost, advice::session},
    {40553, errc::connection_lost, advice::session},
    {4014, errc::connection_lost, advice::session},
    {297, errc::permission_denied, advice::never},
    {300, errc::permission_denied, advice::never},
    {916, errc::permission_denied, advice::never},
    {8134, errc::constraint_violated, advice::never},
    {220, errc::schema_mismatch, advice::never},
    {241, errc::schema_mismatch, advice::never},
    {242, errc::schema_mismatch, advice::never},
    {248, errc::schema_mismatch, advice::never},
    {517, errc::schema_mismatch, advice::never},
    {535, errc::schema_mismatch, advice::never},
    {8115, errc::schema_mismatch, advice::never},
    {13608, errc::schema_mismatch, advice::never},
    {13609, errc::schema_mismatch, advice::never},
    {3952, errc::unsupported, advice::never},
    {824, errc::storage_failed, advice::never},
    {825, errc::storage_failed, advice::never},
    {9001, errc::storage_failed, advice::never},
    {20002, errc::internal, advice::never},
};

TEST(classify_sqlserver, judges_every_number_by_its_rule_whatever_the_driver_makes_of_it) {
  for (const classified_number& one : classified_numbers) {
    for (const char* state : {"", "42000", "HY000", "01000"}) {
      const verdict got = classify_sqlserver({.sqlstate = state, .number = one.number});
      EXPECT_EQ(got.code, one.code) << one.number;
      EXPECT_EQ(got.advice, one.safe) << one.number;
    }
  }
}

TEST(classify_sqlserver, no_words_of_the_server_that_may_hold_data_are_told) {
  for (const classified_number& one : classified_numbers) {
    const verdict got = classify_sqlserver({.number = one.number, .sentence = "secret"});
    EXPECT_FALSE(got.sentence.empty()) << one.number;
  }
  const verdict other = classify_sqlserver({.sqlstate = "22018", .number = 99999});
  EXPECT_EQ(other.code, errc::internal);
  EXPECT_EQ(other.advice, advice::never);
  EXPECT_FALSE(other.sentence.empty());
}

TEST(classify_sqlserver, an_identity_without_more_values_is_full) {
  const verdict got = classify_sqlserver(
      {.number = 8115,
       .sentence = "Arithmetic overflow error converting IDENTITY to data type bigint."});
  EXPECT_EQ(got.code, errc::storage_full);
}

TEST(classify_sqlserver, a_refused_login_says_what_to_check) {
  const verdict got = classify_sqlserver({.sqlstate = "42000", .number = 18456});
  EXPECT_EQ(got.code, errc::connection_failed);
  EXPECT_EQ(got.advice, advice::never);
  EXPECT_NE(got.sentence.find("check user and password"), std::string_view::npos);
}

TEST(classify_sqlserver, a_refused_login_is_not_a_lost_link) {
  const verdict got = classify_sqlserver({.sqlstate = "08001", .number = 18456, .link_lost = true});
  EXPECT_EQ(got.code, errc::connection_failed);
  EXPECT_EQ(got.advice, advice::never);
}

TEST(classify_sqlserver, a_dead_link_outweighs_the_number) {
  const verdict got = classify_sqlserver({.sqlstate = "23000", .number = 2627, .link_lost = true});
  EXPECT_EQ(got.code, errc::connection_lost);
  EXPECT_EQ(got.advice, advice::session);
  EXPECT_FALSE(got.sentence.empty());
}

TEST(classify_sqlserver, a_race_for_a_key_is_known_by_the_index_of_any_queue) {
  for (const std::string queue : {"mail", "mail-", "m-a-i-l", "mail.out", "mail.", "_", "9_key"}) {
    const std::string sentence = "Cannot insert duplicate key row in object 'dbo." + queue +
                                 "' with unique index '" + queue +
                                 "_key'. The duplicate key value is (0x6B00).";
    EXPECT_EQ(classify_sqlserver({.number = 2601, .sentence = sentence}).code, errc::conflict)
        << queue;
    const std::string other = "Cannot insert duplicate key row in object 'dbo." + queue +
                              "' with unique index 'one_mail'. The duplicate key value is (1).";
    EXPECT_EQ(classify_sqlserver({.number = 2601, .sentence = other}).code,
              errc::constraint_violated)
        << queue;
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
