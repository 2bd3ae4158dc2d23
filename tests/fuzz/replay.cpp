// Runs a target over files, instead of a fuzzer: each argument is a file, or a folder of files.

#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <vector>

#include "fuzz/check.hpp"

int main(int argc, char** argv) {
  std::vector<std::filesystem::path> files;
  for (int i = 1; i < argc; ++i) {
    if (!std::filesystem::is_directory(argv[i])) {
      files.emplace_back(argv[i]);
      continue;
    }
    for (const auto& each : std::filesystem::directory_iterator(argv[i])) files.push_back(each);
  }
  for (const std::filesystem::path& each : files) {
    std::ifstream in(each, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(in), {}};
    if (!in.good() && !in.eof()) {
      std::cerr << each << ": cannot be read\n";
      return 1;
    }
    std::cerr << each.filename() << '\n';
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  std::cerr << files.size() << " inputs\n";
  return files.empty() ? 1 : 0;
}
