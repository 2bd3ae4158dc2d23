#pragma once

#include <map>
#include <string>
#include <vector>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace tableq_test {

/// The tables of version 0.1.0, at layout 1, with messages in every state.
class old_tables_test : public on_each_backend {
 protected:
  /// A file of the database's folder; empty if it has none of that name.
  [[nodiscard]] std::string file(const std::string& name);
  /// Makes the tables `pile`, `line`, `stack`, `later` and `jobs`, each of its kind, and fills
  /// them.
  void make_old_tables();
  /// All messages, by plain SQL: what each column of layout 1 holds, by table.
  [[nodiscard]] std::map<std::string, rows> messages();
  /// The layout of each row of the catalogue.
  [[nodiscard]] std::map<std::string, std::string> layouts();
  /// What doctor finds wrong with queues, by subject.
  [[nodiscard]] static std::vector<std::string> complaints(const tableq::database& of);
  /// Every layout is the newest, no message has changed, and doctor finds nothing.
  void expect_newest(const std::map<std::string, rows>& before);

  [[nodiscard]] static std::string text_of(const tableq::migration_step& step);
  [[nodiscard]] static std::vector<std::string> texts_of(
      const std::vector<tableq::migration_step>& steps);
};

/// The queues of version 0.1.0 and the catalogue, in the order of their steps.
const std::vector<std::string>& old_queues();

}  // namespace tableq_test
