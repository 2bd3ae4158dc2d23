#include <gtest/gtest.h>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

class errors_of_kind : public on_each_kind {};
TABLEQ_ON_KINDS(errors_of_kind, shared_backends);

TEST_P(errors_of_kind, messages_tell_where_they_come_from_and_no_sql) {
  any_queue mail = make("mail");
  here().sql("DROP TABLE mail");
  const std::vector<tableq::error> all = {thrown_by([&] { mail.put("x"); }),
                                          thrown_by([&] { static_cast<void>(mail.take()); }),
                                          thrown_by([&] { static_cast<void>(mail.peek(1)); }),
                                          thrown_by([&] { static_cast<void>(mail.waiting()); })};
  for (const tableq::error& each : all) {
    EXPECT_EQ(each.code(), tableq::errc::not_found) << each.what();
    EXPECT_EQ(each.backend(), db().backend());
    EXPECT_FALSE(each.operation().empty());
    EXPECT_EQ(std::string(each.what()).rfind(each.backend() + ": " + each.operation() + ": ", 0),
              0U)
        << each.what();
    for (const char* word : {"SELECT", "INSERT", "DELETE", "UPDATE", "RETURNING", "VALUES", "$1"}) {
      EXPECT_FALSE(contains(each.what(), word)) << each.what();
    }
    EXPECT_FALSE(contains(each.what(), "\n")) << each.what();
  }
}

class errors : public on_each_backend {};
TABLEQ_ON_BACKENDS(errors, shared_backends);

TEST_P(errors, a_refused_item_refuses_its_whole_batch) {
  for (const tableq::kind each : all_kinds()) {
    const std::string name(tableq::to_string(each));
    any_queue queue(db(), each, name);
    here().forbid_equal_payloads(name);
    const tableq::error refused = thrown_by([&] { queue.put_all({"a", "b", "a", "c"}); });
    EXPECT_EQ(refused.code(), tableq::errc::constraint_violated) << refused.what();
    EXPECT_EQ(refused.advice(), tableq::advice::never);
    EXPECT_EQ(queue.waiting(), 0U);
    EXPECT_EQ(queue.put_all({"a", "b"}).size(), 2U);
  }
}

}  // namespace
