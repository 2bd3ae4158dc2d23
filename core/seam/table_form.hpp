#pragma once

/// @file
/// Statements on a table of the application. Core says what a statement compares and sets; the
/// dialect's templates (drivers/*/tables.sql) say how its database writes that. The only texts in
/// here are names that the database's own description of the table has.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/seam/statement.hpp"

namespace tableq::inline v0::core {

/// A column, as the database describes it.
struct table_column {
  std::string name;
  std::string declared;  ///< Its type, as the database writes it.
  /// The template family for its values: `integer`, `time.local`. The part before the dot is a
  /// column_type. Further parts tell what the column cannot do: `typed`, a text that takes no other
  /// text than its type's; `unordered`, no comparison; `coarse`, a time without milliseconds;
  /// `zoned`, that its default is UTC: it is the local time of some zone.
  std::string form;
  bool required = false;    ///< It must not be NULL.
  bool has_value = false;   ///< The database has a default for it, or generates it.
  bool computed = false;    ///< It cannot be written.
  bool unique = false;      ///< Part of a unique index: rows of other tables may reference it.
  std::int64_t room = 0;    ///< An integer's bytes; the most characters of a text. 0: no limit.
  std::string labels = {};  ///< The only texts that it takes, each on a line. Empty: any.
};

/// A value in a statement. Times are in milliseconds since 1970.
struct table_term {
  enum class kind : std::uint8_t {
    null,
    number,       ///< `number`, as a literal, so that a filtered index matches.
    clock,        ///< Now, plus the parameter if there is one.
    clock_minus,  ///< Now, less the parameter.
    given,        ///< The parameter.
    changed,      ///< The column itself, plus `number`.
    fence,        ///< A new fence of 64 bits, with the parameter as the arbitrary part.
    history,      ///< The parameter, then the column itself on the next lines; `number` characters.
  };
  kind is = kind::null;
  std::int64_t number = 0;
  std::string_view parameter = {};
};

struct table_condition {
  enum class kind : std::uint8_t {
    equals,
    differs,  ///< Also from NULL.
    null,
    not_null,
    at_most,
    above,
    null_or_at_most,
  };
  std::size_t column = 0;
  kind is = kind::equals;
  table_term than = {};
};

struct table_assignment {
  std::size_t column = 0;
  table_term to = {};
  table_term if_dead = {};
  bool differs_if_dead = false;  ///< `if_dead` counts.
};

struct table_order {
  std::size_t column = 0;
  bool descending = false;
};

/// One statement on such a table. Columns are indexes into `columns`.
struct table_form {
  std::string schema = {};  ///< Empty: the session's default.
  std::string table = {};
  const std::vector<table_column>* columns = nullptr;
  std::vector<std::size_t> key = {};  ///< Empty: the database's own address of a row.
  std::vector<std::size_t> read = {};
  std::vector<std::size_t> written = {};  ///< Columns of an insert; parameters `v0`, `v1`, ...
  std::vector<table_condition> where = {};
  std::vector<table_assignment> set = {};
  std::vector<table_order> order = {};
  /// A row is dead if one of these holds; empty: never.
  std::vector<table_condition> dead = {};
  bool may_give_up = false;       ///< A row is also dead if its item parameter `final` is not zero.
  std::vector<field> items = {};  ///< The parameters of each item.
  std::size_t timed = 0;          ///< The column whose lowest time is asked for.
  std::string index = {};         ///< The name of a new index on `order`, of the rows in `where`.
  bool strict = false;            ///< A take waits for locked rows.
};

/// The texts of one statement.
struct table_text {
  std::string many;  ///< For any number of items or rows.
  std::string one;   ///< For one; empty: `many` serves.
};

/// The same, by the source of the clock.
struct table_texts {
  table_text own_clock;    ///< The database's function.
  table_text given_clock;  ///< The parameter `now`.
};

}  // namespace tableq::inline v0::core
