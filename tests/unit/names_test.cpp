#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <unordered_set>

#include <tableq/tableq.hpp>
#include <tableq/testing.hpp>

namespace {

template <class Value>
std::string printed(const Value& value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

TEST(names, of_enumerators_are_those_of_cpp) {
  EXPECT_EQ(printed(tableq::kind::pending), "pending");
  EXPECT_EQ(printed(tableq::errc::busy), "busy");
  EXPECT_EQ(printed(tableq::advice::session), "session");
  EXPECT_EQ(printed(tableq::role::viewer), "viewer");
  EXPECT_EQ(printed(tableq::ordering::strict), "strict");
  EXPECT_EQ(printed(tableq::schema_policy::verify_only), "verify_only");
  EXPECT_EQ(printed(tableq::notifications::send_only), "send_only");
  EXPECT_EQ(printed(tableq::on_complete::leave), "leave");
  EXPECT_EQ(printed(tableq::key_scope::waiting), "waiting");
  EXPECT_EQ(printed(tableq::on_duplicate::postpone), "postpone");
  EXPECT_EQ(printed(tableq::group_policy::pass), "pass");
  EXPECT_EQ(printed(tableq::message_state::held), "held");
  EXPECT_EQ(printed(tableq::settle_result::lease_lost), "lease_lost");
  EXPECT_EQ(printed(tableq::change_result::running), "running");
  EXPECT_EQ(printed(tableq::enqueue_result::kept_first), "kept_first");
  EXPECT_EQ(printed(tableq::awaited::ending::gone), "gone");
  EXPECT_EQ(printed(tableq::handled::how::given_back), "given_back");
  EXPECT_EQ(printed(tableq::handled::how::kept), "kept");
  EXPECT_EQ(printed(tableq::worker_event::kind::settled_by_handler), "settled_by_handler");
  EXPECT_EQ(printed(tableq::finding::level::warning), "warning");
  EXPECT_EQ(printed(tableq::testing::trouble::deadlock), "deadlock");
  EXPECT_EQ(printed(tableq::testing::moment::after), "after");
}

TEST(names, of_what_is_no_enumerator_are_unknown) {
  constexpr int none = 99;
  EXPECT_EQ(printed(static_cast<tableq::settle_result>(none)), "unknown");
}

TEST(names, of_messages_are_their_numbers) {
  EXPECT_EQ(printed(tableq::message_id{17}), "17");
  EXPECT_EQ(to_string(tableq::message_id{-1}), "-1");
}

TEST(names, of_messages_may_be_hashed) {
  const std::unordered_set<tableq::message_id> ids{{1}, {2}, {1}};
  EXPECT_EQ(ids.size(), 2U);
  const tableq::receipt first{.id = {1}, .fence = 2, .queue = 3};
  const tableq::receipt second{.id = {1}, .fence = 3, .queue = 3};
  const std::unordered_set<tableq::receipt> receipts{first, second, first};
  EXPECT_EQ(receipts.size(), 2U);
}

}  // namespace
