#include <gtest/gtest.h>

#include <tableq/unstable/dialect.hpp>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

TEST(tool_help, each_command_explains_itself_with_examples) {
  std::vector<words> all{{}};  // With those that the help of these lists.
  for (std::size_t i = 0; i < all.size(); ++i) {
    const words path = all[i];
    const ended end = run_alone(joined(path, {"--help"}));
    EXPECT_EQ(end.status, 0);
    EXPECT_EQ(end.err, "");
    EXPECT_TRUE(contains(end.out, "Usage: tableq")) << end.out;
    EXPECT_EQ(contains(end.out, " TIME "), contains(end.out, "A TIME has a unit")) << end.out;
    const std::string example = end.out.substr(end.out.find("Examples:"));
    std::string name = "tableq";
    for (const std::string& word : path) name += " " + word;
    EXPECT_TRUE(contains(example, name)) << end.out;
    const auto lines = lines_of(end.out);
    const auto below = std::ranges::find(lines, "Subcommands:");
    for (auto line = below; line != lines.end() && ++line != lines.end() && !line->empty();) {
      if ((*line)[2] != ' ') all.push_back(joined(path, {line->substr(2, line->find(' ', 2) - 2)}));
    }
  }
  EXPECT_GT(all.size(), 45U);
}

TEST(tool_help, the_version_is_that_of_the_library) {
  const std::string version = std::to_string(TABLEQ_VERSION_MAJOR) + "." +
                              std::to_string(TABLEQ_VERSION_MINOR) + "." +
                              std::to_string(TABLEQ_VERSION_PATCH);
  EXPECT_EQ(run_alone({"--version"}).out, "tableq " + version + "\n");
}

TEST(tool_help, ddl_needs_no_database) {
  for (const std::string& dialect : tableq::dialects()) {
    const ended end = run_alone({"ddl", dialect, "claim", "jobs", "--prefix", "app_"});
    EXPECT_EQ(end.status, 0) << end.err;
    EXPECT_TRUE(contains(end.out, "app_jobs"));
    EXPECT_TRUE(contains(end.out, "Run this in one transaction") ||
                contains(end.out, "SET XACT_ABORT ON;\nBEGIN TRANSACTION;\n"))
        << end.out;
  }
}

TEST(tool_help, ddl_suggests_the_dialect_that_a_usual_name_means) {
  for (const std::string& dialect : tableq::dialects()) {
    for (const std::string& scheme : tableq::find_dialect(dialect).schemes) {
      if (scheme == dialect) continue;
      EXPECT_TRUE(contains(run_alone({"ddl", scheme, "fifo", "mail"}).err, "Write " + dialect));
    }
  }
  const std::string none = run_alone({"ddl", "oracle", "fifo", "mail"}).err;
  EXPECT_TRUE(contains(none, "knows") && !contains(none, "Write")) << none;
}

}  // namespace
