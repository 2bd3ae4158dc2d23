#pragma once

#include <cstddef>
#include <string>

#include <tableq/tableq.hpp>

#include "connection.hpp"
#include "measure.hpp"

namespace tool {

/// A queue for measurements.
class bench_queue {
 public:
  /// Creates it under an unused name. The destructor drops it.
  bench_queue(tableq::database& db, tableq::kind kind, std::size_t payload_bytes);
  /// Takes an existing queue. The destructor empties it.
  /// @throws refused_error if it holds messages, is paused or has a rate.
  bench_queue(tableq::database& db, const std::string& name, std::size_t payload_bytes);
  bench_queue(const bench_queue&) = delete;
  bench_queue& operator=(const bench_queue&) = delete;
  /// Names a queue that it cannot drop or empty on standard error.
  ~bench_queue();

  /// `dequeue`, or `take + complete`.
  [[nodiscard]] std::string read_name() const;
  /// A call for one thread that adds this number of messages.
  [[nodiscard]] bench::operation adding(std::size_t batch);
  /// A call for one thread that reads this number of messages.
  [[nodiscard]] bench::operation reading(std::size_t batch);
  /// Waits for one message and reads it.
  /// @return whether one came.
  bool receive(std::chrono::milliseconds wait);

 private:
  tableq::database& db_;
  bool created_;
  std::string name_;
  std::string payload_;
  any_queue queue_;
};

}  // namespace tool
