#include "core/input/queue_options.hpp"

#include <gtest/gtest.h>

#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::kind;
using tableq::ordering;
using tableq::queue_info;
using tableq::core::decode_options;
using tableq::core::encode_options;
using tableq::core::settle_options;

TEST(queue_options, of_batches_are_stored_for_any_kind_and_absent_without_them) {
  const queue_info with = settle_options("jobs", {.kind = kind::claim, .claim = {.batches = true}});
  EXPECT_TRUE(encode_options(with).ends_with(" batches=1"));
  EXPECT_EQ(encode_options(settle_options("jobs", {.kind = kind::claim})).find("batch"),
            std::string::npos);
  for (const kind each : {kind::heap, kind::fifo, kind::lifo, kind::pending, kind::claim}) {
    queue_info ends = settle_options("news", {.kind = each});
    EXPECT_FALSE(ends.batch_ends);
    ends.batch_ends = true;
    queue_info read;
    read.kind = each;
    decode_options(encode_options(ends), read);
    EXPECT_TRUE(read.batch_ends);
    EXPECT_EQ(read.ordering, ends.ordering);
  }
}

TEST(queue_options, of_retries_are_stored_and_absent_ones_are_none) {
  queue_info read;
  read.kind = kind::claim;
  const std::string stored = encode_options(settle_options("jobs", {.kind = kind::claim}));
  EXPECT_EQ(stored,
            "lease_ms=30000 max_attempts=5 keep=0 retry_ms=1000,5000,30000,300000 jitter=20");
  decode_options(stored, read);
  EXPECT_EQ(read.retry, tableq::retry_delays::usual());
  const std::string none =
      encode_options(settle_options("jobs", {.kind = kind::claim, .claim = {.retry = {}}}));
  EXPECT_EQ(none, "lease_ms=30000 max_attempts=5 keep=0");
  queue_info old;
  old.kind = kind::claim;
  decode_options(none, old);
  EXPECT_EQ(old.retry, tableq::retry_delays::none());
}

TEST(queue_options, that_are_unknown_were_written_by_a_newer_version) {
  for (const char* text : {"shape=round", "lease_ms=5 colour=blue", "lease_ms=", "keep=yes",
                           "ordering=sideways", "max_attempts", "groups_by_turns=1"}) {
    queue_info info;
    info.kind = kind::claim;
    EXPECT_CODE(schema_too_new, decode_options(text, info)) << text;
  }
}

}  // namespace
