#pragma once

#include <cstdint>
#include <thread>
#include <vector>

#include <tableq/tableq.hpp>

namespace bench {

/// A thread that waits for messages of a queue, and the times at which they were sent and received.
class waiting_reader {
 public:
  explicit waiting_reader(tableq::fifo_queue mail);

  /// Enqueues a message.
  void send();
  /// Ends the thread. The time from the call of each enqueue to the return of its dequeue, in
  /// microseconds.
  [[nodiscard]] std::vector<double> finish();

 private:
  tableq::fifo_queue mail_;
  std::vector<std::int64_t> sent_;
  std::vector<std::int64_t> received_;
  std::jthread reader_;
};

}  // namespace bench
