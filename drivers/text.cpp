#include "drivers/text.hpp"

#include "core/seam/contract.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string>
#include <utility>

#include <boost/algorithm/string/replace.hpp>

#include <tableq/error.hpp>

namespace tableq::inline v0::drivers {
namespace {

constexpr std::string_view own_identity = "own_identity";

bool name_character(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string quote(std::string_view name, const dialect& definition) {
  std::string out(1, definition.quote_open);
  out += name;
  out += definition.quote_close;
  return out;
}

std::string qualified(std::string_view name, const dialect& definition,
                      const core::table_names& names) {
  return names.schema.empty() ? quote(name, definition)
                              : quote(names.schema, definition) + "." + quote(name, definition);
}

/// The end of a text between two equal marks such as `$$` or `$body$` that begins a statement's
/// rest; zero if none begins there.
std::size_t end_of_marked(std::string_view sql) {
  if (!sql.starts_with('$')) return 0;
  std::size_t size = 1;
  while (size < sql.size() && name_character(sql[size])) ++size;
  if (size == sql.size() || sql[size] != '$' || std::isdigit(static_cast<unsigned char>(sql[1])))
    return 0;
  const std::string_view mark = sql.substr(0, size + 1);
  const std::size_t end = sql.find(mark, mark.size());
  return end == std::string_view::npos ? sql.size() : end + mark.size();
}

/// Walks over a text: calls `literal` with each unchanged part and `parameter` with each name.
template <class Literal, class Parameter>
void walk(std::string_view sql, Literal literal, Parameter parameter) {
  std::size_t i = 0;
  while (i < sql.size()) {
    const char c = sql[i];
    if (sql.substr(i).starts_with("--")) {
      const std::size_t end = std::min(sql.find('\n', i), sql.size());
      literal(sql.substr(i, end - i));
      i = end;
    } else if (c == '\'' || c == '"' || c == '`') {
      const std::size_t end = std::min(sql.find(c, i + 1), sql.size() - 1);
      literal(sql.substr(i, end + 1 - i));
      i = end + 1;
    } else if (const std::size_t marked = end_of_marked(sql.substr(i)); marked != 0) {
      literal(sql.substr(i, marked));
      i += marked;
    } else if (c == ':' && i + 1 < sql.size() && sql[i + 1] == ':') {
      literal(sql.substr(i, 2));
      i += 2;
    } else if (c == ':' && i + 1 < sql.size() && name_character(sql[i + 1])) {
      std::size_t end = i + 1;
      while (end < sql.size() && name_character(sql[end])) ++end;
      parameter(sql.substr(i + 1, end - i - 1));
      i = end;
    } else {
      // Up to the next character that may begin one of the above, or end a statement.
      const std::size_t end = std::min(sql.find_first_of("-'\"`:;$/[", i + 1), sql.size());
      const std::size_t length = c == ';' ? 1 : end - i;
      literal(sql.substr(i, length));
      i += length;
    }
  }
}

std::optional<std::size_t> position(std::span<const core::field> fields, std::string_view name) {
  const std::size_t at = core::place_among(fields, name);
  return at == core::contract::no_place ? std::nullopt : std::optional(at);
}

/// A piece of a text; each `{items: ...}` is a separate piece.
struct part {
  std::string_view sql;
  bool repeated = false;
};

std::vector<part> parts_of(std::string_view sql) {
  constexpr std::string_view opening = "{items:";
  std::vector<part> out;
  for (;;) {
    const std::size_t begin = sql.find(opening);
    const std::size_t end = begin == std::string_view::npos ? begin : sql.find('}', begin);
    if (end == std::string_view::npos) break;
    out.push_back({.sql = sql.substr(0, begin)});
    const std::size_t inside = sql.find_first_not_of(' ', begin + opening.size());
    out.push_back({.sql = sql.substr(inside, end - inside), .repeated = true});
    sql.remove_prefix(end + 1);
  }
  out.push_back({.sql = sql});
  return out;
}

[[noreturn]] void unknown_parameter(const core::contract& contract, std::string_view name) {
  throw error(errc::invalid_argument, advice::never,
              "the statement names a parameter that its contract lacks: " + std::string(name),
              {.operation = std::string(contract.name)});
}

}  // namespace

std::string fill_names(std::string_view text, const dialect& definition,
                       const core::table_names& names) {
  constexpr std::string_view beside = "{table:";
  constexpr std::string_view index = "{index:";
  constexpr std::string_view own = "{table}";
  std::string out;
  out.reserve(text.size() + 64);
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find('{'), text.size());
    out += text.substr(0, brace);
    text.remove_prefix(brace);
    const auto* const found = std::ranges::find_if(
        core::shared_tables,
        [&](const core::shared_table& each) { return text.starts_with(each.placeholder); });
    const std::size_t end = text.find('}');
    if (text.starts_with(own)) {
      out += qualified(names.table, definition, names);
      text.remove_prefix(own.size());
    } else if (found != core::shared_tables.end()) {
      out += qualified(names.prefix + std::string(found->name), definition, names);
      text.remove_prefix(found->placeholder.size());
    } else if ((text.starts_with(beside) || text.starts_with(index)) &&
               end != std::string_view::npos) {
      const std::string name =
          names.table + "_" + std::string(text.substr(beside.size(), end - beside.size()));
      out += text.starts_with(index) ? qualified(name, definition, names) : quote(name, definition);
      text.remove_prefix(end + 1);
    } else if (!text.empty()) {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string fill_depth(std::string_view text, int depth) {
  return boost::algorithm::replace_first_copy(std::string(text), "{depth}", std::to_string(depth));
}

std::string fill_role(std::string_view text, const dialect& definition,
                      const core::table_names& names, std::string_view user) {
  std::string out = fill_names(text, definition, names);
  boost::algorithm::replace_all(out, "{schema}", quote(names.schema, definition));
  boost::algorithm::replace_all(out, "{user}", quote(user, definition));
  return out.empty() ? out : out + ";\n";
}

text compile(std::string_view filled, const core::contract& contract, const style& target) {
  text out;
  out.sql.reserve(filled.size());
  out.name = contract.name;
  out.writes = contract.writes;
  std::vector<std::pair<std::string_view, std::size_t>> seen;  // with the row of an item's value
  const auto add = [&](std::string_view name, std::size_t row) {
    parameter& added = out.parameters.emplace_back();
    added.row = row;
    if (const auto shared = position(contract.shared, name)) {
      added.type = contract.shared[*shared].type;
      added.source = *shared;
    } else if (const auto item = position(contract.items, name)) {
      added.array = target.batches == batching::arrays && target.arrays;
      const bool as_text = target.batches == batching::arrays && !target.arrays;
      added.type = as_text ? core::value_type::text : contract.items[*item].type;
      added.source = *item;
      added.item = true;
    } else if (name == own_identity) {
      added.identity = true;
    } else if (name == "now") {
      added.clock = true;
    } else {
      unknown_parameter(contract, name);
    }
  };
  const auto place = [&](std::string_view name, std::size_t row) {
    if (target.markers == marker::question) {
      add(name, row);
      out.sql += '?';
      return;
    }
    const std::pair mine(name, position(contract.items, name) ? row : 0);
    const auto known = std::find(seen.begin(), seen.end(), mine);
    const auto number = static_cast<std::size_t>(known - seen.begin()) + 1;
    if (known == seen.end()) {
      seen.push_back(mine);
      add(name, row);
    }
    out.sql += target.markers == marker::numbered ? '$' : '?';
    out.sql += std::to_string(number);
  };
  const auto literal = [&](std::string_view piece) { out.sql += piece; };
  for (const part& each : parts_of(filled)) {
    const std::size_t copies = each.repeated ? target.rows : 1;
    if (each.repeated) out.rows = copies;
    for (std::size_t row = 0; row < copies; ++row) {
      if (row != 0) out.sql += ", ";
      walk(each.sql, literal, [&](std::string_view name) {
        if (each.repeated && name == "item") {
          out.sql += std::to_string(row);
        } else {
          place(name, row);
        }
      });
    }
  }
  if (target.bare) {
    out.bare = true;
    out.given_id = position(contract.items, "id");
  }
  if (!contract.columns.empty()) {
    if (!contract.items.empty() && target.batches != batching::loop)
      out.columns.push_back(core::value_type::integer);
    for (const core::field& column : contract.columns) out.columns.push_back(column.type);
  }
  return out;
}

std::size_t values_of_item(std::string_view text) {
  std::size_t out = 0;
  const auto count = [&](std::string_view name) { out += name == "item" ? 0 : 1; };
  for (const part& each : parts_of(text)) {
    if (each.repeated)
      walk(
          each.sql, [](std::string_view /*rest*/) {}, count);
  }
  return out;
}

std::vector<std::string> split_script(std::string_view script) {
  std::vector<std::string> out;
  std::string statement;
  const auto finish = [&] {
    if (statement.find_first_not_of(" \n\r\t") != std::string::npos) out.push_back(statement);
    statement.clear();
  };
  walk(
      script,
      [&](std::string_view piece) {
        if (piece == ";") {
          finish();
        } else {
          statement += piece;
        }
      },
      [&](std::string_view name) { statement.append(":").append(name); });
  finish();
  return out;
}

std::string with_literals(std::string_view filled, const core::contract& contract,
                          std::span<const core::value> shared) {
  std::string out;
  walk(
      filled, [&](std::string_view piece) { out += piece; },
      [&](std::string_view name) {
        const auto at = position(contract.shared, name);
        if (!at) unknown_parameter(contract, name);
        const core::value& given = shared[*at];
        if (given.is == core::value::shape::null) {
          out += "NULL";
        } else if (given.is == core::value::shape::integer) {
          out += std::to_string(given.number);
        } else {
          out += '\'';
          for (const char c : given.data) {
            if (c == '\'') out += '\'';
            out += c;
          }
          out += '\'';
        }
      });
  return out;
}

}  // namespace tableq::inline v0::drivers
