#include <gtest/gtest.h>

#include <map>

#include "conformance/claim_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using tableq::message_state;
using tableq::settle_result;

/// Values of plain SQL that break tableq's rules. Some tables check them, others do not.
class foreign_values : public claim_test {
 protected:
  /// @return whether the table took it.
  bool insert(const std::string& payload, const std::string& column, const std::string& literal) {
    return here().takes("INSERT INTO jobs (payload, \"" + column + "\") VALUES (" +
                        here().bytes_literal(payload) + ", " + literal + ")");
  }
  /// Good messages, and one for each literal between them. @return how many there are.
  std::size_t insert_each(const std::string& column, const std::vector<std::string>& literals) {
    std::size_t sent = 2;
    jobs().enqueue("good");
    for (std::size_t i = 0; i < literals.size(); ++i) {
      if (insert("odd " + std::to_string(i), column, literals[i])) ++sent;
    }
    jobs().enqueue("good");
    return sent;
  }
  /// Takes and fails all, until nothing comes back. @return the takes of each payload.
  std::map<std::string, int> run_down() {
    std::map<std::string, int> out;
    for (auto got = jobs().take(20); !got.empty(); got = jobs().take(20)) {
      for (const auto& each : got) {
        ++out[each.payload];
        EXPECT_EQ(jobs().fail(each.receipt, "no", {.delay = 0ms}), settle_result::applied);
      }
    }
    return out;
  }
};
TABLEQ_ON_BACKENDS(foreign_values, shared_backends);

const std::vector<std::string>& numbers_below_one() {
  static const std::vector<std::string> all{"0", "-1", "-2147483648"};
  return all;
}

TEST_P(foreign_values, of_a_limit_of_attempts_lose_no_message) {
  jobs({.max_attempts = 2});
  const std::size_t sent = insert_each("max_attempts", numbers_below_one());
  const auto takes = run_down();
  EXPECT_EQ(takes.at("good"), 4) << "two messages, each twice";
  for (const auto& [payload, count] : takes) EXPECT_LE(count, 4) << payload;
  EXPECT_EQ(jobs().stats().dead, sent);
  EXPECT_EQ(jobs().redrive_all().count, sent) << "none is lost";
}

TEST_P(foreign_values, of_a_limit_of_attempts_let_leases_end) {
  jobs({.max_attempts = 2});
  const std::size_t sent = insert_each("max_attempts", numbers_below_one());
  for (int i = 0; i < 3; ++i) {
    static_cast<void>(jobs().take(20));
    clock.advance(31s);
  }
  EXPECT_EQ(jobs().stats().dead, sent);
}

TEST_P(foreign_values, of_a_limit_of_attempts_are_completed_and_released) {
  jobs({.keep_completed = true});
  const std::size_t sent = insert_each("max_attempts", numbers_below_one());
  const auto first = jobs().take(20);
  for (const auto& each : first) {
    EXPECT_EQ(jobs().extend(each.receipt, 1min), settle_result::applied);
    EXPECT_EQ(jobs().release(each.receipt), settle_result::applied);
  }
  const auto second = jobs().take(20);
  EXPECT_EQ(second.size() + jobs().stats().dead, sent);
  for (const auto& each : second) EXPECT_EQ(jobs().complete(each.receipt), settle_result::applied);
  EXPECT_EQ(jobs().stats().done + jobs().stats().dead, sent);
}

TEST_P(foreign_values, of_keys_are_taken_and_settled_like_any_other) {
  jobs({.max_attempts = 1, .key_window = 1h, .dead_letters = "morgue"});
  const std::string long_key(300, 'k');
  const std::string longer(1500, 'k');
  const std::size_t sent = insert_each(
      "key", {here().key_literal(long_key), here().key_literal(""), here().key_literal(longer)});
  auto got = jobs().take(20);
  ASSERT_EQ(got.size(), sent);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const auto result =
        i % 2 == 0 ? jobs().complete(got[i].receipt) : jobs().fail(got[i].receipt, "no");
    EXPECT_EQ(result, settle_result::applied) << got[i].payload;
  }
  const std::size_t letters = db_with_clock().claim("morgue").stats().ready;
  EXPECT_EQ(letters, sent / 2);
  EXPECT_EQ(jobs().redrive_all().count, letters);
  EXPECT_EQ(jobs().take(20).size(), letters);
  clock.advance(2h);
  jobs().enqueue("last", {.key = "mine"});
  EXPECT_EQ(jobs().stats().done, 0U) << "keys whose window is over are removed";
}

TEST_P(foreign_values, of_keys_are_seen_cancelled_and_replaced) {
  jobs();
  const std::size_t sent =
      insert_each("key", {here().key_literal(std::string(300, 'k')), here().key_literal("")});
  EXPECT_EQ(jobs().list(message_state::ready).size(), sent);
  EXPECT_EQ(jobs().peek(20).size(), sent);
  jobs().enqueue("mine", {.key = "k"});
  for (const auto& each : jobs().list(message_state::ready))
    EXPECT_EQ(jobs().cancel(each.id), tableq::change_result::applied) << each.payload;
}

TEST_P(foreign_values, of_groups_are_taken_and_settled_like_any_other) {
  jobs({.max_attempts = 1, .groups = tableq::group_options{}});
  jobs().enqueue("head", {.group = "g"});
  jobs().enqueue("held", {.group = "g"});
  const std::size_t sent =
      insert_each("group_key", {here().key_literal(std::string(300, 'g')), here().key_literal("")});
  std::size_t seen = 0;
  for (auto got = jobs().take(20); !got.empty(); got = jobs().take(20)) {
    seen += got.size();
    for (std::size_t i = 0; i < got.size(); ++i) {
      const auto result =
          i % 2 == 0 ? jobs().complete(got[i].receipt) : jobs().fail(got[i].receipt, "no");
      EXPECT_EQ(result, settle_result::applied) << got[i].payload;
    }
  }
  EXPECT_EQ(seen, sent + 2);
}

}  // namespace
