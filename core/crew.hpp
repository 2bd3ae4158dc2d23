#pragma once

#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include <tableq/error.hpp>
#include <tableq/worker.hpp>

#include "core/backoff.hpp"
#include "core/held_messages.hpp"

namespace tableq::core {

/// The threads of one worker: `take` fills the held messages, handlers empty them, `settle` tells
/// the database what became of them, and `keep` extends their leases. They share one mutex, which
/// nobody holds while he calls the database, a handler or an observer.
///
/// @par Thread safety
/// Shared objects: safe, but for join.
class crew {
 public:
  crew(claim_queue queue, worker::handler work, worker_options options);
  crew(const crew&) = delete;
  crew& operator=(const crew&) = delete;
  ~crew();

  /// Whether this is the process that began it.
  [[nodiscard]] bool here() const noexcept;
  /// @throws error errc::invalid_argument in a child of that process.
  void check_here() const;

  void stop() noexcept;
  void abandon() noexcept;
  /// Gives back what handlers still have.
  void release_running();
  [[nodiscard]] bool wait_for(std::chrono::milliseconds longest);
  void join();
  [[nodiscard]] worker_counts counts() const;

 private:
  /// Between two tries while the database is away: it works again soon after it has come back.
  static constexpr std::chrono::milliseconds shortest_pause{100};
  static constexpr std::chrono::milliseconds longest_pause{2000};

  void run(void (crew::*part)()) noexcept;
  void take_all();
  void handle_all();
  void settle_all();
  void keep_all();

  /// How many messages to take now; waits until there is room. Zero: stop.
  [[nodiscard]] std::size_t room();
  [[nodiscard]] bool nothing_left();
  [[nodiscard]] handled failed(const char* why) const;
  [[nodiscard]] handled ask_handler(const held_message& one);
  void settle(const std::vector<settlement>& batch, handled::how what);
  [[nodiscard]] std::vector<settled> settle_once(const std::vector<settlement>& batch,
                                                 handled::how what);
  void settled_as(const settlement& one, settled result);
  void not_settled(const std::vector<settlement>& batch);
  void extend(const std::vector<held>& leased);
  void give_back(std::vector<held> untried);

  /// Whether to try again; tells the observer then, and waits.
  [[nodiscard]] bool passing(const error& failure, backoff& pauses, bool until_stop);
  void tell(worker_event::kind what, const held_message& of, std::string_view why = {}) const;
  void pause(std::chrono::milliseconds length, bool until_stop);

  claim_queue queue_;
  const worker::handler work_;
  const worker_options options_;
  const std::chrono::milliseconds lease_;
  const std::size_t ahead_;
  std::stop_source stop_;     ///< No more is taken.
  std::stop_source abandon_;  ///< Handlers are asked to end.

  mutable std::mutex mutex_;
  std::condition_variable_any changed_;  ///< Anything below, and both stop sources.
  held_messages held_;
  worker_counts counts_;
  std::size_t producers_ = 0;  ///< Threads that still take or handle.
  bool taking_ = true;
  bool ended_ = false;
  std::exception_ptr failure_;

  std::vector<std::thread> threads_;
};

}  // namespace tableq::core
