#include "locks/statement_data.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <utility>

namespace tableq_test::locks {
namespace {

using words = std::vector<std::string>;

words split(const std::string& text) {
  std::istringstream in(text);
  words out;
  for (std::string word; in >> word;) out.push_back(word);
  return out;
}

/// The parts between semicolons.
words parts_of(const std::string& line) {
  words out(1);
  for (const char c : line) {
    if (c == ';') {
      out.emplace_back();
    } else {
      out.back() += c;
    }
  }
  return out;
}

condition parse_condition(const std::string& word) {
  constexpr std::array<std::pair<std::string_view, comparison>, 4> all = {
      std::pair{"<=", comparison::not_greater},
      {"!=", comparison::not_equal},
      {">", comparison::greater},
      {"=", comparison::equal}};
  for (const auto& [sign, is] : all) {
    const std::size_t at = word.find(sign);
    if (at == std::string::npos) continue;
    condition out{
        .of = column_named(word.substr(0, at)), .is = is, .value = word.substr(at + sign.size())};
    if (out.of == column::none) break;
    if (out.value.find_first_not_of("0123456789") == std::string::npos) {
      out.number = std::stoll(out.value);
    }
    return out;
  }
  throw std::runtime_error("no condition: " + word);
}

std::vector<condition> parse_conditions(const std::string& part) {
  std::vector<condition> out;
  for (const std::string& word : split(part)) out.push_back(parse_condition(word));
  return out;
}

data_line parse_line(const std::string& line) {
  if (line == "own") return parse_line("read catalog pk READCOMMITTEDLOCK ; ; look");
  const words parts = parts_of(line);
  const words head = split(parts[0]);
  const auto part = [&](std::size_t i) { return i < parts.size() ? parts[i] : std::string(); };
  data_line out{.verb = head.at(0)};
  if (head.size() > 1) out.table = head[1];
  if (head.size() > 2) out.index = head[2];
  if (head.size() > 3) out.hints.assign(head.begin() + 3, head.end());
  if (out.verb == "read") {
    out.conditions = parse_conditions(part(1));
    out.how = split(part(2));
  } else if (out.verb == "update" || out.verb == "insert" || out.verb == "delete") {
    out.assignments = parse_conditions(part(1));
    out.conditions = parse_conditions(part(2));
  } else if (out.verb != "applock" && out.verb != "draw" && out.verb != "drop") {
    throw std::runtime_error("no line of data: " + line);
  }
  return out;
}

bool has(const words& in, std::string_view word) {
  return std::find(in.begin(), in.end(), word) != in.end();
}

}  // namespace

bool data_line::hinted(std::string_view hint) const {
  return has(hints, hint);
}
bool data_line::is(std::string_view word) const {
  return has(how, word);
}

bool data_line::locks_rows() const {
  return hinted("UPDLOCK") || hinted("XLOCK") || hinted("HOLDLOCK") || hinted("READPAST") ||
         hinted("READCOMMITTEDLOCK");
}

all_statements parse_statements(const std::string& text) {
  all_statements out;
  std::istringstream in(text);
  words names;
  const std::string opening = "-- name:";
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(opening)) {
      names = split(line.substr(opening.size()));
      for (const std::string& name : names) out[name].name = name;
    } else if (!line.empty() && line[0] != '#') {
      for (const std::string& name : names) out[name].lines.push_back(parse_line(line));
    }
  }
  return out;
}

const all_statements& statements() {
  static const all_statements read = [] {
    std::ifstream in(TABLEQ_LOCK_DATA);
    std::stringstream text;
    text << in.rdbuf();
    return parse_statements(text.str());
  }();
  return read;
}

}  // namespace tableq_test::locks
