// Makes Markdown tables and diagrams from the JSON lines of tableq_bench.
#include <array>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "svg.hpp"

namespace {

using json = nlohmann::ordered_json;

struct column {
  const char* title;
  const char* member;
  int decimals;
};

/// Columns without a result in a table are left out.
constexpr std::array<column, 15> columns = {{{"threads", "threads", 0},
                                             {"a call", "batch", 0},
                                             {"rate/s", "rate", 0},
                                             {"limit/s", "limit", 0},
                                             {"ratio", "ratio", 2},
                                             {"spread", "spread", 2},
                                             {"p50 us", "p50_us", 0},
                                             {"p99 us", "p99_us", 0},
                                             {"limit p50 us", "limit_p50_us", 0},
                                             {"above us", "above_us", 0},
                                             {"fairness", "fairness", 2},
                                             {"longest us", "longest_us", 0},
                                             {"log bytes", "log_bytes", 0},
                                             {"first KiB", "first_kib", 0},
                                             {"last KiB", "last_kib", 0}}};

/// 1234567 as 1,234,567.
std::string grouped(const std::string& digits) {
  const std::size_t point = std::min(digits.find('.'), digits.size());
  std::string out;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && i < point && digits[i - 1] != '-' && (point - i) % 3 == 0) out += ',';
    out += digits[i];
  }
  return out;
}

std::string cell(const json& result, const column& which) {
  if (!result.contains(which.member)) return "";
  if (result[which.member].is_string()) return result[which.member].get<std::string>();
  if (!result[which.member].is_number()) return "";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f", which.decimals,
                result[which.member].get<double>());
  return grouped(text.data());
}

bool used(const std::vector<json>& results, const column& which) {
  for (const json& result : results) {
    if (result.contains(which.member)) return true;
  }
  return false;
}

std::string plain(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The files' lines: the machine, and the results by backend.
struct figures {
  json machine;
  std::vector<std::pair<std::string, std::vector<json>>> parts;

  void read(const std::string& name) {
    std::ifstream file(name);
    if (!file) throw std::runtime_error("cannot read " + name);
    for (std::string text; std::getline(file, text);) {
      const json line = json::parse(text);
      if (line.contains("machine")) {
        machine.update(line["machine"]);
      } else {
        part(line["backend"].get<std::string>()).push_back(line);
      }
    }
  }

 private:
  std::vector<json>& part(const std::string& backend) {
    for (auto& [name, results] : parts) {
      if (name == backend) return results;
    }
    return parts.emplace_back(backend, std::vector<json>()).second;
  }
};

void print_machine(const json& machine) {
  std::string text;
  for (const auto& [name, value] : machine.items()) {
    if (!text.empty()) text += "; ";
    text += name + " " + plain(value);
  }
  std::cout << text << ".\n";
}

void print_table(const std::string& heading, const std::vector<json>& results) {
  if (results.empty()) return;
  std::vector<column> shown;
  for (const column& each : columns) {
    if (used(results, each)) shown.push_back(each);
  }
  std::cout << "\n### " << heading << "\n\n| case | commit |";
  for (const column& each : shown) std::cout << ' ' << each.title << " |";
  std::cout << "\n| --- | --- |";
  for (std::size_t i = 0; i < shown.size(); ++i) std::cout << " ---: |";
  std::cout << '\n';
  for (const json& result : results) {
    std::cout << "| " << plain(result["case"]) << " | " << plain(result["synchronous"]) << " |";
    for (const column& each : shown) std::cout << ' ' << cell(result, each) << " |";
    std::cout << '\n';
  }
}

void print_backend(const std::string& name, const std::vector<json>& results) {
  std::vector<json> rates;
  std::vector<json> latencies;
  std::vector<json> long_runs;
  for (const json& result : results) {
    if (!result.contains("rate")) {
      latencies.push_back(result);
    } else if (result.contains("limit_of")) {
      long_runs.push_back(result);
    } else {
      rates.push_back(result);
    }
  }
  print_table(name + ": rates", rates);
  print_table(name + ": latency of an idle queue", latencies);
  print_table(name + ": the same with little and with much behind it", long_runs);
}

std::vector<std::pair<double, double>> points(const json& result, const std::string& prefix) {
  std::vector<std::pair<double, double>> out;
  const json& x = result[prefix + "reads"];
  const json& y = result[prefix + "rates"];
  for (std::size_t i = 0; i < x.size(); ++i) {
    out.emplace_back(x[i].get<double>(), y[i].get<double>());
  }
  return out;
}

void draw(const figures& all, const std::filesystem::path& directory) {
  for (const auto& [backend, results] : all.parts) {
    for (const json& result : results) {
      if (!result.contains("reads")) continue;
      const std::string name = plain(result["case"]);
      const std::string drawn = bench::diagram(
          backend + ", " + name + ": " + result["beside"].get<std::string>(),
          "messages read before", "reads a second, one thread",
          {{"tableq", points(result, "")}, {"plain statement", points(result, "raw_")}});
      const std::filesystem::path path = directory / (name + "_" + backend + ".svg");
      std::ofstream file(path);
      file << drawn << std::flush;
      if (!file) throw std::runtime_error("cannot write " + path.string());
    }
  }
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Makes Markdown tables, and diagrams, of the lines that tableq_bench wrote");
  std::vector<std::string> files;
  std::string directory;
  app.add_option("files", files, "What --json of tableq_bench has written")->required();
  app.add_option("--svg", directory, "Draw the curves into this directory");
  CLI11_PARSE(app, argc, argv);
  figures all;
  for (const std::string& file : files) all.read(file);
  print_machine(all.machine);
  for (const auto& [backend, results] : all.parts) print_backend(backend, results);
  if (!directory.empty()) draw(all, directory);
  return 0;
} catch (const std::exception& failure) {
  std::cerr << "tableq_bench_report: " << failure.what() << '\n';
  return 2;
}
