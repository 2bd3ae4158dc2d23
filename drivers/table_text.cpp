#include "drivers/dialect_texts.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <utility>

#include <boost/algorithm/string/replace.hpp>

#include <tableq/error.hpp>

#include "core/base/enum_names.hpp"

namespace tableq::inline v0::drivers {
namespace {

using core::table_assignment;
using core::table_column;
using core::table_condition;
using core::table_form;
using core::table_term;

std::string prefixed(std::string_view prefix, std::string text) {
  return prefix.empty() ? text : std::string(prefix) + "." + text;
}

// Between conditions.
constexpr const char* both = " AND ";
constexpr const char* either = " OR ";

// The names of conditions' blocks, after `condition.`.
TABLEQ_NAMES(table_condition::kind, equals, differs, null, not_null, at_most, above,
             null_or_at_most)

/// Writes the parts of one statement.
class table_writer {
 public:
  table_writer(const blocks& templates, const table_form& statement, bool one)
      : templates_(templates), statement_(statement), one_(one) {}

  /// The text in the place of `{what:prefix}`; `known` is false if there is no such place.
  std::string part(std::string_view what, std::string_view prefix, bool& known) const {
    if (what == "table") return table();
    if (what == "keys") return keys(prefix);
    if (what == "same") return same(prefix);
    if (what == "row_equals") return row_equals();
    if (what == "columns") return columns(prefix);
    if (what == "all") return all();
    if (what == "where") return where(prefix);
    if (what == "set") return set(prefix);
    if (what == "order") return order("msg");
    if (what == "indexed") return order({});
    if (what == "index") return quoted_name(statement_.index);
    if (what == "schema") return quoted_name(statement_.schema);
    if (what == "bare") return quoted_name(statement_.table);
    if (what == "dead") return dead(prefix, "4", "0");
    if (what == "locked") return block(lock());
    if (what == "names") return names();
    if (what == "values") return values();
    if (what == "given") return filled(block("given"));
    if (what == "picked_keys") return filled(block("picked_keys"));
    if (what == "arrays") return arrays();
    if (what == "casts") return casts();
    if (what == "parameters") return parameters();
    if (what == "timed") return earliest(column(statement_.timed));
    if (what == "clock") return block("now");
    known = false;
    return {};
  }

  /// Fills the places of a text.
  [[nodiscard]] std::string filled(std::string_view text) const {
    std::string out;
    while (!text.empty()) {
      const std::size_t open = std::min(text.find('{'), text.size());
      out += text.substr(0, open);
      text.remove_prefix(open);
      if (text.empty()) break;
      const std::size_t end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz_:", 1);
      bool known = end != std::string_view::npos && text[end] == '}';
      std::string made;
      if (known) {
        const std::string_view inside = text.substr(1, end - 1);
        const std::size_t colon = std::min(inside.find(':'), inside.size());
        made =
            part(inside.substr(0, colon), inside.substr(std::min(colon + 1, inside.size())), known);
      }
      out += known ? made : "{";
      text.remove_prefix(known ? end + 1 : 1);
    }
    return out;
  }

 private:
  /// The name of the block with the lock of the rows.
  [[nodiscard]] std::string lock() const {
    const bool removes = statement_.set.empty();
    const bool whole = removes || std::any_of(statement_.set.begin(), statement_.set.end(),
                                              [&](const table_assignment& each) {
                                                return column(each.column).unique;
                                              });
    return std::string("locked") + (statement_.strict ? ".strict" : "") + (whole ? ".whole" : "");
  }
  [[nodiscard]] const table_column& column(std::size_t at) const {
    return (*statement_.columns)[at];
  }
  [[nodiscard]] std::string name_of(std::size_t at, std::string_view prefix = {}) const {
    return prefixed(prefix, quoted_name(column(at).name));
  }

  /// The name in the dialect's quotes; a quote inside it is doubled. A name with other signs is in
  /// double quotes always: drivers that look for parameters know no others. So is every name of an
  /// index's statement, which people read and run, and whose columns exist.
  [[nodiscard]] std::string quoted_name(std::string_view name) const {
    const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ' ';
    });
    const std::string quote = plain && statement_.index.empty() ? block("quote") : "\"";
    return quote + boost::algorithm::replace_all_copy(std::string(name), quote, quote + quote) +
           quote;
  }

  /// The operator that compares whole keys.
  [[nodiscard]] std::string row_equals() const {
    const bool own = std::ranges::any_of(statement_.key, [&](std::size_t at) {
      const std::string_view form = column(at).form;
      return form == "text" || (form.starts_with("text.typed") && form != "text.typed.enum");
    });
    return block(own ? "row_equals.own" : "row_equals");
  }

  /// The block of that name, or the nearest more general one: `value.number` for
  /// `value.number.float`.
  [[nodiscard]] const std::string& block(std::string_view name) const {
    for (std::string_view left = name;;) {
      if (const auto found = templates_.find(left); found != templates_.end()) return found->second;
      const std::size_t dot = left.rfind('.');
      if (dot == std::string_view::npos) break;
      left = left.substr(0, dot);
    }
    throw error(errc::invalid_argument, advice::never,
                "the dialect has no template " + std::string(name) + " for tables of applications");
  }

  using filling = std::pair<std::string_view, std::string>;
  /// A block with its places filled. No value has braces.
  [[nodiscard]] std::string made(std::string_view name,
                                 std::initializer_list<filling> places) const {
    std::string out = block(name);
    for (const auto& [what, text] : places) {
      boost::algorithm::replace_all(out, "{" + std::string(what) + "}", text);
    }
    return out;
  }

  template <class Range, class Write>
  static std::string joined(const Range& range, std::string_view between, Write write) {
    std::string out;
    for (const auto& each : range) {
      if (!out.empty()) out += between;
      out += write(each);
    }
    return out;
  }

  [[nodiscard]] std::string table() const {
    const std::string name = quoted_name(statement_.table);
    return statement_.schema.empty() ? name : quoted_name(statement_.schema) + "." + name;
  }
  [[nodiscard]] std::string keys(std::string_view prefix) const {
    if (statement_.key.empty()) return prefixed(prefix, block("row_address"));
    return joined(statement_.key, ", ", [&](std::size_t at) { return name_of(at, prefix); });
  }
  /// The keys of the picked rows, as arrays.
  [[nodiscard]] std::string arrays() const {
    const auto array = [&](const std::string& key) { return made("key_array", {{"key", key}}); };
    if (statement_.key.empty()) return array(block("row_address"));
    return joined(statement_.key, ", ", [&](std::size_t at) { return array(name_of(at)); });
  }
  [[nodiscard]] std::string same(std::string_view other) const {
    const auto equal = [&](const std::string& form, const std::string& mine,
                           const std::string& others) {
      return made("condition.equals" + form, {{"column", mine}, {"value", others}});
    };
    if (statement_.key.empty()) {
      return equal("", prefixed("msg", block("row_address")),
                   prefixed(other, block("row_address")));
    }
    return joined(statement_.key, both, [&](std::size_t at) {
      return equal("." + column(at).form, name_of(at, "msg"), name_of(at, other));
    });
  }
  [[nodiscard]] std::string read(const table_column& from, std::string_view prefix) const {
    return made("read." + from.form, {{"column", prefixed(prefix, quoted_name(from.name))}});
  }
  [[nodiscard]] std::string columns(std::string_view prefix) const {
    std::size_t number = 0;
    return joined(statement_.read, ", ", [&](std::size_t at) {
      return made("named", {{"value", read(column(at), prefix)},
                            {"name", "tableq_" + std::to_string(number++)}});
    });
  }
  /// The column itself is compared, not its milliseconds, so that an index finds it.
  [[nodiscard]] std::string earliest(const table_column& from) const {
    return made("read." + from.form,
                {{"column", made("earliest", {{"column", "msg." + quoted_name(from.name)}})}});
  }
  /// The columns that a statement on a CTE may use.
  [[nodiscard]] std::string all() const {
    return joined(*statement_.columns, ", ",
                  [&](const table_column& each) { return "msg." + quoted_name(each.name); });
  }

  [[nodiscard]] bool of_item(std::string_view parameter) const {
    const auto& items = statement_.items;
    return std::any_of(items.begin(), items.end(),
                       [&](const core::field& each) { return each.name == parameter; });
  }
  [[nodiscard]] std::string parameter(std::string_view name) const {
    return (!one_ && of_item(name) ? "given." : ":") + std::string(name);
  }
  [[nodiscard]] std::string value(const std::string& form, const std::string& type,
                                  const std::string& of) const {
    return made("value." + form, {{"type", type}, {"value", of}});
  }
  [[nodiscard]] std::string number(const std::string& of) const { return value("integer", "", of); }

  [[nodiscard]] std::string changed(const std::string& column, std::int64_t by) const {
    if (by == 0) return column;
    return made(by < 0 ? "counter.less" : "counter.more",
                {{"column", column}, {"value", std::to_string(by < 0 ? -by : by)}});
  }
  /// The clock, and a parameter before or after it.
  [[nodiscard]] std::string shifted(std::string_view template_name, const table_term& of) const {
    return made(template_name, {{"value", block("now")}, {"by", number(parameter(of.parameter))}});
  }

  [[nodiscard]] std::string term(const table_term& of, std::size_t at,
                                 std::string_view prefix) const {
    const table_column& target = column(at);
    switch (of.is) {
      case table_term::kind::null:
        return block("null");
      case table_term::kind::number:
        if (target.form == "boolean") return block(of.number != 0 ? "true" : "false");
        return std::to_string(of.number);
      case table_term::kind::clock:
        return value(target.form, target.declared,
                     of.parameter.empty() ? block("now") : shifted("later", of));
      case table_term::kind::clock_minus:
        return value(target.form, target.declared, shifted("earlier", of));
      case table_term::kind::given:
        return value(target.form, target.declared, parameter(of.parameter));
      case table_term::kind::changed:
        return changed(name_of(at, prefix), of.number);
      case table_term::kind::fence:
        return merged("fence", of, at, prefix);
      case table_term::kind::history:
        break;
    }
    return merged("history." + target.form, of, at, prefix);
  }
  /// A value that is made of the column and the parameter.
  [[nodiscard]] std::string merged(std::string_view template_name, const table_term& of,
                                   std::size_t at, std::string_view prefix) const {
    return made(template_name, {{"type", column(at).declared},
                                {"most", std::to_string(of.number)},
                                {"column", name_of(at, prefix)},
                                {"value", parameter(of.parameter)}});
  }

  [[nodiscard]] std::string condition(const table_condition& of, std::string_view prefix) const {
    return made(
        "condition." + std::string(to_string(of.is)) + "." + column(of.column).form,
        {{"column", name_of(of.column, prefix)}, {"value", term(of.than, of.column, prefix)}});
  }
  [[nodiscard]] std::string where(std::string_view prefix) const {
    if (statement_.where.empty()) return block("condition.none");
    return joined(statement_.where, both,
                  [&](const table_condition& each) { return condition(each, prefix); });
  }

  [[nodiscard]] std::string dead(std::string_view prefix, const std::string& then,
                                 const std::string& otherwise) const {
    std::string when = joined(statement_.dead, either,
                              [&](const table_condition& each) { return condition(each, prefix); });
    if (statement_.may_give_up) {
      if (!when.empty()) when += either;
      when += made("condition.true", {{"value", number(parameter("final"))}});
    }
    if (when.empty()) return otherwise;
    return made("if_dead", {{"dead", when}, {"then", then}, {"otherwise", otherwise}});
  }
  [[nodiscard]] std::string set(std::string_view prefix) const {
    return joined(statement_.set, ", ", [&](const table_assignment& each) {
      const std::string to = term(each.to, each.column, prefix);
      return made("assignment",
                  {{"column", name_of(each.column)},
                   {"value", each.differs_if_dead
                                 ? dead(prefix, term(each.if_dead, each.column, prefix), to)
                                 : to}});
    });
  }
  [[nodiscard]] std::string order(std::string_view prefix) const {
    if (statement_.order.empty()) {
      return statement_.key.empty() ? block("no_order") : keys(prefix);
    }
    return joined(statement_.order, ", ", [&](const core::table_order& each) {
      const std::string name = name_of(each.column, prefix);
      return each.descending ? made("descending", {{"column", name}}) : name;
    });
  }

  [[nodiscard]] std::string names() const {
    return joined(statement_.written, ", ", [&](std::size_t at) { return name_of(at); });
  }
  [[nodiscard]] std::string values() const {
    std::size_t place = 0;
    return joined(statement_.written, ", ", [&](std::size_t at) {
      // A cast to a shorter type would cut the value; the table shall refuse it.
      const std::string special = "insert." + column(at).form;
      const std::string parameter = ":v" + std::to_string(place++);
      return templates_.contains(special) ? made(special, {{"value", parameter}})
                                          : value(column(at).form, column(at).declared, parameter);
    });
  }

  [[nodiscard]] std::string casts() const {
    return joined(statement_.items, ", ", [&](const core::field& each) {
      const bool integer = each.type == core::value_type::integer;
      return made(integer ? "item.integer" : "item.text", {{"name", std::string(each.name)}});
    });
  }
  [[nodiscard]] std::string parameters() const {
    return joined(statement_.items, ", ",
                  [](const core::field& each) { return std::string(each.name); });
  }

  const blocks& templates_;
  const table_form& statement_;
  bool one_;
};

}  // namespace

std::string fill_table(std::string_view text, const blocks& templates, const table_form& statement,
                       bool one) {
  return table_writer(templates, statement, one).filled(text);
}

}  // namespace tableq::inline v0::drivers
