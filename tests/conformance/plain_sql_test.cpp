#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::string_literals;

class plain_sql : public on_each_kind {
 protected:
  void insert(const std::string& bytes) {
    here().sql("INSERT INTO mail (payload) VALUES (" + here().bytes_literal(bytes) + ")");
  }
};
TABLEQ_ON_KINDS(plain_sql, shared_backends);

TEST_P(plain_sql, insert_is_a_normal_message) {
  any_queue mail = make("mail");
  const std::string sent = "by hand\0\xFF"s;
  insert(sent);
  EXPECT_EQ(mail.waiting(), 1U);
  EXPECT_EQ(mail.peek(1), std::vector{sent});
  const auto got = mail.take();
  ASSERT_TRUE(got);
  EXPECT_EQ(got->payload, sent);
  EXPECT_GT(got->id.value, 0);
  EXPECT_FALSE(mail.take());
}

TEST_P(plain_sql, inserts_and_enqueues_share_one_order) {
  if (!can().ids_from_one) GTEST_SKIP() << "each server draws ids from a range of its own";
  any_queue mail = make("mail");
  mail.put("p0");
  insert("p1");
  mail.put("p2");
  insert("p3");
  std::vector<std::string> got = payloads_of(mail.take_up_to(10));
  if (kind() == tableq::kind::lifo) std::reverse(got.begin(), got.end());
  // A heap has no order, and messages that fall due within one millisecond are equal.
  if (kind() == tableq::kind::heap || kind() == tableq::kind::pending) {
    std::sort(got.begin(), got.end());
  }
  EXPECT_EQ(got, numbered(4));
}

TEST_P(plain_sql, an_insert_rolled_back_is_no_message) {
  any_queue mail = make("mail");
  here().sql("BEGIN TRANSACTION");
  insert("never");
  here().sql("ROLLBACK");
  EXPECT_FALSE(mail.take());
}

TEST_P(plain_sql, a_text_payload_is_its_bytes) {
  any_queue mail = make("mail");
  here().sql("INSERT INTO mail (payload) VALUES (" + here().text_payload("it's plain") + ")");
  EXPECT_EQ(mail.take()->payload, "it's plain");
}

TEST_P(plain_sql, an_insert_without_payload_is_refused_by_the_table) {
  any_queue mail = make("mail");
  EXPECT_THROW(here().sql("INSERT INTO mail (payload) VALUES (NULL)"), std::runtime_error);
  EXPECT_FALSE(mail.take());
}

TEST_P(plain_sql, a_time_that_is_a_text_is_refused_or_told_by_inspect) {
  any_queue mail = make("mail");
  const auto tells = [&] {
    const auto found = db().inspect();
    return std::ranges::any_of(found, [](const tableq::finding& each) {
      return each.subject == "mail" && contains(each.what, "due_at is a text");
    });
  };
  insert("in time");
  EXPECT_FALSE(tells());
  const bool claim = kind() == tableq::kind::claim;
  if (!claim && kind() != tableq::kind::pending) return;
  const std::string insert_text = claim ? "INSERT INTO mail (payload, state, due_at) VALUES ("
                                        : "INSERT INTO mail (payload, due_at) VALUES (";
  try {
    here().sql(insert_text + here().bytes_literal("x") + (claim ? ", 2" : "") + ", 'tomorrow')");
  } catch (const std::runtime_error&) {
    EXPECT_FALSE(tells()) << "the database has refused it";
    return;
  }
  EXPECT_TRUE(tells());
}

TEST_P(plain_sql, an_enqueue_is_a_row_that_plain_sql_can_count_and_delete) {
  any_queue mail = make("mail");
  mail.put_all(numbered(3));
  EXPECT_EQ(here().sql("SELECT count(*) FROM mail").at(0).at(0), "3");
  here().sql("DELETE FROM mail WHERE payload = " + here().bytes_literal("p1"));
  EXPECT_EQ(mail.take_up_to(10).size(), 2U);
}

}  // namespace
