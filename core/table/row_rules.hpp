#pragma once

#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "core/table/layout.hpp"

namespace tableq::inline v0::core {

/// A name that lives as long as the program, `stem` and a number: fields of contracts refer to it.
std::string_view numbered_name(std::string_view stem, std::size_t number);

/// Which rows of a mapped table are in a state, and what a change of state sets. A value that is a
/// text becomes a parameter: no text of a mapping gets into SQL.
///
/// Borrows the layout.
///
/// @par Thread safety
/// Shared objects: unsafe.
class row_rules {
 public:
  using conditions = std::vector<table_condition>;
  using assignments = std::vector<table_assignment>;
  /// Texts of the mapping, by the names of their parameters. Borrowed from the layout.
  using texts = std::map<std::string_view, std::string_view>;

  explicit row_rules(const table_layout& layout) : layout_(layout) {}

  /// The texts since the last call.
  [[nodiscard]] texts used_texts() { return std::exchange(texts_, {}); }

  conditions taken() { return in_state(row_state::taken); }
  conditions ready();
  conditions delayed();
  conditions leased();
  /// Taken rows whose lease has ended.
  conditions expired();
  /// Taken rows whose lease has not ended.
  conditions running();
  conditions done();
  conditions dead();
  /// Taken rows that an operator may let wait again. Without a lease, a row that is completed and
  /// left as it is looks like them.
  conditions stuck();
  /// The row that a receipt holds.
  conditions held();
  /// The rows whose last attempt has been made.
  [[nodiscard]] conditions exhausted() const;

  /// The columns that a take sets.
  assignments take();
  /// The columns that completing sets.
  assignments complete();
  /// The row waits again; or, if `may_die`, stays taken if it is dead.
  assignments back(bool may_die);

  /// Adds an assignment. A column that the mapping names twice is set once, by the last of them.
  static void set(assignments& in, const table_assignment& more);

 private:
  /// Makes the receipt of the take invalid, also where the row's state does not change.
  void end_hold(assignments& in) const;
  conditions in_state(row_state which);
  table_term constant(bool of_done, const table_state& rules, row_state which);
  table_condition is(const state_column& column, bool of_done, row_state which);
  table_term to(const state_column& column, bool of_done, row_state which);

  const table_layout& layout_;
  texts texts_;
};

/// Now, plus a parameter.
table_term from_now(std::string_view parameter);

}  // namespace tableq::inline v0::core
