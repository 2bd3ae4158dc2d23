#include <csignal>
#include <nlohmann/json.hpp>
#include <set>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using nlohmann::json;

class tool_bench : public tool_test {
 protected:
  /// A line for each queue of the catalogue.
  std::string queues() { return run({"stats", "--json"}).out; }
};
TABLEQ_ON_BACKENDS(tool_bench, distinct_backends);

const words quick = {"bench", "--time", "10ms", "--threads", "3", "--batch", "7"};

words quick_and(const words& more) {
  return joined(quick, more);
}

TEST_P(tool_bench, measures_singles_batches_threads_and_the_hand_over_of_both_usual_kinds) {
  std::set<std::string> rows;
  for (const std::string& line : lines_of(done(quick_and({"--json"})))) {
    const json figure = json::parse(line);
    EXPECT_EQ(figure.at("backend"), GetParam()->name());
    EXPECT_EQ(figure.at("payload"), 200);
    EXPECT_GT(figure.at("messages"), 0) << line;
    EXPECT_GT(figure.at("p50_us"), 0) << line;
    EXPECT_GE(figure.at("p99_us"), figure.at("p50_us")) << line;
    const bool hand_over = figure.at("what") == "enqueue to receipt";
    EXPECT_EQ(figure.at("rate").is_null(), hand_over) << line;
    const bool single = figure.at("threads") == 1 && figure.at("batch") == 1;
    EXPECT_EQ(figure.at("to_single").is_null(), single) << line;
    rows.insert(figure.at("kind").get<std::string>() + ", " + figure.at("what").get<std::string>() +
                ", " + figure.at("threads").dump() + ", " + figure.at("batch").dump());
  }
  std::set<std::string> expected;
  for (const auto& [kind, read] :
       {std::pair<std::string, std::string>{"fifo", "dequeue"}, {"claim", "take + complete"}}) {
    for (const std::string& what : {std::string("enqueue"), read}) {
      for (const char* shape : {", 1, 1", ", 1, 7", ", 3, 1"}) {
        expected.insert(kind + ", " + what + shape);
      }
    }
    expected.insert(kind + ", enqueue to receipt, 1, 1");
  }
  EXPECT_EQ(rows, expected);
}

TEST_P(tool_bench, takes_every_kind) {
  const std::string shown = done(
      quick_and({"--kind", "heap", "--kind", "lifo", "--kind", "pending", "--payload-size", "0"}));
  const auto lines = lines_of(shown);
  ASSERT_EQ(lines.size(), 22U) << shown;
  EXPECT_TRUE(lines[0].starts_with("KIND     WHAT")) << shown;
  for (const char* kind : {"heap", "lifo", "pending"}) {
    EXPECT_TRUE(contains(shown, std::string("\n") + kind + " ")) << shown;
  }
}

TEST_P(tool_bench, leaves_no_queue_behind_and_those_that_are_there_alone) {
  done({"create", "fifo", "mail"});
  done({"enqueue", "mail", "hello"});
  const auto before = lines_of(queues()).size();
  done(quick);
  EXPECT_EQ(lines_of(queues()).size(), before);
  EXPECT_EQ(done({"dequeue", "mail"}), "hello\n");
}

TEST_P(tool_bench, drops_its_queues_when_it_is_interrupted) {
  for (const int number : {SIGINT, SIGTERM}) {
    const pipe_ends figures = make_pipe();
    const auto running =
        start({"bench", "--time", "5m", "--threads", "3"}, {.out = figures.writer.value()});
    line_reader(figures.reader.value()).next_with("KIND");  // The queue is about to be made.
    while (queues().empty()) continue;
    running->signal(number);
    const ended end = running->wait();
    EXPECT_EQ(end.status, 3);
    EXPECT_EQ(end.err, "tableq: interrupted; its queues are dropped\n");
    EXPECT_EQ(queues(), "");
  }
}

TEST_P(tool_bench, drops_its_queues_when_nobody_reads_its_figures) {
  pipe_ends figures = make_pipe();
  const auto running = start(quick, {.out = figures.writer.value()});
  figures.reader.close();
  EXPECT_EQ(running->wait().status, 3);
  EXPECT_EQ(queues(), "");
}

TEST_P(tool_bench, measures_an_existing_queue_and_leaves_it_empty) {
  for (const char* kind : {"heap", "fifo", "lifo", "pending", "claim"}) {
    const std::string name = std::string("trial-") + kind;
    done({"create", kind, name});
    const std::string before = queues();
    const auto lines =
        lines_of(done(joined({"--verify-only"}, quick_and({"--queue", name, "--json"}))));
    ASSERT_EQ(lines.size(), 7U) << kind;
    for (const std::string& line : lines) EXPECT_EQ(json::parse(line).at("kind"), kind);
    EXPECT_EQ(lines_of(queues()).size(), lines_of(before).size());
    EXPECT_EQ(run({"peek", name}).status, 1);
  }
}

TEST_P(tool_bench, refuses_a_queue_that_holds_messages) {
  done({"create", "fifo", "mail"});
  done({"enqueue", "mail", "hello"});
  const ended end = run(quick_and({"--queue", "mail"}));
  EXPECT_EQ(end.status, 3);
  EXPECT_TRUE(contains(end.err, "holds messages")) << end.err;
  EXPECT_EQ(done({"dequeue", "mail"}), "hello\n");
}

TEST_P(tool_bench, refuses_a_queue_whose_reads_are_held_up) {
  done({"create", "claim", "slow"});
  done({"limit", "slow", "--rate", "5"});
  done({"create", "fifo", "quiet"});
  done({"pause", "quiet"});
  for (const char* name : {"slow", "quiet"}) {
    const ended end = run(quick_and({"--queue", name}));
    EXPECT_EQ(end.status, 3);
    EXPECT_TRUE(contains(end.err, "is paused or has a rate")) << end.err;
    EXPECT_EQ(run({"peek", name}).status, 1);
  }
}

TEST_P(tool_bench, empties_a_given_queue_when_it_is_interrupted) {
  done({"create", "claim", "trial"});
  const pipe_ends figures = make_pipe();
  const auto running = start({"bench", "--time", "5m", "--threads", "3", "--queue", "trial"},
                             {.out = figures.writer.value()});
  line_reader(figures.reader.value()).next_with("KIND");
  while (run({"peek", "trial"}).status == 1) continue;
  running->signal(SIGTERM);
  const ended end = running->wait();
  EXPECT_EQ(end.status, 3);
  EXPECT_EQ(end.err, "tableq: interrupted\n");
  EXPECT_EQ(run({"peek", "trial"}).status, 1);
}

TEST_P(tool_bench, refuses_what_cannot_be_measured) {
  for (const words& wrong : {words{"--kind", "topic"},
                             {"--time", "1ms"},
                             {"--time", "1h"},
                             {"--threads", "0"},
                             {"--batch", "1"},
                             {"--batch", "10000", "--payload-size", "1000000"},
                             {"--payload-size", "-1"},
                             {"--sessions", "0"},
                             {"--kind", "fifo", "--queue", "mail"},
                             {"--verify-only"}}) {
    TABLEQ_EXPECT_REFUSAL(2, run(joined({"bench"}, wrong)));
    EXPECT_EQ(queues(), "");
  }
}

}  // namespace
