#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "bench_queue.hpp"
#include "measure.hpp"
#include "output.hpp"
#include "status_line.hpp"

namespace tool {

/// The cases to measure, and their duration.
struct bench_settings {
  std::vector<tableq::kind> kinds = {tableq::kind::fifo, tableq::kind::claim};
  std::string queue;                     ///< Of one of these kinds; empty: a new one for each.
  std::chrono::milliseconds time{3000};  ///< For each measurement.
  std::size_t threads = 16;
  std::size_t batch = 100;
  std::size_t payload = 200;  ///< Bytes.
  bool as_json = false;
};

/// Measures kinds of queues one after the other, and prints each figure at once.
///
/// Borrows all its arguments.
class bench_run {
 public:
  bench_run(tableq::database& db, const bench_settings& settings, output& out, status_line& status);

  void heading();
  void measure(tableq::kind kind);

 private:
  struct row {
    std::string what;
    std::size_t threads;
    std::size_t batch;
    bench::outcome did;
    double single;  ///< The rate of one thread and one message a call; zero: no comparison.
  };

  [[nodiscard]] bench_queue queue_of(tableq::kind kind) const;
  double add(bench_queue& queue, std::size_t threads, std::size_t batch, double single);
  /// @param expected messages a second: enough of them are added first.
  double take(bench_queue& queue, std::size_t threads, std::size_t batch, double single,
              double expected);
  /// The time from an enqueue to a waiting thread, without other load.
  void hand_over(tableq::kind kind);
  void show(const std::string& what, std::size_t threads, std::size_t batch);
  double print_row(const row& one);
  void print(const std::string& line);

  tableq::database& db_;
  const bench_settings& settings_;
  output& out_;
  status_line& status_;
  std::string kind_;
  std::size_t stored_ = 0;
};

}  // namespace tool
