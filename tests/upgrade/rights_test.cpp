#include <gtest/gtest.h>

#include "upgrade/old_tables.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// Users with the rights of version 0.1.0.
class old_rights : public old_tables_test {};
TABLEQ_ON_BACKENDS(old_rights, distinct_backends);

TEST_P(old_rights, suffice_after_the_steps) {
  const auto producer = here().new_user();
  const auto consumer = here().new_user();
  if (!producer || !consumer) GTEST_SKIP() << "the database has no users";
  if (file("producer.sql").empty()) GTEST_SKIP() << "version 0.1.0 ran on no server of this kind";
  make_old_tables();
  const auto granted = [&](const std::string& name, const std::string& to) {
    std::string text = file(name);
    for (std::size_t at = 0; (at = text.find("USER", at)) != std::string::npos; at += to.size())
      text.replace(at, 4, to);
    return text;
  };
  here().sql(granted("producer.sql", producer->name));
  here().sql(granted("consumer.sql", consumer->name));
  db().migrate();

  auto sending =
      tableq::database::open(producer->url, {.schema = tableq::schema_policy::verify_only});
  sending.pending("later").enqueue("by the producer");
  auto reading =
      tableq::database::open(consumer->url, {.schema = tableq::schema_policy::verify_only});
  EXPECT_EQ(reading.pending("later").dequeue_batch(9).size(), 3U);
  EXPECT_CODE(permission_denied, reading.pending("later").enqueue("by the consumer"));
  auto jobs = reading.claim("jobs");
  const auto taken = jobs.take_one();
  ASSERT_TRUE(taken);
  jobs.progress(*taken, 0.5, "half");
  EXPECT_EQ(jobs.extend(*taken, std::chrono::hours{1}), tableq::settle_result::applied);
  EXPECT_TRUE(jobs.get(taken->receipt.id, {.progress = true})->progress);
  for (const auto* user : {&producer->name, &consumer->name}) {
    const rows may = here().sql(granted("rights.sql", *user));
    EXPECT_EQ(may, (rows{{user == &consumer->name ? "consumer" : "producer"}}));
  }
}

}  // namespace
