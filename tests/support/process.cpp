#include "support/process.hpp"

#include <fstream>

namespace tableq_test {

bool process::has_written(std::size_t count) {
  while (lines().size() < count) {
    if (ends_within(std::chrono::milliseconds{1})) return lines().size() >= count;
  }
  return true;
}

std::vector<nlohmann::json> process::lines() const {
  std::streamoff place = 0;
  return lines_from(place);
}

std::vector<nlohmann::json> process::news() {
  return lines_from(read_);
}

std::vector<nlohmann::json> process::lines_from(std::streamoff& place) const {
  std::vector<nlohmann::json> out;
  std::ifstream file(output_);
  file.seekg(place);
  std::string line;
  while (std::getline(file, line) && !file.eof()) {
    place += static_cast<std::streamoff>(line.size()) + 1;
    out.push_back(nlohmann::json::parse(line));
  }
  return out;
}

}  // namespace tableq_test
