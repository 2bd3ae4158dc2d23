#include <gtest/gtest.h>

#include "drivers/dialects.hpp"

namespace {

using tableq::advice;
using tableq::errc;

struct known_code {
  int number;
  errc code;
  advice safe;
};

TEST(classify_sqlite, judges_every_code_by_its_number) {
  const known_code table[] = {
      {3, errc::permission_denied, advice::never},
      {5, errc::busy, advice::statement},
      {261, errc::busy, advice::statement},        // BUSY_RECOVERY
      {517, errc::conflict, advice::transaction},  // BUSY_SNAPSHOT
      {6, errc::busy, advice::statement},
      {262, errc::busy, advice::statement},  // LOCKED_SHAREDCACHE
      {7, errc::busy, advice::transaction},  // NOMEM
      {8, errc::read_only, advice::never},
      {1032, errc::not_found, advice::never},  // READONLY_DBMOVED
      {9, errc::cancelled, advice::statement},
      {10, errc::connection_lost, advice::session},    // may be the next one
      {1034, errc::connection_lost, advice::session},  // IOERR_FSYNC
      {1290, errc::connection_lost, advice::session},  // IOERR_DIR_FSYNC
      {266, errc::storage_failed, advice::never},      // IOERR_READ
      {778, errc::storage_failed, advice::never},      // IOERR_WRITE
      {6410, errc::storage_failed, advice::never},     // IOERR_GETTEMPPATH
      {11, errc::not_a_database, advice::never},
      {13, errc::storage_full, advice::never},
      {4874, errc::storage_full, advice::never},
      {14, errc::connection_failed, advice::never},
      {17, errc::conflict, advice::statement},
      {18, errc::too_large, advice::never},
      {19, errc::constraint_violated, advice::never},
      {2067, errc::constraint_violated, advice::never},  // CONSTRAINT_UNIQUE
      {23, errc::permission_denied, advice::never},
      {26, errc::not_a_database, advice::never},
      {1, errc::internal, advice::never},
      {21, errc::internal, advice::never},
  };
  for (const known_code& one : table) {
    const tableq::verdict got = tableq::drivers::classify_sqlite({.number = one.number});
    EXPECT_EQ(got.code, one.code) << one.number;
    EXPECT_EQ(got.advice, one.safe) << one.number;
  }
}

TEST(classify_sqlite, knows_a_missing_table_by_its_sentence) {
  EXPECT_EQ(tableq::drivers::classify_sqlite({.number = 1, .sentence = "no such table: mail"}).code,
            errc::not_found);
}

}  // namespace
