#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "core/table/layout.hpp"

namespace tableq::inline v0::core {

/// An index of a table, as the database describes it.
struct table_index {
  struct part {
    std::string column = {};  ///< Empty: an expression, or not in the order of the column's type.
    bool descending = false;
  };
  std::string name = {};
  std::vector<part> parts = {};
  std::string condition = {};  ///< Of its rows; empty: all rows.
};

/// The need of a statement: an index that finds its rows in order, without reading others.
struct index_need {
  enum class purpose : std::uint8_t {
    /// Each of `rows` must lead the index or be its condition.
    take,
    /// The state must lead the index if it is one value: with another index of the state the
    /// planner may prefer that, and read all taken rows.
    lease,
  };
  purpose of = purpose::take;
  std::vector<table_condition> rows = {};  ///< All that the statement knows of them.
  std::vector<table_order> order = {};
  std::optional<std::size_t> state = {};  ///< Its column, for a lease.
};

/// An index that would meet a need.
struct wanted_index {
  std::vector<table_condition> rows = {};  ///< Those that it has; empty: all.
  std::vector<table_order> columns = {};
};

/// The needs of a mapping: those of the take and of the search for ended leases.
std::vector<index_need> needs_of(const table_layout& layout);

/// The index to make for a need.
wanted_index wanted_for(const index_need& need, const capabilities& features);

/// The terms that AND joins in the condition of an index, as any database prints it, in one
/// spelling. Equal texts alone count: a term that is no comparison of a column with a number, a
/// truth value or NULL equals none of a need.
std::set<std::string> condition_terms(std::string_view text);

/// How the database writes a condition that has no parameter.
using row_text = std::function<std::string(const table_condition&)>;

/// Whether an index meets a need. An index whose condition has a term of its own does not.
bool serves(const table_index& index, const index_need& need, const row_text& text,
            const std::vector<table_column>& columns, const capabilities& features);

}  // namespace tableq::inline v0::core
