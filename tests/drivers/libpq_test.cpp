#include <sys/mman.h>

#include <soci/postgresql/soci-postgresql.h>

#include "support/backends.hpp"
#include "support/text.hpp"
#include "transport_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using tableq::core::field;
using tableq::core::row_set;
using tableq::core::value;
using tableq::core::value_type;
using tableq::drivers::boundary;

class libpq : public on_each_transport {
 protected:
  [[nodiscard]] std::string backend_id() const {
    return std::to_string(at().integer("SELECT pg_backend_pid()"));
  }
};
INSTANTIATE_TEST_SUITE_P(, libpq, testing::Values(&postgresql_backend()), backend_name);

TEST_P(libpq, reads_integers_of_every_width) {
  EXPECT_EQ(at().integer("SELECT CAST(-2 AS smallint)"), -2);
  EXPECT_EQ(at().integer("SELECT CAST(-2 AS integer)"), -2);
  EXPECT_EQ(at().integer("SELECT CAST(2147483648 AS bigint)"), 2147483648);
  EXPECT_EQ(at().integer("SELECT true"), 1);
  EXPECT_EQ(at().integer("SELECT false"), 0);
}

TEST_P(libpq, refuses_columns_of_another_type) {
  for (const char* wrong :
       {"SELECT 1.5", "SELECT CAST('1' AS text)", "SELECT CAST(1 AS numeric)"}) {
    const auto failure = native_failure_of([&] { static_cast<void>(at().integer(wrong)); });
    ASSERT_TRUE(failure) << wrong;
    EXPECT_EQ(failure->sqlstate, "42804");
  }
}

TEST_P(libpq, keeps_notices_to_itself) {
  testing::internal::CaptureStderr();
  executor().script("DO $$ BEGIN RAISE WARNING 'canary'; END $$", boundary::none);
  executor().script("DROP TABLE IF EXISTS never_was", boundary::none);
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

TEST_P(libpq, tells_a_commit_that_rolled_back) {
  executor().script("BEGIN", boundary::begin);
  EXPECT_TRUE(native_failure_of([&] { executor().script("SELECT 1/0", boundary::none); }));
  const auto failure = native_failure_of([&] { executor().script("COMMIT", boundary::commit); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->sqlstate, "25P02");
  EXPECT_FALSE(executor().in_transaction());
}

TEST_P(libpq, shows_no_values_in_its_messages) {
  executor().script("CREATE TABLE once (v text PRIMARY KEY CHECK (v <> 'canary2'))",
                    boundary::none);
  const auto insert = at().prepare("INSERT INTO once VALUES (:v)", text_field, {});
  row_set none;
  const auto failure_with = [&](tableq::drivers::prepared& what, std::string_view given) {
    const value one(given);
    const auto failure = native_failure_of([&] { what.run({{&one, 1}, {}, 0}, none); });
    EXPECT_TRUE(failure) << given;
    // Only the words that quote the value are omitted.
    EXPECT_EQ(failure->sentence.empty(), failure->sqlstate.starts_with("22"));
    EXPECT_FALSE(contains(failure->sentence, "canary")) << failure->sentence;
    EXPECT_FALSE(contains(failure->sentence, "once (v)")) << failure->sentence;
    return failure->sqlstate;
  };
  const value first(std::string_view("canary"));
  insert->run({{&first, 1}, {}, 0}, none);
  EXPECT_EQ(failure_with(*insert, "canary"), "23505");
  EXPECT_EQ(failure_with(*insert, "canary2"), "23514");
  EXPECT_EQ(failure_with(*insert, "canary\xFF"), "22021");
  const auto cast = at().prepare("SELECT CAST(:v AS bigint)", text_field, {});
  EXPECT_EQ(failure_with(*cast, "canary"), "22P02");
}

TEST_P(libpq, leaves_the_words_of_a_function_to_the_servers_log) {
  auto mail = db().fifo("mail");
  here().sql(
      "CREATE FUNCTION quoting() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
      "RAISE unique_violation USING MESSAGE = convert_from(NEW.payload, 'UTF8'); END $$");
  here().sql(
      "CREATE TRIGGER quoting BEFORE INSERT ON mail FOR EACH ROW EXECUTE FUNCTION quoting()");
  const tableq::error refused = thrown_by([&] { mail.enqueue("canary"); });
  EXPECT_EQ(tableq::to_string(refused.code()), "constraint_violated");
  EXPECT_TRUE(contains(refused.what(), "its log has the words")) << refused.what();
  EXPECT_FALSE(contains(refused.what(), "canary")) << refused.what();
}

TEST_P(libpq, tells_a_failed_connect_in_one_line_without_the_password) {
  for (const char* bad : {"postgresql://canary_user:canary_password@127.0.0.1:1,127.0.0.1:2/x",
                          "postgresql://u:canary_password@/x?host=/nonexistent"}) {
    const auto failure = native_failure_of([&] { const opened_transport never(bad); });
    ASSERT_TRUE(failure) << bad;
    EXPECT_TRUE(failure->link_lost);
    EXPECT_FALSE(contains(failure->sentence, "canary_password")) << failure->sentence;
    EXPECT_FALSE(contains(failure->sentence, "\n")) << failure->sentence;
  }
}

TEST_P(libpq, finds_an_idle_session_dead_without_asking) {
  EXPECT_TRUE(executor().alive());
  here().end_session(backend_id());
  EXPECT_FALSE(executor().alive());
}

TEST_P(libpq, finds_a_session_alive_that_has_unread_messages) {
  executor().script("LISTEN tableq_test", boundary::none);
  here().sql("NOTIFY tableq_test");
  EXPECT_EQ(at().integer("SELECT 1"), 1);
  here().sql("NOTIFY tableq_test");
  EXPECT_TRUE(executor().alive());
  EXPECT_EQ(at().integer("SELECT 1"), 1);
}

TEST_P(libpq, finds_the_end_behind_unread_messages) {
  executor().script("LISTEN tableq_test", boundary::none);
  const std::string id = backend_id();
  here().sql("NOTIFY tableq_test");
  here().end_session(id);
  EXPECT_FALSE(executor().alive());
}

TEST_P(libpq, says_that_the_link_is_lost_when_it_is) {
  const auto ready = at().prepare("SELECT 7 AS v", {}, a_number);
  here().end_session(backend_id());
  const auto failure = native_failure_of([&] { run(*ready); });
  ASSERT_TRUE(failure);
  EXPECT_TRUE(failure->link_lost);
  EXPECT_FALSE(executor().alive());
  EXPECT_FALSE(executor().in_transaction());
}

TEST_P(libpq, refuses_what_no_message_can_carry_without_sending_it) {
  // Address space only: nothing of it may be read.
  constexpr std::size_t size = std::size_t{1} << 30U;
  void* const nothing =
      ::mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ASSERT_NE(nothing, MAP_FAILED);
  const value huge(std::string_view(static_cast<const char*>(nothing), size));
  const auto ready = at().prepare("SELECT length(:v) AS v", bytes_field, {});
  row_set none;
  const auto failure = native_failure_of([&] { ready->run({{&huge, 1}, {}, 0}, none); });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->sqlstate, "54000");
  EXPECT_TRUE(executor().alive());
  ::munmap(nothing, size);
}

TEST_P(libpq, speaks_utf8_whatever_the_address_says) {
  const opened_transport other(here().url_with("client_encoding", "LATIN1"));
  row_set rows(1);
  other.prepare("SHOW client_encoding", {}, text_field)->run({}, rows);
  EXPECT_EQ(std::get<std::string>(rows.at(0, 0)), "UTF8");
}

}  // namespace
