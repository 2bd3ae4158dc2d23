#include <libpq-fe.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "core/input/identifier.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/driver.hpp"
#include "drivers/blocks.hpp"
#include "drivers/dialect_texts.hpp"
#include "drivers/every_text.hpp"
#include "drivers/postgresql/floor/contracts.hpp"
#include "drivers/text.hpp"
#include "drivers/transport/libpq_values.hpp"
#include "support/backends.hpp"
#include "support/called.hpp"
#include "support/fixture.hpp"

namespace {

using tableq::core::contract;
namespace connection = tableq::drivers::libpq;
namespace places = tableq::drivers::postgresql;

struct pq_closer {
  void operator()(PGconn* open) const noexcept { PQfinish(open); }
  void operator()(PGresult* result) const noexcept { PQclear(result); }
};

/// The server's descriptions of the texts, compared with their contracts.
class columns_of_postgresql : public tableq_test::on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    tableq_test::define_all(here().url());
    link_.reset(PQconnectdb(here().url().c_str()));
    ASSERT_EQ(PQstatus(link_.get()), CONNECTION_OK);
  }

  /// Prepares a text with the transport's types, and returns the server's description.
  [[nodiscard]] std::unique_ptr<PGresult, pq_closer> describe(
      const tableq::drivers::text& made) const {
    std::vector<Oid> types;
    for (const auto& each : made.parameters) types.push_back(connection::parameter_type(each));
    const std::unique_ptr<PGresult, pq_closer> prepared(
        PQprepare(link_.get(), "", made.sql.c_str(), static_cast<int>(types.size()), types.data()));
    EXPECT_EQ(PQresultStatus(prepared.get()), PGRES_COMMAND_OK) << PQerrorMessage(link_.get());
    return std::unique_ptr<PGresult, pq_closer>(PQdescribePrepared(link_.get(), ""));
  }
  void compare(tableq::drivers::table_place place) const;

 private:
  std::unique_ptr<PGconn, pq_closer> link_;
};
INSTANTIATE_TEST_SUITE_P(, columns_of_postgresql,
                         testing::Values(&tableq_test::postgresql_backend()),
                         tableq_test::backend_name);

void columns_of_postgresql::compare(tableq::drivers::table_place place) const {
  const tableq::dialect definition = tableq::find_dialect("postgresql");
  const auto blocks = tableq::drivers::split_blocks(definition.statements, {.place = place});
  for (const contract& of : tableq::core::contracts()) {
    const bool may_lack = !of.needed_with(definition.capabilities);
    EXPECT_TRUE(may_lack || blocks.contains(text_name(of))) << of.name;
  }
  for (const auto& [name, filled] : tableq_test::every_text(definition)) {
    SCOPED_TRACE(name);
    std::string kept = name;
    const auto without = [&kept](std::string_view ending) {
      if (!kept.ends_with(ending)) return false;
      kept.resize(kept.size() - ending.size());
      return true;
    };
    without(tableq::drivers::for_payloads);
    const bool one = without(tableq::drivers::for_one);
    std::vector<contract> all;
    for (const contract& each : tableq::core::contracts()) all.push_back(places::with_places(each));
    for (const contract& each : places::own_contracts()) all.push_back(each);
    const auto found = std::ranges::find(all, kept, &contract::name);
    ASSERT_NE(found, all.end());
    const contract& of = *found;
    const auto made =
        tableq::drivers::compile(filled, of,
                                 {.markers = tableq::drivers::marker::numbered,
                                  .batches = one ? tableq::batching::loop : definition.batches});
    const auto told = describe(made);
    ASSERT_EQ(PQnparams(told.get()), static_cast<int>(made.parameters.size()));
    if (of.columns.empty()) continue;
    std::vector<std::string_view> names;
    if (!of.items.empty() && !one) names.emplace_back("item");
    for (const auto& each : of.columns) names.push_back(each.name);
    ASSERT_EQ(PQnfields(told.get()), static_cast<int>(names.size()));
    for (int i = 0; i < PQnfields(told.get()); ++i) {
      const auto at = static_cast<std::size_t>(i);
      EXPECT_EQ(PQfname(told.get(), i), names[at]);
      EXPECT_TRUE(connection::readable_as(made.columns[at], PQftype(told.get(), i))) << names[at];
    }
  }
}

TEST_P(columns_of_postgresql, and_parameters_are_those_of_the_contracts) {
  compare(tableq::drivers::table_place::server);
}

TEST_P(columns_of_postgresql, and_parameters_stay_so_beside_overloads_of_what_the_texts_call) {
  const tableq::dialect definition = tableq::find_dialect("postgresql");
  ASSERT_TRUE(here().overload(tableq_test::called_in(definition)));
  compare(tableq::drivers::table_place::server);
}

TEST_P(columns_of_postgresql, and_parameters_of_texts_for_shards_are_the_same) {
  compare(tableq::drivers::table_place::shard);
}

}  // namespace
