#pragma once

#include <cstddef>
#include <string>

#include <tableq/tableq.hpp>

#include "bench_measure.hpp"
#include "connection.hpp"

namespace tool {

/// A queue that is only there to be measured: made by the constructor under a name that nobody has,
/// dropped by the destructor with all that is in it.
class bench_queue {
 public:
  bench_queue(tableq::database& db, tableq::kind kind, std::size_t payload_bytes);
  bench_queue(const bench_queue&) = delete;
  bench_queue& operator=(const bench_queue&) = delete;
  /// What it cannot drop it names on standard error.
  ~bench_queue();

  /// `dequeue`, or `take + complete`.
  [[nodiscard]] std::string read_name() const;
  /// A call that adds so many messages, for one thread.
  [[nodiscard]] bench_call adding(std::size_t batch);
  /// A call that reads so many, for one thread.
  [[nodiscard]] bench_call reading(std::size_t batch);
  /// Reads one message, waiting for it. @return whether one came.
  bool receive(std::chrono::milliseconds wait);

 private:
  tableq::database& db_;
  std::string name_;
  std::string payload_;
  any_queue queue_;
};

}  // namespace tool
