#include <gtest/gtest.h>

#include "drivers/dialects.hpp"

namespace {

using tableq::advice;
using tableq::errc;

struct known_state {
  const char* sqlstate;
  errc code;
  advice safe;
};

TEST(classify_postgresql, judges_every_state_by_its_rule) {
  const known_state table[] = {
      {"40001", errc::conflict, advice::transaction},
      {"40P01", errc::conflict, advice::transaction},
      {"40003", errc::outcome_unknown, advice::never},
      {"55P03", errc::busy, advice::transaction},
      {"57014", errc::cancelled, advice::transaction},
      {"23505", errc::constraint_violated, advice::never},
      {"23514", errc::constraint_violated, advice::never},
      {"P0001", errc::constraint_violated, advice::never},
      {"42501", errc::permission_denied, advice::never},
      {"42P01", errc::not_found, advice::never},
      {"3F000", errc::not_found, advice::never},
      {"42703", errc::schema_mismatch, advice::never},
      {"25006", errc::read_only, advice::never},
      {"25P02", errc::invalid_argument, advice::never},
      {"25P03", errc::cancelled, advice::session},
      {"25P04", errc::cancelled, advice::session},
      {"53100", errc::storage_full, advice::never},
      {"58030", errc::storage_failed, advice::never},
      {"53300", errc::busy, advice::session},
      {"54000", errc::storage_full, advice::never},
      {"22021", errc::invalid_argument, advice::never},
      {"28P01", errc::connection_failed, advice::never},
      {"3D000", errc::connection_failed, advice::never},
      {"57P01", errc::connection_lost, advice::session},
      {"57P03", errc::connection_lost, advice::session},
      {"08006", errc::connection_lost, advice::session},
      {"08P01", errc::internal, advice::never},
      {"26000", errc::conflict, advice::transaction},
      {"XX001", errc::not_a_database, advice::never},
      {"XX000", errc::internal, advice::never},
      {"", errc::internal, advice::never},
  };
  for (const known_state& one : table) {
    const tableq::verdict got = tableq::drivers::classify_postgresql({.sqlstate = one.sqlstate});
    EXPECT_EQ(got.code, one.code) << one.sqlstate;
    EXPECT_EQ(got.advice, one.safe) << one.sqlstate;
  }
}

TEST(classify_postgresql, only_values_that_are_long_are_too_large) {
  const auto code_of = [](std::size_t sent) {
    return tableq::drivers::classify_postgresql({.sqlstate = "54000", .sent = sent}).code;
  };
  EXPECT_EQ(code_of(0), errc::storage_full) << "the numbers of transactions are used up";
  EXPECT_EQ(code_of(1'999), errc::storage_full);
  EXPECT_EQ(code_of(2'700), errc::too_large) << "an entry of an index";
  EXPECT_EQ(code_of(1U << 30U), errc::too_large);
}

TEST(classify_postgresql, a_dead_link_outweighs_the_state) {
  const tableq::verdict got =
      tableq::drivers::classify_postgresql({.sqlstate = "23505", .link_lost = true});
  EXPECT_EQ(got.code, errc::connection_lost);
  EXPECT_EQ(got.advice, advice::session);
}

TEST(classify_postgresql, a_limit_on_transactions_is_the_cause_of_the_dead_link) {
  for (const char* state : {"25P03", "25P04"}) {
    const tableq::verdict got =
        tableq::drivers::classify_postgresql({.sqlstate = state, .link_lost = true});
    EXPECT_EQ(got.code, errc::cancelled) << state;
    EXPECT_EQ(got.advice, advice::session) << state;
    EXPECT_NE(got.sentence.find("_timeout"), std::string_view::npos) << state;
  }
  const tableq::verdict told = tableq::drivers::classify_postgresql(
      {.sqlstate = "08S01",
       .link_lost = true,
       .sentence = "FATAL: terminating connection due to idle-in-transaction timeout"});
  EXPECT_EQ(told.code, errc::cancelled);
  EXPECT_TRUE(told.undone);
}

TEST(classify_postgresql, an_id_that_was_drawn_twice_is_told) {
  const std::string sentence = "duplicate key value violates unique constraint \"mail_pkey\"";
  for (const char* table : {"mail", "other", ""}) {
    const tableq::verdict got = tableq::drivers::classify_postgresql(
        {.sqlstate = "23505", .sentence = sentence, .table = table});
    EXPECT_EQ(got.code, errc::constraint_violated);
    EXPECT_EQ(got.sentence.find("tableq doctor") != std::string_view::npos,
              std::string(table) == "mail");
  }
}

}  // namespace
