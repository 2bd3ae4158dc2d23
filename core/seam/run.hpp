#pragma once

#include <span>
#include <type_traits>
#include <vector>

#include "core/seam/contract.hpp"
#include "core/seam/driver.hpp"
#include "core/seam/fields.hpp"

namespace tableq::inline v0::core {

/// Runs one statement on a session, as connection::execute does.
template <class Shared, class Item, class Row>
auto run(connection& session, const table_names& names,
         const typed_statement<Shared, Item, Row>& statement,
         const std::type_identity_t<Shared>& shared = {},
         std::span<const std::type_identity_t<Item>> items = {}) {
  return rows_of<Row, Item>(
      session.execute(contract_of(statement.id), names, values_of(shared), values_of(items)));
}

/// A statement with values of its own, for connection::run.
struct kept_call {
  const contract* what = nullptr;
  std::vector<value> shared = {};
  std::vector<value> items = {};

  [[nodiscard]] statement_call call() const {
    return {.what = what, .shared = shared, .items = items};
  }
};

template <class Shared, class Item, class Row>
kept_call call_of(const typed_statement<Shared, Item, Row>& statement,
                  const std::type_identity_t<Shared>& shared = {},
                  std::span<const std::type_identity_t<Item>> items = {}) {
  const auto of_all = values_of(shared);
  const auto of_items = values_of(items);
  return {.what = &contract_of(statement.id),
          .shared = {of_all.begin(), of_all.end()},
          .items = {of_items.begin(), of_items.end()}};
}

}  // namespace tableq::inline v0::core
