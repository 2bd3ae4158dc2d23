#pragma once

#include <regex>
#include <set>
#include <string>
#include <vector>

#include <tableq/unstable/dialect.hpp>

namespace tableq_test {

/// The functions of the database that the texts of a dialect call by their schema.
inline std::vector<std::string> called_in(const tableq::dialect& definition) {
  std::string texts = definition.statements + definition.tables;
  for (const auto& [kind, text] : definition.ddl) texts += text;
  for (const auto& [step, text] : definition.steps) texts += text;
  const std::regex call("pg_catalog\\.(\\w+)\\(");
  std::set<std::string> out;
  for (std::sregex_iterator at(texts.begin(), texts.end(), call), end; at != end; ++at) {
    out.insert(at->str(1));
  }
  return {out.begin(), out.end()};
}

}  // namespace tableq_test
