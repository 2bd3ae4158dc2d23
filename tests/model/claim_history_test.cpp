#include <gtest/gtest.h>

#include "model/claim_history.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::settle_result;

constexpr std::int64_t ms = 1'000'000;

/// One message, with times in milliseconds; each call takes one.
class one_message {
 public:
  one_message() { add({.what = claim_deed::put, .when = {0, ms}}); }

  one_message& take(std::int64_t fence, int attempt, std::int64_t at,
                    std::chrono::milliseconds lease = 100ms) {
    return add({.what = claim_deed::take,
                .fence = fence,
                .attempt = attempt,
                .lease = lease,
                .when = {at * ms, (at + 1) * ms}});
  }
  one_message& ask(claim_deed what, std::int64_t fence, std::int64_t at,
                   settle_result result = settle_result::applied) {
    return add({.what = what,
                .fence = fence,
                .lease = 100ms,
                .result = result,
                .when = {at * ms, (at + 1) * ms}});
  }
  [[nodiscard]] std::string verdict(bool complete = false) const {
    return check_claims(all_, complete).value_or("message 1: nothing").substr(11);
  }

 private:
  one_message& add(claim_event one) {
    one.id = {1};
    all_.push_back(one);
    return *this;
  }
  claim_history all_;
};

TEST(claims, settle_once) {
  EXPECT_EQ(one_message()
                .take(1, 1, 10)
                .ask(claim_deed::release, 1, 20)
                .ask(claim_deed::complete, 1, 30)
                .verdict(),
            "a receipt settled twice");
  EXPECT_EQ(one_message()
                .take(1, 1, 10)
                .ask(claim_deed::release, 1, 20)
                .ask(claim_deed::extend, 1, 30)
                .verdict(),
            "a receipt settled twice");
}

TEST(claims, are_settled_by_receipts_that_were_given) {
  EXPECT_EQ(one_message().ask(claim_deed::complete, 1, 20).verdict(),
            "a receipt settled that no take gave");
}

TEST(claims, are_not_refused_without_a_reason) {
  EXPECT_EQ(one_message()
                .take(1, 1, 10)
                .ask(claim_deed::complete, 1, 20, settle_result::lease_lost)
                .verdict(),
            "a settlement was refused without a reason");
}

TEST(claims, lose_no_message) {
  EXPECT_EQ(one_message().take(1, 1, 10).verdict(true), "it was put and never completed");
}

}  // namespace
