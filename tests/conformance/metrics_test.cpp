#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include <nlohmann/json.hpp>

#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;
using nlohmann::json;
using tableq::errc;
using tableq::metrics;

const tableq::observed_operation take = {
    .name = "claim.take", .backend = "database", .queue = "jobs", .kind = tableq::kind::claim};

std::vector<std::string> lines_with(const std::string& text, const std::string& part) {
  std::istringstream in(text);
  std::vector<std::string> out;
  for (std::string line; std::getline(in, line);) {
    if (contains(line, part)) out.push_back(line);
  }
  return out;
}

TEST(metrics, of_nothing_are_empty) {
  const metrics none;
  EXPECT_EQ(none.prometheus(), "");
  EXPECT_EQ(json::parse(none.json()),
            json::parse(R"({"operations":[],"workers":[],"queues":[],"sessions":[]})"));
}

TEST(metrics, are_written_for_prometheus) {
  metrics figures({.buckets = {1ms, 250ms}});
  figures.after(take, {.messages = 3, .duration = 1ms});
  figures.after(take, {.duration = 2ms});
  figures.after(take, {.duration = 1s, .failed = errc::busy});
  figures.retrying(take, {.failed = errc::conflict});
  figures.leases_lost(take, 2);
  figures.handled({.backend = "database", .queue = "jobs"});
  figures.session_opened("database", 1ms);
  figures.session_opened("database", 1ms);
  figures.session_closed("database", true);
  const std::string base =
      R"({backend="database",queue="jobs",kind="claim",operation="claim.take")";
  const auto heads = lines_with(figures.prometheus(), "# ");
  EXPECT_EQ(heads.size() % 2, 0U);
  for (std::size_t i = 0; i < heads.size(); i += 2) {
    EXPECT_EQ(heads[i].rfind("# HELP tableq_", 0), 0U) << heads[i];
    EXPECT_EQ(heads[i + 1].rfind("# TYPE tableq_", 0), 0U) << heads[i + 1];
  }
  const std::string duration = "tableq_operation_duration_seconds";
  const std::vector<std::string> samples = {
      duration + "_bucket" + base + R"(,le="0.001"} 1)",
      duration + "_bucket" + base + R"(,le="0.25"} 2)",
      duration + "_bucket" + base + R"(,le="+Inf"} 3)",
      duration + "_sum" + base + "} 1.003",
      duration + "_count" + base + "} 3",
      "tableq_messages_total" + base + "} 3",
      "tableq_operation_errors_total" + base + R"(,code="busy"} 1)",
      "tableq_operation_retries_total" + base + R"(,code="conflict"} 1)",
      "tableq_leases_lost_total" + base + "} 2",
      R"(tableq_worker_messages_total{backend="database",queue="jobs",kind="claim",)"
      R"(outcome="completed"} 1)",
      R"(tableq_sessions_opened_total{backend="database"} 2)",
      R"(tableq_sessions_closed_total{backend="database",broken="false"} 0)",
      R"(tableq_sessions_closed_total{backend="database",broken="true"} 1)",
      R"(tableq_sessions_open{backend="database"} 1)"};
  std::vector<std::string> found;
  for (const std::string& line : lines_with(figures.prometheus(), "{")) found.push_back(line);
  EXPECT_EQ(found, samples);
}

TEST(metrics, keep_the_dead_of_the_last_look_at_each_queue) {
  metrics figures;
  figures.counted(take, {.dead = 9, .dead_letters = 4});
  figures.counted(take, {.dead = 2, .dead_letters = 3});
  auto other = take;
  other.queue = "mail";
  figures.counted(other, {.dead = 1});
  const std::string labels = R"({backend="database",queue="jobs",kind="claim"})";
  const std::vector<std::string> samples = {
      "tableq_dead_messages" + labels + " 2",
      R"(tableq_dead_messages{backend="database",queue="mail",kind="claim"} 1)",
      "tableq_dead_letters" + labels + " 3"};
  EXPECT_EQ(lines_with(figures.prometheus(), "{"), samples);
  const json read = json::parse(figures.json());
  EXPECT_TRUE(read.at("workers").empty());
  EXPECT_EQ(read.at("queues").at(0).at("dead_letters"), 3);
  EXPECT_TRUE(read.at("queues").at(1).at("dead_letters").is_null());
}

TEST(metrics, of_a_dropped_queue_end) {
  metrics figures;
  auto other = take;
  other.queue = "mail";
  for (const auto& each : {take, other}) {
    figures.after(each, {.messages = 1, .duration = 1ms});
    figures.counted(each, {.dead = 1});
    figures.handled({.backend = "database", .queue = each.queue});
  }
  figures.after({.name = "drop", .backend = "database", .queue = "mail"}, {.failed = errc::busy});
  EXPECT_FALSE(lines_with(figures.prometheus(), "mail").empty()) << "it is still there";
  figures.after({.name = "drop", .backend = "database", .queue = "mail"}, {});
  EXPECT_TRUE(lines_with(figures.prometheus(), "mail").empty()) << figures.prometheus();
  EXPECT_EQ(json::parse(figures.json()).at("queues").size(), 1U);
}

TEST(metrics, have_each_family_once_and_its_samples_behind_its_head) {
  metrics figures;
  for (const char* queue : {"a", "b"}) {
    auto of = take;
    of.queue = queue;
    figures.after(of, {.messages = 1, .duration = 1ms, .failed = errc::busy});
    figures.retrying(of, {});
  }
  std::istringstream in(figures.prometheus());
  std::vector<std::string> families;
  std::string current;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("# TYPE ")) {
      current = line.substr(7, line.find(' ', 7) - 7);
      families.push_back(current);
    } else if (!line.starts_with("#")) {
      EXPECT_TRUE(line.starts_with(current)) << line;
    }
  }
  std::vector<std::string> once = families;
  std::sort(once.begin(), once.end());
  once.erase(std::unique(once.begin(), once.end()), once.end());
  EXPECT_EQ(once.size(), families.size());
}

TEST(metrics, escape_what_a_label_must_not_hold) {
  metrics figures;
  auto odd = take;
  odd.queue = "a\"b\\c\nd\xFF";
  figures.after(odd, {.messages = 1, .duration = 1ms});
  EXPECT_EQ(lines_with(figures.prometheus(), R"(queue="a\"b\\c\nd)").size(),
            tableq::metrics_options().buckets.size() + 4);
  EXPECT_TRUE(json::accept(figures.json()));
}

TEST(metrics, are_written_as_json) {
  metrics figures({.buckets = {1ms, 250ms}});
  figures.after(take, {.messages = 3, .duration = 2ms});
  figures.after(take, {.duration = 500ms, .failed = errc::busy});
  figures.retrying(take, {.failed = errc::conflict});
  figures.leases_lost(take, 2);
  figures.handled(
      {.backend = "database", .queue = "jobs", .what = tableq::worker_event::kind::given_up});
  figures.session_opened("database", 1ms);
  EXPECT_EQ(json::parse(figures.json()), json::parse(R"({
    "operations": [{"backend": "database", "queue": "jobs", "kind": "claim",
      "operation": "claim.take", "count": 2, "seconds": 0.502, "messages": 3,
      "buckets": [{"le": 0.001, "count": 0}, {"le": 0.25, "count": 1}],
      "errors": {"busy": 1}, "retries": {"conflict": 1}, "leases_lost": 2}],
    "workers": [{"backend": "database", "queue": "jobs", "kind": "claim",
      "messages": {"given_up": 1}}],
    "queues": [],
    "sessions": [{"backend": "database", "opened": 1, "closed": 0, "broken": 0}]})"));
}

TEST(metrics, of_buckets_that_do_not_rise_are_refused) {
  EXPECT_CODE(invalid_argument, metrics({.buckets = {}}));
  EXPECT_CODE(invalid_argument, metrics({.buckets = {0us}}));
  EXPECT_CODE(invalid_argument, metrics({.buckets = {2ms, 1ms}}));
  EXPECT_CODE(invalid_argument, metrics({.buckets = {1ms, 1ms}}));
  std::vector<std::chrono::microseconds> many;
  for (int i = 1; i <= 65; ++i) many.emplace_back(i);
  EXPECT_CODE(invalid_argument, metrics({.buckets = many}));
  many.pop_back();
  EXPECT_NO_THROW(metrics({.buckets = many}));
}

TEST(metrics, lose_nothing_of_many_threads) {
  metrics figures;
  constexpr int each = 2000;
  {
    std::vector<std::jthread> threads;
    for (int i = 0; i < 100; ++i) {
      threads.emplace_back([&] {
        for (int k = 0; k < each; ++k) figures.after(take, {.messages = 2, .duration = 1ms});
      });
    }
    for (int i = 0; i < 20; ++i) static_cast<void>(figures.prometheus());
  }
  const json found = json::parse(figures.json()).at("operations").at(0);
  EXPECT_EQ(found.at("count"), 100 * each);
  EXPECT_EQ(found.at("messages"), 2 * 100 * each);
}

class metrics_of : public on_each_kind {};
TABLEQ_ON_KINDS(metrics_of, distinct_backends);

TEST_P(metrics_of, count_what_every_kind_does) {
  const auto figures = std::make_shared<metrics>();
  {
    auto watched = open({.observer = figures});
    any_queue mail(watched, kind(), "mail");
    mail.put("a");
    mail.put_all(numbered(4));
    EXPECT_TRUE(mail.take());
    EXPECT_EQ(mail.take_up_to(10).size(), 4U);
  }
  const std::string name(tableq::to_string(kind()));
  const json shown = json::parse(figures->json());
  bool added = false;
  for (const json& each : shown.at("operations")) {
    if (each.at("operation") != name + ".enqueue") continue;
    added = true;
    EXPECT_EQ(each.at("queue"), "mail");
    EXPECT_EQ(each.at("kind"), name);
    EXPECT_EQ(each.at("count"), 2);
    EXPECT_EQ(each.at("messages"), 5);
    EXPECT_GT(each.at("seconds"), 0.0);
  }
  EXPECT_TRUE(added);
  EXPECT_EQ(shown.at("sessions").at(0).at("opened"), shown.at("sessions").at(0).at("closed"));
}

}  // namespace
