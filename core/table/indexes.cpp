#include "core/table/indexes.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

#include "core/table/row_rules.hpp"

namespace tableq::inline v0::core {
namespace {

using condition = table_condition::kind;

/// No index can have a condition whose value a parameter gives.
bool has_parameter(const table_condition& each) {
  return each.than.is == table_term::kind::given;
}

/// Whether all rows of the condition have one value in its column, which may lead an index then.
bool equal_in_all(const table_condition& each) {
  return each.is == condition::equals || each.is == condition::null;
}

bool may_lead(const table_condition& each, const capabilities& features) {
  return equal_in_all(each) && (each.is != condition::null || !features.null_breaks_order);
}

/// Whether an index without this condition is none for the need.
bool must_meet(const index_need& need, const table_condition& each) {
  if (need.of == index_need::purpose::take) return true;
  return each.column == need.state && equal_in_all(each);
}

bool fixed_column(const index_need& need, std::size_t column) {
  return std::any_of(need.rows.begin(), need.rows.end(), [&](const table_condition& each) {
    return each.column == column && equal_in_all(each);
  });
}

/// The order without the columns that are equal in all rows, or stand in it before.
std::vector<table_order> needed_order(const index_need& need,
                                      const std::vector<table_order>& order) {
  std::vector<table_order> out;
  for (const table_order& each : order) {
    const bool again = std::any_of(out.begin(), out.end(), [&](const table_order& before) {
      return before.column == each.column;
    });
    if (!again && !fixed_column(need, each.column)) out.push_back(each);
  }
  return out;
}

std::optional<index_need> take_need(const table_layout& layout) {
  index_need out;
  for (const table_condition& each : row_rules(layout).ready()) {
    // Nor does an index lead with what nearly all rows have: a key that is not NULL.
    const bool fixed = each.is != condition::null_or_at_most && each.is != condition::not_null;
    if (fixed) out.rows.push_back(each);
  }
  out.order = needed_order(out, layout.order);
  // A heap is read in any order.
  if (out.rows.empty() && out.order.empty()) return std::nullopt;
  return out;
}

std::optional<index_need> lease_need(const table_layout& layout) {
  if (!layout.lease_until) return std::nullopt;
  index_need out{.of = index_need::purpose::lease, .order = {{*layout.lease_until, false}}};
  if (layout.state) out.state = layout.state->column;
  for (const table_condition& each : row_rules(layout).taken()) {
    // The lease itself may be what tells that a row is taken.
    const bool key =
        std::find(layout.key.begin(), layout.key.end(), each.column) != layout.key.end();
    if (each.column != *layout.lease_until && !key) out.rows.push_back(each);
  }
  out.rows.push_back({*layout.lease_until, condition::not_null});
  return out;
}

bool drop_end(std::string& of, std::string_view end) {
  if (!of.ends_with(end)) return false;
  of.erase(of.size() - end.size());
  return true;
}

/// The same spelling for `(Busy) == (0)`, `busy = '0'::integer` and the like.
std::string spelled(std::string term) {
  term.erase(0, term.find_first_not_of(" ("));
  term.erase(term.find_last_not_of(" )") + 1);
  for (const char* cast : {"::integer", "::bigint", "::smallint"}) {
    if (!drop_end(term, cast) || !drop_end(term, "'")) continue;
    term.erase(std::min(term.rfind('\''), term.size()), 1);
  }
  drop_end(term, ")");
  for (const std::string_view sign : {" =", "= ", "==", ")=", "=("}) {
    for (std::size_t at = 0; (at = term.find(sign)) != std::string::npos;) {
      term.replace(at, sign.size(), "=");
    }
  }
  // Some databases write a truth value without a comparison.
  if (drop_end(term, "=false")) term.insert(0, "not ");
  drop_end(term, "=true");
  return term;
}

/// The columns that an index adds to those that lead: from `first` on, in the order of the need or
/// in its reverse.
bool follows(const table_index& index, std::size_t first, const std::vector<table_order>& order,
             const std::vector<table_column>& columns) {
  if (index.parts.size() < first + order.size()) return false;
  bool reversed = false;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const table_index::part& part = index.parts[first + i];
    if (part.column != columns[order[i].column].name) return false;
    const bool differs = part.descending != order[i].descending;
    if (i == 0) reversed = differs;
    if (differs != reversed) return false;
  }
  return true;
}

}  // namespace

std::vector<index_need> needs_of(const table_layout& layout) {
  std::vector<index_need> out;
  for (const auto& each : {take_need(layout), lease_need(layout)}) {
    if (each) out.push_back(*each);
  }
  return out;
}

std::set<std::string> condition_terms(std::string_view text) {
  std::set<std::string> out;
  std::string term;
  const auto add = [&](char c) {
    term += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  };
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool apart = std::isspace(static_cast<unsigned char>(text[at])) != 0;
    if (text[at] == '"' || text[at] == '`' || text[at] == '[') {
      const char close = text[at] == '[' ? ']' : text[at];
      while (++at < text.size()) {
        // A closing quote that stands twice is part of the name.
        if (text[at] == close && !text.substr(++at).starts_with(close)) break;
        add(text[at]);
      }
      --at;
    } else if ((apart || text[at] == '(') && (term.ends_with(" and") || term.ends_with(")and"))) {
      term.erase(term.size() - 3);
      out.insert(spelled(std::exchange(term, {})));
      if (!apart) add('(');
    } else if (!apart) {
      add(text[at]);
    } else if (!term.ends_with(' ')) {
      add(' ');
    }
  }
  out.insert(spelled(std::move(term)));
  return out;
}

wanted_index wanted_for(const index_need& need, const capabilities& features) {
  wanted_index out;
  for (const table_condition& each : need.rows) {
    // Even where its condition says the same, a column that leads an index makes it the better one
    // than an index of the application that begins with that column.
    if (must_meet(need, each) && may_lead(each, features)) {
      out.columns.push_back({each.column, false});
    }
    const bool taken = need.of == index_need::purpose::lease && each.is != condition::not_null;
    if (features.partial_indexes && !has_parameter(each) && !taken) out.rows.push_back(each);
  }
  out.columns.insert(out.columns.end(), need.order.begin(), need.order.end());
  return out;
}

bool serves(const table_index& index, const index_need& need, const row_text& text,
            const std::vector<table_column>& columns, const capabilities& features) {
  const auto terms_of = [&](const table_condition& each) {
    return has_parameter(each) ? std::set<std::string>() : condition_terms(text(each));
  };
  std::set<std::string> has;
  if (!index.condition.empty()) {
    has = condition_terms(index.condition);
    std::set<std::string> known;
    for (const table_condition& each : need.rows) {
      known.merge(terms_of(each));
      if (each.is == condition::equals) known.merge(terms_of({each.column, condition::not_null}));
    }
    if (!std::includes(known.begin(), known.end(), has.begin(), has.end())) return false;
  }
  std::size_t first = 0;
  const auto leads = [&](const table_condition& each) {
    return columns[each.column].name == index.parts[first].column && may_lead(each, features);
  };
  while (first < index.parts.size() && std::any_of(need.rows.begin(), need.rows.end(), leads)) {
    ++first;
  }
  const auto met = [&](const table_condition& each) {
    if (!must_meet(need, each)) return true;
    if (need.of == index_need::purpose::take && !has.empty() && !has_parameter(each)) {
      const std::set<std::string> own = terms_of(each);
      if (std::includes(has.begin(), has.end(), own.begin(), own.end())) return true;
    }
    const auto end = index.parts.begin() + static_cast<std::ptrdiff_t>(first);
    return std::any_of(index.parts.begin(), end, [&](const table_index::part& part) {
      return part.column == columns[each.column].name;
    });
  };
  return std::all_of(need.rows.begin(), need.rows.end(), met) &&
         follows(index, first, need.order, columns);
}

}  // namespace tableq::inline v0::core
