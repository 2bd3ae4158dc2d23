#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <tableq/claim_queue.hpp>

#include "backoff.hpp"
#include "held_messages.hpp"
#include "lease_keeper.hpp"
#include "signals.hpp"
#include "status_line.hpp"

namespace tool {

struct work_settings {
  std::vector<std::string> command;
  std::size_t concurrency = 1;
  std::chrono::milliseconds lease{};
  std::chrono::milliseconds retry_delay{};
  bool until_empty = false;
  bool verbose = false;  ///< A sentence for each message.
};

/// What became of the messages that were taken.
struct work_counts {
  std::atomic<std::size_t> completed = 0;
  std::atomic<std::size_t> failed = 0;
  std::atomic<std::size_t> released = 0;
  std::atomic<std::size_t> lease_lost = 0;
  std::atomic<std::size_t> unknown = 0;  ///< The database did not say whether it took effect.
};

/// Runs a command for each message of a queue, in as many threads as commands may run at once.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe, but for start and join.
class worker {
 public:
  /// @param status borrowed.
  worker(tableq::claim_queue queue, work_settings settings, status_line& status);
  /// Stops, and waits for the running commands.
  ~worker();

  void start();
  /// Takes no more; what runs is finished and settled.
  void stop() { stop_.request_stop(); }
  /// Signals what runs, and gives its messages back.
  void abandon(int signal);
  /// Readable when all threads have ended.
  [[nodiscard]] const completion& finished() const { return finished_; }
  /// Waits for the end and rethrows what ended it early.
  void join();

  [[nodiscard]] const work_counts& counts() const { return counts_; }
  [[nodiscard]] std::size_t running() const { return held_.count(); }

 private:
  enum class outcome { complete, fail, release };

  void loop();
  void take_and_process();
  std::optional<tableq::delivery> take(std::chrono::milliseconds wait, backoff& pauses);
  bool nothing_left(backoff& pauses);
  void process(const tableq::delivery& delivery, backoff& pauses);
  /// Gives the message back, or fails it when it is to blame. @throws usage_error when no other
  /// message will fare better.
  void not_started(const tableq::delivery& delivery, const std::error_code& reason,
                   backoff& pauses);
  void settle(const tableq::delivery& delivery, outcome how, const std::string& why = {});
  tableq::settled settle_once(const tableq::delivery& delivery, outcome how,
                              const std::string& why);
  void count(const tableq::delivery& delivery, outcome how, const std::string& why,
             tableq::settled result);

  tableq::claim_queue queue_;
  const work_settings settings_;
  status_line& status_;

  std::stop_source stop_;
  std::stop_source abandon_;
  work_counts counts_;
  held_messages held_;
  std::optional<lease_keeper> keeper_;
  std::vector<std::thread> threads_;
  std::atomic<std::size_t> alive_ = 0;
  completion finished_;

  std::mutex look_mutex_;  // guards next_look_; held while one thread looks
  std::chrono::steady_clock::time_point next_look_{};
  std::atomic<bool> settled_since_look_ = false;

  std::mutex failure_mutex_;  // guards failure_
  std::exception_ptr failure_;
};

}  // namespace tool
