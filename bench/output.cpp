#include "output.hpp"

#include <cstdio>
#include <iostream>
#include <stdexcept>

namespace bench {

namespace {

std::string number(const json& value, int decimals) {
  if (!value.is_number()) return "-";
  char text[64];
  std::snprintf(text, sizeof text, "%.*f", decimals, value.get<double>());
  return text;
}

std::string member(const json& result, const char* name, int decimals) {
  return result.contains(name) ? number(result[name], decimals) : "-";
}

}  // namespace

printer::printer(const settings& how) {
  if (how.json_file.empty()) return;
  file_.open(how.json_file, std::ios::app);
  if (!file_) throw std::runtime_error("cannot write " + how.json_file);
}

void printer::line(const json& object) {
  if (!file_.is_open()) return;
  file_ << object.dump() << '\n' << std::flush;
  if (!file_) throw std::runtime_error("cannot write the JSON lines");
}

void printer::machine(const json& about) {
  for (const auto& [name, value] : about.items()) {
    std::cout << name << ": " << (value.is_string() ? value.get<std::string>() : value.dump())
              << '\n';
  }
  std::cout << std::endl;
  line({{"machine", about}});
}

void printer::record(const bed& where, json result) {
  result["backend"] = where.how.backend;
  result["synchronous"] = where.synchronous;
  line(result);
  if (!headed_) {
    std::printf("%-24s%-8s%8s%6s%12s%12s%8s%8s%11s%11s%11s\n", "case", "commit", "threads", "batch",
                "rate/s", "limit/s", "ratio", "spread", "p50 us", "p99 us", "limit p50");
    headed_ = true;
  }
  std::printf("%-24s%-8s%8s%6s%12s%12s%8s%8s%11s%11s%11s\n",
              result["case"].get<std::string>().c_str(), where.synchronous.c_str(),
              member(result, "threads", 0).c_str(), member(result, "batch", 0).c_str(),
              member(result, "rate", 0).c_str(), member(result, "limit", 0).c_str(),
              member(result, "ratio", 2).c_str(), member(result, "spread", 2).c_str(),
              member(result, "p50_us", 1).c_str(), member(result, "p99_us", 1).c_str(),
              member(result, "limit_p50_us", 1).c_str());
  std::fflush(stdout);
}

}  // namespace bench
