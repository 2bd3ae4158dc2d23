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
using tableq::core::merge_options;
using tableq::core::settle_options;

TEST(queue_options, of_a_new_queue_are_the_documented_defaults) {
  const queue_info claim = settle_options("jobs", {.kind = kind::claim});
  EXPECT_EQ(claim.name, "jobs");
  EXPECT_EQ(claim.lease, 30s);
  EXPECT_EQ(claim.max_attempts, 5);
  EXPECT_FALSE(claim.keep_completed);
  EXPECT_EQ(claim.retry, tableq::retry_delays::usual());
  EXPECT_EQ(claim.retry, (tableq::retry_delays{.after = {1s, 5s, 30s, 5min}, .jitter = 20}));
  EXPECT_EQ(settle_options("mail", {.kind = kind::fifo}).ordering, ordering::relaxed);
}

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

TEST(queue_options, come_back_as_they_were_stored) {
  const queue_info claim = settle_options(
      "jobs",
      {.kind = kind::claim, .claim = {.lease = 5ms, .max_attempts = 7, .keep_completed = true}});
  queue_info read;
  read.kind = kind::claim;
  decode_options(encode_options(claim), read);
  EXPECT_EQ(read.lease, 5ms);
  EXPECT_EQ(read.max_attempts, 7);
  EXPECT_TRUE(read.keep_completed);

  const queue_info turns = settle_options(
      "jobs", {.kind = kind::claim, .claim = {.groups = {.limit = 2, .by_turns = true}}});
  decode_options(encode_options(turns), read);
  EXPECT_EQ(read.groups, turns.groups);

  const queue_info strict =
      settle_options("mail", {.kind = kind::lifo, .order = {.ordering = ordering::strict}});
  queue_info order;
  order.kind = kind::lifo;
  decode_options(encode_options(strict), order);
  EXPECT_EQ(order.ordering, ordering::strict);

  queue_info heap;
  heap.kind = kind::heap;
  EXPECT_NO_THROW(decode_options(encode_options(settle_options("h", {.kind = kind::heap})), heap));
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

TEST(queue_options, of_other_kinds_are_refused) {
  EXPECT_CODE(invalid_argument,
              settle_options("q", {.kind = kind::heap, .order = {.ordering = ordering::strict}}));
  EXPECT_CODE(invalid_argument, settle_options("q", {.kind = kind::fifo, .claim = {.lease = 1s}}));
  EXPECT_CODE(invalid_argument, settle_options("q", {.kind = kind::claim, .claim = {.lease = 0s}}));
  EXPECT_CODE(invalid_argument,
              settle_options("q", {.kind = kind::claim, .claim = {.max_attempts = 0}}));
}

TEST(queue_options, that_are_given_hold_for_the_handle) {
  const queue_info stored = settle_options("jobs", {.kind = kind::claim, .claim = {.lease = 5s}});
  EXPECT_EQ(merge_options(stored, {.kind = kind::claim}).lease, 5s);
  EXPECT_EQ(merge_options(stored, {.kind = kind::claim, .claim = {.lease = 9s}}).lease, 9s);
}

TEST(queue_options, of_another_kind_or_order_do_not_open_a_queue) {
  const queue_info stored =
      settle_options("mail", {.kind = kind::fifo, .order = {.ordering = ordering::strict}});
  EXPECT_CODE(kind_mismatch, merge_options(stored, {.kind = kind::lifo}));
  EXPECT_CODE(options_mismatch, merge_options(stored, {.kind = kind::fifo,
                                                       .order = {.ordering = ordering::relaxed}}));
  EXPECT_EQ(merge_options(stored, {.kind = kind::fifo}).ordering, ordering::strict);
}

}  // namespace
