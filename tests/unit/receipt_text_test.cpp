#include <gtest/gtest.h>

#include <limits>
#include <string>

#include "support/expect.hpp"

namespace {

using tableq::receipt;

TEST(receipts_as_text, have_all_of_the_receipt) {
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  for (const receipt& each : {receipt{}, receipt{.id = {17}, .fence = 4'294'967'297, .queue = 12},
                              receipt{.id = {least}, .fence = most, .queue = least},
                              receipt{.queue = 1, .key = std::string("\0.\xFF k", 5)}}) {
    EXPECT_EQ(tableq::parse_receipt(to_string(each)), each) << to_string(each);
  }
}

TEST(receipts_as_text, stay_readable_by_later_versions) {
  EXPECT_EQ(to_string(receipt{.id = {17}, .fence = 4'294'967'297, .queue = 12}), "11.100000001.c");
  EXPECT_EQ(to_string(receipt{.fence = 1, .queue = 2, .key = "k."}), "0.1.2.6b2e");
}

TEST(receipts_as_text, refuse_all_other_text) {
  for (const char* const wrong :
       {"",        ".",      "1",       "1.2",      "1.2.",
        "1..3",    "1.2.3.", "1.2.3.4", "1.2.3.6B", "1.2.3.6b.1",
        "01.2.3",  "+1.2.3", " 1.2.3",  "1.2.3 ",   "1.2.3\n",
        "-1.2.3",  "A.2.3",  "`.2.3",   "1.2.x",    "1.2.10000000000000001",
        "1.2.3.zz"}) {
    EXPECT_CODE(invalid_argument, static_cast<void>(tableq::parse_receipt(wrong))) << wrong;
  }
}

}  // namespace
