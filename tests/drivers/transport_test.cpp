#include "transport_fixture.hpp"

#include <array>
#include <limits>

#include "drivers/opening.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using tableq::core::field;
using tableq::core::row_set;
using tableq::core::value;
using tableq::core::value_type;
using tableq::drivers::boundary;

class transports : public on_each_transport {
 protected:
  /// Sends a value and returns what comes back.
  [[nodiscard]] row_set echo(const value& given) {
    row_set rows(1);
    at().prepare("SELECT :v AS v", a_number, a_number)->run({{&given, 1}, {}, 0}, rows);
    return rows;
  }
};
TABLEQ_ON_BACKENDS(transports, all_backends);

TEST_P(transports, bring_every_integer_back) {
  using limits = std::numeric_limits<std::int64_t>;
  for (const std::int64_t each :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{256}, limits::max(), limits::min()}) {
    EXPECT_EQ(echo(value(each)).integer(0, 0), each);
  }
}

TEST_P(transports, use_a_statement_again_that_failed) {
  executor().script("CREATE TABLE once (v bigint PRIMARY KEY)", boundary::none);
  executor().script("INSERT INTO once VALUES (5)", boundary::none);
  const auto ready = at().prepare("INSERT INTO once VALUES (:v)", a_number, {});
  row_set none;
  const value taken(std::int64_t{5});
  const auto failure = native_failure_of([&] { ready->run({{&taken, 1}, {}, 0}, none); });
  ASSERT_TRUE(failure);
  EXPECT_FALSE(failure->link_lost);
  EXPECT_EQ(tableq::find_dialect(db().backend()).classify(*failure).code,
            tableq::errc::constraint_violated);
  EXPECT_TRUE(executor().alive());
  const value other(std::int64_t{6});
  ready->run({{&other, 1}, {}, 0}, none);
  EXPECT_EQ(at().integer("SELECT count(*) FROM once"), 2);
}

TEST_P(transports, leave_nothing_open_behind_a_failure_among_the_rows) {
  executor().script("CREATE TABLE some_rows (v bigint)", boundary::none);
  executor().script("INSERT INTO some_rows VALUES (1), (2), (-9223372036854775807)",
                    boundary::none);
  const auto ready = at().prepare("SELECT abs(v - 1) AS v FROM some_rows", {}, a_number);
  row_set rows(1);
  EXPECT_TRUE(native_failure_of([&] { ready->run({}, rows); }));
  EXPECT_FALSE(executor().in_transaction());
  executor().script("DROP TABLE some_rows", boundary::none);
}

TEST_P(transports, refuse_a_result_that_lacks_a_column) {
  constexpr std::array two{field{"a", value_type::integer}, field{"b", value_type::integer}};
  row_set rows(2);
  EXPECT_TRUE(native_failure_of([&] { at().prepare("SELECT 1 AS a", {}, two)->run({}, rows); }));
}

TEST_P(transports, ignore_rows_that_nobody_asked_for) {
  row_set none;
  at().prepare("SELECT 1", {}, {})->run({}, none);
  EXPECT_TRUE(none.empty());
}

TEST_P(transports, refuse_sessions_that_are_closed) {
  soci::session closed;
  EXPECT_FALSE(tableq::drivers::fits(*at().kind, {.soci = &closed}, at().definition));
  EXPECT_TRUE(tableq::drivers::fits(*at().kind, {.soci = at().session.get()}, at().definition));
}

}  // namespace
