#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "support/fixture.hpp"
#include "support/text.hpp"
#include "tools/command.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using nlohmann::json;
using words = std::vector<std::string>;

/// Runs the program on each database, at a place of its own beside the test's.
class bench_programs : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    directory_ = std::filesystem::temp_directory_path() / ("tableq-bench-test-" + unique_name());
    std::filesystem::create_directory(directory_);
  }
  void TearDown() override {
    std::filesystem::remove_all(directory_);
    on_each_backend::TearDown();
  }
  [[nodiscard]] std::string file(const std::string& name) const { return directory_ / name; }

  ended bench(const std::string& backend, const words& more) {
    words all = {"--synchronous", backend == "sqlite" ? "normal" : "off"};
    all.insert(all.end(), more.begin(), more.end());
    return bench_in_usual_modes(backend, all);
  }

  /// With very little work.
  ended bench_in_usual_modes(const std::string& backend, const words& more) {
    words all = {backend,     "--directory", directory_.string(), "--rounds", "1",
                 "--seconds", "0.01",        "--threads",         "3",        "--messages",
                 "1000",      "--json",      file("out.jsonl")};
    if (backend != "sqlite") all.insert(all.end(), {"--db", here().url()});
    all.insert(all.end(), more.begin(), more.end());
    return command(TABLEQ_BENCH, all).wait();
  }

  /// The results by case, each of which has found something; the first line is about the machine.
  std::map<std::string, json> results(const words& expected) {
    std::map<std::string, json> out;
    std::ifstream in(file("out.jsonl"));
    std::string line;
    std::getline(in, line);
    const json first = json::parse(line);
    EXPECT_GT(first.at("machine").at("processors"), 0);
    EXPECT_TRUE(first.at("machine").contains(GetParam()->name()));
    while (std::getline(in, line)) {
      const json result = json::parse(line);
      for (const char* member : {"rate", "limit", "ratio", "p50_us", "p99_us", "limit_p50_us",
                                 "samples", "messages", "last_kib", "threads", "batch"}) {
        if (!result.contains(member) || result.at(member) == "none") continue;
        EXPECT_GT(result.at(member), 0) << member << " in " << result;
      }
      EXPECT_GE(result.value("p99_us", 0.0), result.value("p50_us", 0.0)) << result;
      EXPECT_TRUE(out.emplace(result.at("case"), result).second) << result;
    }
    for (const std::string& name : expected) EXPECT_TRUE(out.contains(name)) << name;
    return out;
  }

 private:
  std::filesystem::path directory_;
};
TABLEQ_ON_BACKENDS(bench_programs, distinct_backends);

TEST_P(bench_programs, measure_throughput_beside_the_plain_statements) {
  const std::string backend = GetParam()->name();
  const ended end = bench(backend, {"--case", "enqueue*", "--case", "dequeue*", "--case", "take*"});
  ASSERT_EQ(end.status, 0) << end.err;
  EXPECT_EQ(end.err, "");
  auto found = results({"enqueue_async"});
  for (const char* action : {"enqueue", "dequeue", "take_complete"}) {
    for (const auto& [shape, threads, batch] :
         {std::tuple{"", 1, 1}, {"_batch", 1, 100}, {"_threads", 3, 1}}) {
      const std::string name = action + std::string(shape);
      const json& result = found[name];
      EXPECT_EQ(result.at("threads"), threads) << name;
      EXPECT_EQ(result.at("batch"), batch) << name;
      EXPECT_EQ(result.at("backend"), backend);
      EXPECT_EQ(result.at("synchronous"), backend == "sqlite" ? "normal" : "off");
      EXPECT_TRUE(contains(end.out, "\n" + name + " ")) << end.out;
    }
  }
}

TEST_P(bench_programs, measure_in_both_modes_of_commit_unless_told) {
  const std::string backend = GetParam()->name();
  const ended end = bench_in_usual_modes(backend, {"--case", "enqueue"});
  ASSERT_EQ(end.status, 0) << end.err;
  for (const char* mode : {"full", "normal", "on", "off"}) {
    const bool of_sqlite = mode[0] == 'f' || mode[0] == 'n';
    EXPECT_EQ(contains(end.out, "\nenqueue                 " + std::string(mode) + " "),
              (backend == "sqlite") == of_sqlite)
        << mode << '\n'
        << end.out;
  }
}

TEST_P(bench_programs, measure_odbc_beside_plain_odbc) {
  if (GetParam()->name() != "postgresql") return;
  const ended end = bench("odbc", {"--case", "take_complete*"});
  ASSERT_EQ(end.status, 0) << end.err;
  auto found = results({"take_complete_batch"});
  EXPECT_EQ(found["take_complete"].at("backend"), "odbc");
}

TEST_P(bench_programs, measure_idle_latency_backlogs_growth_and_memory_and_draw_the_growth) {
  const ended end =
      bench(GetParam()->name(), {"--case", "latency*", "--case", "backlog*", "--case", "beside*",
                                 "--case", "growth*", "--case", "memory", "--case", "*processes",
                                 "--case", "turns*", "--case", "limited_10", "--case", "rated_10"});
  ASSERT_EQ(end.status, 0) << end.err;
  auto found = results({"latency_inside", "latency_between", "backlog_fifo", "backlog_claim",
                        "beside_claim", "turns_10", "turns_10000", "limited_10", "rated_10"});
  EXPECT_GE(found["memory"].at("messages"), 1000);
  words grown = {"growth_fifo", "growth_claim"};
  if (GetParam()->name() == "sqlite") {
    EXPECT_LE(found["enqueue_processes"].at("fairness"), 1);
    EXPECT_GT(found["dequeue_processes"].at("longest_us"), 0);
  } else {
    grown.insert(grown.end(), {"growth_fifo_writer", "growth_claim_writer"});
  }
  for (const std::string& name : grown) {
    const json& result = found[name];
    EXPECT_FALSE(result.at("reads").empty());
    EXPECT_EQ(result.at("reads").size(), result.at("rates").size());
    EXPECT_EQ(result.at("raw_reads").size(), result.at("raw_rates").size());
  }

  const ended told = command(TABLEQ_BENCH_REPORT, {file("out.jsonl"), "--svg", file("")}).wait();
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_TRUE(contains(told.out, "\n| growth_fifo | ")) << told.out;
  EXPECT_TRUE(contains(told.out, "\n| latency_between | ")) << told.out;
  std::ifstream drawn(file("growth_fifo_" + GetParam()->name() + ".svg"));
  std::stringstream text;
  text << drawn.rdbuf();
  EXPECT_EQ(text.str().rfind("<svg ", 0), 0U);
  EXPECT_TRUE(contains(text.str(), "<polyline"));
}

TEST_P(bench_programs, measure_workers_beside_no_limit) {
  const ended end = bench(GetParam()->name(), {"--case", "worker_*"});
  ASSERT_EQ(end.status, 0) << end.err;
  words cases = {"worker_64_1ms_800", "worker_64_1ms_5000"};
  for (const std::string handlers : {"1", "16", "64", "256"}) {
    for (const char* const work : {"_0ms", "_1ms"}) cases.push_back("worker_" + handlers + work);
  }
  for (const auto& [name, result] : results(cases)) EXPECT_TRUE(result.contains("p50_us")) << name;
  const ended told = command(TABLEQ_BENCH_REPORT, {file("out.jsonl")}).wait();
  ASSERT_EQ(told.status, 0) << told.err;
  EXPECT_TRUE(contains(told.out, "| none |")) << told.out;
}

TEST_P(bench_programs, leave_nothing_behind) {
  const std::string own = "tableq-bench-normal";
  ASSERT_EQ(bench(GetParam()->name(), {"--case", "enqueue"}).status, 0);
  EXPECT_FALSE(std::filesystem::exists(file(own)));
  if (GetParam()->name() != "postgresql") return;
  // Other runs may be active: the number in the name is the process id.
  for (const auto& row : here().sql("SELECT split_part(nspname, '_', 3) FROM pg_namespace"
                                    " WHERE nspname LIKE 'tableq\\_bench\\_%'")) {
    EXPECT_TRUE(std::filesystem::exists("/proc/" + row.at(0).value_or("none")));
  }
}

TEST_P(bench_programs, refuse_cases_and_backends_that_are_none) {
  EXPECT_NE(bench(GetParam()->name(), {"--case", "nonsense"}).status, 0);
  EXPECT_NE(bench("oracle", {}).status, 0);
}

}  // namespace
