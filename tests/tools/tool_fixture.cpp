#include "tools/tool_fixture.hpp"

#include <fstream>
#include <sstream>

namespace tableq_test {

namespace files = std::filesystem;

words joined(words first, const words& second, const words& third) {
  first.insert(first.end(), second.begin(), second.end());
  first.insert(first.end(), third.begin(), third.end());
  return first;
}

ended run_alone(const words& arguments, const start_options& options) {
  return command(TABLEQ_COMMAND, arguments, options).wait();
}

ended tool_test::run(const words& arguments, const start_options& options) {
  return start(arguments, options)->wait();
}

std::string tool_test::done(const words& arguments, const start_options& options) {
  const ended end = run(arguments, options);
  EXPECT_EQ(end.status, 0) << arguments.front() << ": " << end.err;
  EXPECT_EQ(end.err, "");
  return end.out;
}

std::unique_ptr<command> tool_test::start(const words& arguments, const start_options& options) {
  start_options complete = options;
  complete.environment.push_back("TABLEQ_DB=" + here().url());
  return std::make_unique<command>(TABLEQ_COMMAND, arguments, complete);
}

std::unique_ptr<command> tool_test::start_told(const words& arguments, start_options options) {
  pipe_ends pipe = make_pipe();
  options.err = pipe.writer.value();
  auto out = start(arguments, options);
  errors_ = std::move(pipe.reader);
  heard.emplace(errors_.value());
  return out;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::string contents_of(const files::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace tableq_test
