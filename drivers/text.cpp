#include "drivers/text.hpp"

#include "core/seam/contract.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

#include <tableq/error.hpp>

namespace tableq::inline v0::drivers {
namespace {

constexpr std::string_view own_identity = "own_identity";

bool name_character(char c) noexcept {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::string quote(std::string_view name, const dialect& in) {
  std::string out(1, in.quote_open);
  out += name;
  out += in.quote_close;
  return out;
}

std::string qualified(std::string_view name, const dialect& in, const core::table_names& names) {
  return names.schema.empty() ? quote(name, in) : quote(names.schema, in) + "." + quote(name, in);
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
    } else if (c == '\'' || c == '"') {
      const std::size_t end = std::min(sql.find(c, i + 1), sql.size() - 1);
      literal(sql.substr(i, end + 1 - i));
      i = end + 1;
    } else if (c == ':' && i + 1 < sql.size() && sql[i + 1] == ':') {
      literal(sql.substr(i, 2));
      i += 2;
    } else if (c == ':' && i + 1 < sql.size() && name_character(sql[i + 1])) {
      std::size_t end = i + 1;
      while (end < sql.size() && name_character(sql[end])) ++end;
      parameter(sql.substr(i + 1, end - i - 1));
      i = end;
    } else {
      literal(sql.substr(i, 1));
      ++i;
    }
  }
}

std::optional<std::size_t> position(std::span<const core::field> fields, std::string_view name) {
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const core::field& f) { return f.name == name; });
  if (found == fields.end()) return std::nullopt;
  return static_cast<std::size_t>(found - fields.begin());
}

/// A piece of a text; `{items: ...}` is a piece of its own.
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

[[noreturn]] void unknown_parameter(const core::contract& of, std::string_view name) {
  throw error(errc::invalid_argument, advice::never,
              "the statement names a parameter that its contract lacks: " + std::string(name),
              {.operation = std::string(of.name)});
}

}  // namespace

std::string fill_names(std::string_view text, const dialect& in, const core::table_names& names) {
  constexpr std::string_view table = "{table}";
  constexpr std::string_view index = "{table:";
  constexpr std::string_view catalog = "{catalog}";
  constexpr std::string_view limits = "{limits}";
  std::string out;
  out.reserve(text.size() + 64);
  while (!text.empty()) {
    const std::size_t brace = std::min(text.find('{'), text.size());
    out += text.substr(0, brace);
    text.remove_prefix(brace);
    if (text.starts_with(table)) {
      out += qualified(names.table, in, names);
      text.remove_prefix(table.size());
    } else if (text.starts_with(catalog)) {
      out += qualified(names.catalog, in, names);
      text.remove_prefix(catalog.size());
    } else if (text.starts_with(limits)) {
      out += qualified(names.limits, in, names);
      text.remove_prefix(limits.size());
    } else if (text.starts_with(index) && text.find('}') != std::string_view::npos) {
      const std::size_t end = text.find('}');
      out +=
          quote(names.table + "_" + std::string(text.substr(index.size(), end - index.size())), in);
      text.remove_prefix(end + 1);
    } else if (!text.empty()) {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

std::string fill_role(std::string_view text, const dialect& in, const core::table_names& names,
                      std::string_view user) {
  std::string out = fill_names(text, in, names);
  const auto put = [&out](std::string_view place, const std::string& what) {
    for (std::size_t at = out.find(place); at != std::string::npos; at = out.find(place, at)) {
      out.replace(at, place.size(), what);
      at += what.size();
    }
  };
  put("{schema}", quote(names.schema, in));
  put("{user}", quote(user, in));
  return out.empty() ? out : out + ";\n";
}

text compile(std::string_view filled, const core::contract& of, const style& as) {
  text out;
  out.name = of.name;
  out.writes = of.writes;
  std::vector<std::string_view> seen;
  const auto add = [&](std::string_view name, std::size_t row) {
    parameter& added = out.parameters.emplace_back();
    added.row = row;
    if (const auto shared = position(of.shared, name)) {
      added.type = of.shared[*shared].type;
      added.source = *shared;
      added.clock = *shared == of.now_at;
    } else if (const auto item = position(of.items, name)) {
      added.array = as.batches == batching::arrays && as.arrays;
      const bool as_text = as.batches == batching::arrays && !as.arrays;
      added.type = as_text ? core::value_type::text : of.items[*item].type;
      added.source = *item;
      added.item = true;
    } else if (name == own_identity) {
      added.identity = true;
    } else {
      unknown_parameter(of, name);
    }
  };
  const auto place = [&](std::string_view name, std::size_t row) {
    if (as.markers == marker::question) {
      add(name, row);
      out.sql += '?';
      return;
    }
    const auto known = std::find(seen.begin(), seen.end(), name);
    const auto number = static_cast<std::size_t>(known - seen.begin()) + 1;
    if (known == seen.end()) {
      seen.push_back(name);
      add(name, row);
    }
    out.sql += as.markers == marker::numbered ? '$' : '?';
    out.sql += std::to_string(number);
  };
  const auto literal = [&](std::string_view piece) { out.sql += piece; };
  for (const part& each : parts_of(filled)) {
    const std::size_t copies = each.repeated ? as.rows : 1;
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
  if (as.bare) {
    out.bare = true;
    const auto id = position(of.items, "id");
    for (std::size_t i = 0; id && i < out.parameters.size(); ++i) {
      if (out.parameters[i].item && out.parameters[i].source == *id) out.given_id = i;
    }
  }
  if (!of.columns.empty()) {
    if (!of.items.empty() && as.batches != batching::loop)
      out.columns.push_back(core::value_type::integer);
    for (const core::field& column : of.columns) out.columns.push_back(column.type);
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

std::string with_literals(std::string_view filled, const core::contract& of,
                          std::span<const core::value> shared) {
  std::string out;
  walk(
      filled, [&](std::string_view piece) { out += piece; },
      [&](std::string_view name) {
        const auto at = position(of.shared, name);
        if (!at) unknown_parameter(of, name);
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
