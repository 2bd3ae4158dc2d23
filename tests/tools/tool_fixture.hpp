#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/fixture.hpp"
#include "support/scratch_directory.hpp"
#include "support/text.hpp"
#include "tools/command.hpp"
#include "tools/named_pipe.hpp"

namespace tableq_test {

using words = std::vector<std::string>;

/// All of them, in this order.
words joined(words first, const words& second, const words& third = {});

/// Runs the command without any database.
ended run_alone(const words& arguments, const start_options& options = {});

/// A test that runs the command on each database, at its own place.
class tool_test : public on_each_backend {
 protected:
  /// Runs it to its end, TABLEQ_DB set.
  ended run(const words& arguments, const start_options& options = {});
  /// The same, and expects the exit status 0 and silence on standard error.
  std::string done(const words& arguments, const start_options& options = {});
  /// Starts it without waiting.
  [[nodiscard]] std::unique_ptr<command> start(const words& arguments,
                                               const start_options& options = {});
  /// The same, with its standard error in `heard`.
  [[nodiscard]] std::unique_ptr<command> start_told(const words& arguments,
                                                    start_options options = {});

  scratch_directory scratch;
  std::optional<line_reader> heard;

 private:
  owned_descriptor errors_;
};

/// Expects exactly this exit status, one line on standard error and no other output.
#define TABLEQ_EXPECT_REFUSAL(expected, ...)                        \
  do {                                                              \
    const ::tableq_test::ended refused = (__VA_ARGS__);             \
    EXPECT_EQ(refused.status, expected) << refused.err;             \
    EXPECT_EQ(refused.complaints(), 1U) << refused.err;             \
    EXPECT_EQ(refused.err.rfind("tableq: ", 0), 0U) << refused.err; \
    EXPECT_EQ(refused.out, "");                                     \
  } while (false)

/// The lines of a text that ends with a newline.
std::vector<std::string> lines_of(const std::string& text);

std::string contents_of(const std::filesystem::path& file);

}  // namespace tableq_test
