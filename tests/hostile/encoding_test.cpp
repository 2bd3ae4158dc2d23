#include <gtest/gtest.h>

#include <algorithm>

#include "support/at_once.hpp"
#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// A database whose texts are not in UTF-8.
class encodings : public on_each_backend {
 protected:
  /// A letter of Europe, a sign, one of China, and one beyond the first 65,536.
  const std::string odd = "\xC3\xA4\xE2\x82\xAC\xE4\xB8\xAD\xF0\x9F\x98\x80";
  const std::string escaped = "\\u00e4\\u20ac\\u4e2d\\ud83d\\ude00";
};
TABLEQ_ON_BACKENDS(encodings, shared_backends);

TEST_P(encodings, without_a_character_lose_no_error_no_header_and_no_payload) {
  for (const std::string encoding : {"LATIN1", "EUC_JP", "SQL_ASCII"}) {
    SCOPED_TRACE(encoding);
    const bool narrow = encoding != "SQL_ASCII";  // which takes any byte
    const auto url = here().url_in_encoding(encoding);
    if (!url) GTEST_SKIP() << "all databases here have one encoding";
    auto db = tableq::database::open(*url);
    auto jobs = db.claim("jobs", at_once({.max_attempts = 2, .dead_letters = "morgue"}));
    jobs.enqueue(odd + "\xFF", {.headers = {{odd, odd}}, .key = "plain"});
    for (int attempt = 1; attempt <= 2; ++attempt) {
      const auto taken = jobs.take(1);
      ASSERT_EQ(taken.size(), 1U);
      EXPECT_EQ(taken[0].payload, odd + "\xFF");
      EXPECT_EQ(taken[0].headers.at(odd), odd);
      EXPECT_EQ(jobs.fail(taken[0].receipt, "no: " + odd), tableq::settle_result::applied);
    }
    const auto letters = db.claim("morgue").peek();
    ASSERT_EQ(letters.size(), 1U);
    EXPECT_EQ(letters[0].headers.at(odd), odd);
    ASSERT_EQ(letters[0].errors.size(), 2U);
    EXPECT_EQ(letters[0].errors[1].error, "no: " + (narrow ? escaped : odd));
    EXPECT_EQ(jobs.redrive_all().count, 1U);
    if (narrow) {
      const tableq::error refused = thrown_by([&] { jobs.enqueue("x", {.key = odd}); });
      EXPECT_EQ(refused.code(), tableq::errc::invalid_argument);
      EXPECT_TRUE(contains(refused.what(), "encoding")) << refused.what();
      EXPECT_EQ(jobs.stats().ready, 1U);
    } else {
      EXPECT_TRUE(jobs.enqueue("x", {.key = odd}).created());
    }
    EXPECT_TRUE(std::ranges::any_of(db.inspect(), [&](const tableq::finding& each) {
      return each.severity == tableq::finding::level::warning && contains(each.what, encoding);
    }));
  }
}

}  // namespace
