#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <thread>
#include <utility>

#include <tableq/kept_delivery.hpp>

namespace tool {

/// Slows commands down while none succeeds, so that trouble of all of them (a service that is away,
/// a program that is missing) does not use up the attempts of a whole backlog.
///
/// Bad messages at the head of a queue look the same, until another message is tried. So a message
/// that comes again meanwhile is put aside, and the next one has its turn.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class brake {
 public:
  /// @param say gets a sentence when commands are held, at most once a minute.
  explicit brake(std::function<void(const std::string&)> say) : say_(std::move(say)) {}

  ~brake();
  brake(const brake&) = delete;
  brake& operator=(const brake&) = delete;

  /// The most messages that are put aside.
  static constexpr std::size_t most_aside = 500;

  /// A command has succeeded: those that wait go on, and what was put aside is given back.
  void release();
  /// The last commands run: no verdict waits from now on, and nothing is put aside.
  void open();

  /// A message is about to be handled. If it is one of those that have failed since the last
  /// success, it may have to wait for its turn: the handler returns it as kept. It is given back
  /// when its turn comes.
  [[nodiscard]] std::optional<tableq::kept_delivery> put_aside(const std::string& message);
  /// The message has failed.
  void note_failed(const std::string& message);

  /// A command has failed. The first ones in a row return at once, later ones one after the other,
  /// with pauses that grow to 5 s. A request of `stop` ends the wait.
  /// @param why the last one failed.
  void failed(const std::string& why, const std::stop_token& stop);
  /// The same for one that could not start; it waits at once.
  void not_started(const std::string& why, const std::stop_token& stop);

 private:
  using clock = std::chrono::steady_clock;
  struct message_aside {
    std::string message;
    tableq::kept_delivery kept;
  };

  /// One after the other, those that were put aside first, a quarter as often as others are tried.
  void give_turns(const std::stop_token& stop);
  void give_all_back(std::unique_lock<std::mutex>& lock);
  void wait(std::unique_lock<std::mutex>& lock, const std::string& why,
            const std::stop_token& stop);

  const std::function<void(const std::string&)> say_;
  std::mutex mutex_;  // guards all below
  std::condition_variable_any changed_;
  std::size_t failures_ = 0;  ///< In a row.
  std::size_t successes_ = 0;
  bool open_ = false;
  clock::time_point next_{};  ///< When the last of those that wait goes on.
  clock::time_point said_{};
  std::set<std::string> failed_{};  ///< Messages that have failed since the last success.
  std::set<std::string> turns_{};   ///< Of these, the ones that were given back for their turn.
  std::deque<message_aside> aside_{};
  std::jthread turner_{};  // the last member: it uses the others
};

}  // namespace tool
