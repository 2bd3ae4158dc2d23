#include "model/garbage.hpp"

#include <array>
#include <map>
#include <vector>

namespace tableq_test {
namespace {

std::string nested(std::size_t deep) {
  return std::string(deep, '[') + std::string(deep, ']');
}

/// Within objects and arrays of each column that holds JSON.
const std::vector<std::string>& json_values() {
  static const std::vector<std::string> all = {"1",           "-1",
                                               "0",           "1.5",
                                               "1e400",       "-1e400",
                                               "1e-400",      "9223372036854775807",
                                               "true",        "null",
                                               R"("x")",      R"("")",
                                               R"("1000")",   R"("\ud800")",
                                               R"("\u0000")", R"("\ud83d\ude00")",
                                               "[]",          "{}",
                                               "[1000, 2]",   R"(["x"])",
                                               R"([[1000]])", R"({"at": 1, "error": "x"})",
                                               nested(110),   R"({"a": {"b": [1e400, "\udc00"]}})",
                                               "Infinity",    "0x10"};
  return all;
}

}  // namespace

bool garbage::insert() {
  std::map<std::string, std::string> values = {{"payload", in_.bytes_literal(payload)}};
  for (std::uint64_t i = 1 + random_.below(5); i > 0; --i) {
    const std::string column = any_column();
    values[column] = literal_for(column);
    if (column != "state") continue;
    // Many go with one state only.
    if (random_.one_in(2)) values["due_at"] = literal_for("due_at");
    if (random_.one_in(2)) values["finished_at"] = literal_for("finished_at");
  }
  if (random_.one_in(10)) {
    values["id"] = "-" + std::to_string(1 + random_.below(1'000'000'000'000));
  }
  std::string columns;
  std::string literals;
  for (const auto& [column, literal] : values) {
    const char* const comma = columns.empty() ? "" : ", ";
    columns += comma + ('"' + column + '"');
    literals += comma + literal;
  }
  return in_.takes("INSERT INTO " + table_ + " (" + columns + ") VALUES (" + literals + ")");
}

bool garbage::change() {
  const std::string column = any_column();
  return in_.takes("UPDATE " + table_ + " SET \"" + column + "\" = " + literal_for(column) +
                   " WHERE payload = " + in_.bytes_literal(payload));
}

std::string garbage::any_column() {
  constexpr std::array claim = {
      "state",        "priority",   "due_at",     "fence",      "attempts",    "retry", "retry",
      "max_attempts", "expires_at", "created_at", "claimed_at", "finished_at", "key",   "past_key",
      "group_key",    "headers",    "headers",    "errors",     "payload"};
  constexpr std::array others = {"created_at", "payload", "due_at"};
  if (kind_ == tableq::kind::claim) return claim.at(random_.below(claim.size()));
  return others.at(random_.below(kind_ == tableq::kind::pending ? others.size() : 2));
}

std::string garbage::literal_for(const std::string& column) {
  if (random_.one_in(20)) return "NULL";
  if (column == "state") return std::to_string(random_.below(6));
  if (column == "payload") {
    return random_.one_in(2) ? in_.bytes_literal(std::string(random_.below(3), '\xFF'))
                             : any_number();
  }
  if (column == "key" || column == "past_key" || column == "group_key") return any_text();
  if (column == "headers" || column == "errors" || column == "retry") {
    if (random_.one_in(10)) return any_text();
    const std::string text =
        column == "errors"    ? "[" + any_json() + ", " + any_json() + "]"
        : column == "headers" ? R"({"a": )" + any_json() + R"(, "b": "x"})"
        : random_.one_in(2)   ? R"({"after": )" + any_json() + R"(, "jitter": )" + any_json() + "}"
                              : R"({"after": [)" + any_json() + "]}";
    return "'" + text + "'";
  }
  return any_number();
}

std::string garbage::any_number() {
  constexpr std::array odd = {"0",
                              "-1",
                              "1",
                              "2147483647",
                              "-2147483648",
                              "2147483648",
                              "4294967296",
                              "-4294967297",
                              "9223372036854775807",
                              "-9223372036854775807 - 1",
                              "1.5",
                              "-0.5",
                              "9e999",
                              "-9e999",
                              "1e15",
                              "'text'",
                              "'12'",
                              "''",
                              "x'00ff'",
                              "9223372036854775807.5"};
  if (random_.one_in(3)) return std::to_string(random_.below(2'000'000'000'000));
  return odd.at(random_.below(odd.size()));
}

std::string garbage::any_text() {
  constexpr std::array odd = {"''",
                              "' '",
                              "'odd'",
                              "5",
                              "x'00ff'",
                              "CAST(x'6fff' AS TEXT)",
                              "'a' || char(0) || 'b'",
                              "'{}' || char(0) || 'x'",
                              "'[]'",
                              "'{}'",
                              "' { } '",
                              "CAST(x'7b2261223a2261ff227d' AS TEXT)",
                              "'{a: 1, /* */ }'",
                              "jsonb('{\"a\": 1}')"};
  if (random_.one_in(3)) return "'odd " + std::to_string(random_.below(20)) + "'";
  return odd.at(random_.below(odd.size()));
}

std::string garbage::any_json() {
  const auto& all = json_values();
  return all[random_.below(all.size())];
}

}  // namespace tableq_test
