#include <gtest/gtest.h>

#include <algorithm>
#include <tableq/unstable/dialect.hpp>

#include "support/fixture.hpp"
#include "support/text.hpp"
#include "support/untouched_bytes.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::string_literals;

constexpr std::size_t mebibyte = std::size_t{1} << 20U;

/// Every byte value, without a period that could hide an error of a chunked copy.
std::string bytes(std::size_t size) {
  std::string out(size, '\0');
  std::uint32_t state = 12345;
  for (std::size_t i = 0; i < size; ++i) {
    state = state * 1'664'525U + 1'013'904'223U;
    out[i] = static_cast<char>(i < 256 ? i : state >> 24U);
  }
  return out;
}

/// The dialect on which a test's dialect is based. Global, because `resolve` is a plain function.
tableq::dialect leaned_on;  // NOLINT(cert-err58-cpp): throws nothing but for want of memory

/// Compares without printing megabytes.
void expect_same(const std::string& got, const std::string& sent) {
  EXPECT_EQ(got.size(), sent.size());
  EXPECT_TRUE(got == sent) << "a payload of " << sent.size() << " bytes came back changed";
}

class payload : public on_each_kind {};
TABLEQ_ON_KINDS(payload, all_backends);

TEST_P(payload, of_any_size_comes_back_unchanged) {
  any_queue queue = make("mail");
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, std::size_t{8000}, std::size_t{65'536}, mebibyte}) {
    const std::string sent = bytes(size);
    queue.put(sent);
    const auto got = queue.take();
    ASSERT_TRUE(got) << size;
    expect_same(got->payload, sent);
  }
}

TEST_P(payload, of_any_size_comes_back_unchanged_in_a_batch) {
  any_queue queue = make("mail");
  const std::vector<std::string> sent = {bytes(0),        bytes(1), bytes(8000), bytes(65'536),
                                         bytes(mebibyte), ""s,      "\0"s,       bytes(256)};
  const auto ids = queue.put_all(sent);
  const std::vector<item> got = queue.take_up_to(100);
  ASSERT_EQ(got.size(), sent.size());
  for (const item& each : got) {
    const auto at = std::find(ids.begin(), ids.end(), each.id) - ids.begin();
    expect_same(each.payload, sent.at(static_cast<std::size_t>(at)));
  }
}

TEST_P(payload, of_any_bytes_comes_back_unchanged) {
  any_queue queue = make("mail");
  const std::vector<std::string> sent = {
      "\0"s,        "\0\0\0"s,      "a\0b"s, "\0a"s,   "a\0"s,         "\xFF\xFE\x00\x80"s,
      "\xC3\x28"s,  "\\x41\\"s,     "\\"s,   "'\"`;"s, "\r\n\t\x1A"s,  "NULL"s,
      "{\"a\":1}"s, "$1 :name ?1"s, "\\x"s,  "\\000"s, "\xED\xA0\x80"s};
  for (const std::string& each : sent) {
    queue.put(each);
    expect_same(queue.take()->payload, each);
  }
  const auto ids = queue.put_all(sent);
  for (const item& each : queue.take_up_to(100)) {
    const auto at = std::find(ids.begin(), ids.end(), each.id) - ids.begin();
    expect_same(each.payload, sent.at(static_cast<std::size_t>(at)));
  }
}

class large_payload : public on_each_backend {};
TABLEQ_ON_BACKENDS(large_payload, shared_backends);

TEST_P(large_payload, of_64_mebibytes_comes_back_unchanged_single_and_in_a_batch) {
  const std::string large = bytes(64 * mebibyte);
  any_queue single(db(), tableq::kind::heap, "single");
  single.put(large);
  expect_same(single.take()->payload, large);

  any_queue batch(db(), tableq::kind::claim, "batch");
  const auto ids = batch.put_all({"small", large, ""});
  const std::vector<item> got = batch.take_up_to(3);
  ASSERT_EQ(got.size(), 3U);
  for (const item& each : got) {
    expect_same(each.payload, each.id == ids.at(1) ? large : each.id == ids.at(0) ? "small" : "");
  }
}

TEST_P(payload, over_the_limit_is_refused_before_it_is_touched) {
  const untouched_bytes huge(2'000'000'000);
  any_queue queue = make("mail");
  EXPECT_CODE(too_large, queue.put(huge.view()));
  {
    tableq::transaction tx = db().begin();
    EXPECT_CODE(too_large, queue.in(tx).put(huge.view()));
  }
  EXPECT_EQ(huge.touched_pages(), 0);
  EXPECT_EQ(queue.waiting(), 0U);
}

TEST_P(payload, over_the_limit_of_backups_is_refused_unless_the_options_raise_it) {
  const auto usual = tableq::find_dialect(db().backend()).capabilities.usual_payload;
  if (!usual) GTEST_SKIP() << "the database saves any payload that it stores";
  const untouched_bytes huge(*usual + 1);
  any_queue queue = make("mail");
  const tableq::error refused = thrown_by([&] { queue.put(huge.view()); });
  EXPECT_EQ(refused.code(), tableq::errc::too_large);
  // The second way cannot send more.
  EXPECT_EQ(contains(refused.what(), "raise max_payload"), !can().second_way);
  EXPECT_EQ(huge.touched_pages(), 0);
}

TEST_P(payload, over_the_limit_refuses_the_whole_batch) {
  const std::string url = here().url();
  const std::size_t scheme = url.find("://");
  leaned_on = tableq::find_dialect(db().backend());
  // Not if the address names a transport instead of a dialect: core does the same there.
  if (std::ranges::count(leaned_on.schemes, url.substr(0, scheme)) == 0) return;
  tableq::dialect mine = leaned_on;
  mine.name = "narrow";
  mine.schemes = {"narrow"};
  mine.products = {};
  mine.resolve = [](const tableq::dialect& /*self*/, const tableq::connection_url& given) {
    tableq::connection_url same = given;
    same.scheme = leaned_on.schemes.at(0);
    same.raw = same.scheme + same.raw.substr(same.raw.find("://"));
    tableq::endpoint at = leaned_on.resolve(leaned_on, same);
    at.capabilities.max_payload = 1000;
    return at;
  };
  tableq::register_dialect(mine);
  auto in_narrow = tableq::database::open("narrow" + url.substr(scheme));
  any_queue queue(in_narrow, kind(), "mail");
  EXPECT_CODE(too_large, queue.put_all({"small", bytes(1001), "small"}));
  EXPECT_EQ(queue.waiting(), 0U);
  EXPECT_EQ(queue.put_all({"small", bytes(1000), "small"}).size(), 3U);
}

TEST_P(payload, over_the_limit_of_the_options_is_refused_and_a_stored_one_is_still_read) {
  EXPECT_CODE(invalid_argument, (void)open(tableq::open_options{.max_payload = 0}));
  EXPECT_CODE(invalid_argument, (void)open(tableq::open_options{.max_payload = 2'000'000'000}));
  if (!can().shared) GTEST_SKIP() << "no second session reaches this database";
  const std::string stored = bytes(100);
  make("mail").put(stored);
  auto narrow = open(tableq::open_options{.max_payload = 99});
  any_queue queue(narrow, kind(), "mail");
  EXPECT_CODE(too_large, queue.put(stored));
  EXPECT_CODE(too_large, queue.put_all({"small", stored}));
  EXPECT_EQ(queue.waiting(), 1U);
  const auto got = queue.take();
  ASSERT_TRUE(got);
  expect_same(got->payload, stored);
  queue.put(bytes(99));
  EXPECT_EQ(queue.waiting(), 1U);
}

TEST_P(payload, is_seen_unchanged_by_peek) {
  any_queue queue = make("mail");
  const std::string sent = bytes(70'000);
  queue.put(sent);
  const auto seen = queue.peek(1);
  ASSERT_EQ(seen.size(), 1U);
  expect_same(seen[0], sent);
}

}  // namespace
