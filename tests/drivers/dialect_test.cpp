#include <tableq/unstable/dialect.hpp>

#include "support/fixture.hpp"

#include <string>

namespace {

using tableq::dialect;
using tableq::errc;

class dialects : public tableq_test::on_each_backend {};

/// The dialect of a place, under another name.
dialect copy_of(const std::string& backend) {
  dialect copy = tableq::find_dialect(backend);
  copy.name = "third_party_" + backend;
  copy.schemes = {"third-party-" + backend};
  return copy;
}

void expect_refused(const dialect& wrong, const std::string& mentioned) {
  try {
    tableq::register_dialect(wrong);
    FAIL() << "no error";
  } catch (const tableq::error& e) {
    EXPECT_EQ(e.code(), errc::invalid_argument);
    EXPECT_EQ(e.backend(), wrong.name);
    EXPECT_EQ(e.operation(), "register_dialect");
    EXPECT_NE(std::string(e.what()).find(mentioned), std::string::npos) << e.what();
  }
}

TEST(built_in_dialects, pass_the_check_of_registered_ones) {
  for (const std::string& name : tableq::dialects()) {
    if (name.starts_with("third_party_")) continue;
    SCOPED_TRACE(name);
    EXPECT_NO_THROW(tableq::register_dialect(copy_of(name)));
  }
}

TEST_P(dialects, of_third_parties_are_registered_at_run_time) {
  const dialect mine = copy_of(db().backend());
  tableq::register_dialect(mine);
  const std::string url = here().url();
  const std::string theirs = mine.schemes.front() + url.substr(url.find("://"));
  tableq::database other = tableq::database::open(theirs, {.table_prefix = "third_"});
  EXPECT_EQ(other.backend(), mine.name);
  auto mail = other.fifo("mail");
  mail.enqueue("hello");
  EXPECT_EQ(mail.dequeue()->payload, "hello");
  EXPECT_TRUE(other.drop("mail"));
}

TEST_P(dialects, whose_undo_fails_tell_of_settlements_only_what_is_stored) {
  dialect mine = copy_of(db().backend());
  mine.name = "cannot_undo_" + db().backend();
  mine.schemes = {"cannot-undo-" + db().backend()};
  mine.products = {};  // else ODBC would choose it
  mine.rollback = "CANNOT UNDO";
  tableq::register_dialect(mine);
  const std::string url = here().url();
  const std::string theirs = mine.schemes.front() + url.substr(url.find("://"));
  const tableq::open_options options{.table_prefix = "third_", .retry_for = {}};
  tableq::database other = tableq::database::open(theirs, options);
  auto jobs = other.claim("jobs");
  jobs.enqueue_batch({{"a"}, {"b"}});
  const auto taken = jobs.take(2);
  ASSERT_EQ(jobs.complete(taken.at(0)), tableq::settle_result::applied);
  std::size_t leased = 0;
  try {
    EXPECT_EQ(jobs.complete_batch(taken).at(1), tableq::settle_result::applied);
  } catch (const tableq::error& e) {
    EXPECT_EQ(e.code(), errc::connection_lost);
    leased = 1;
  }
  EXPECT_EQ(tableq::database::open(url, options).claim("jobs").stats().leased, leased);
  EXPECT_TRUE(other.drop("jobs"));
}

TEST_P(dialects, that_lack_a_statement_are_refused_by_its_name) {
  dialect wrong = copy_of(db().backend());
  const std::size_t at = wrong.statements.find("claim.take");
  ASSERT_NE(at, std::string::npos);
  wrong.statements.replace(at, 10, "claim.tale");
  expect_refused(wrong, "claim.take");
}

TEST_P(dialects, that_lack_a_fragment_are_refused_by_its_name) {
  dialect wrong = copy_of(db().backend());
  const std::string mark = "-- fragment: retry_delay";
  const std::size_t at = wrong.statements.find(mark);
  ASSERT_NE(at, std::string::npos);
  wrong.statements.replace(at, mark.size(), "-- fragment: retry_decay");
  expect_refused(wrong, "{retry_delay}");
}

TEST_P(dialects, that_lack_ddl_or_a_function_are_refused) {
  for (const char* part : {"pending", "concurrency"}) {
    dialect no_ddl = copy_of(db().backend());
    no_ddl.ddl.erase(part);
    expect_refused(no_ddl, part);
  }
  dialect no_function = copy_of(db().backend());
  no_function.classify = nullptr;
  expect_refused(no_function, "classify");
  dialect no_transport = copy_of(db().backend());
  no_transport.transport = "pigeon";
  expect_refused(no_transport, "pigeon");
}

TEST_P(dialects, may_not_take_the_scheme_of_another) {
  dialect thief = copy_of(db().backend());
  thief.name = "thief";
  thief.schemes = tableq::find_dialect(db().backend()).schemes;
  expect_refused(thief, thief.schemes.front());
}

TEST_P(dialects, that_are_unknown_are_refused_with_a_list) {
  try {
    (void)tableq::find_dialect("nonesuch");
    FAIL() << "no error";
  } catch (const tableq::error& e) {
    EXPECT_NE(std::string(e.what()).find(db().backend()), std::string::npos);
  }
}

TABLEQ_ON_BACKENDS(dialects, distinct_backends);

}  // namespace
