#pragma once

#include <chrono>
#include <functional>
#include <optional>

#include <tableq/worker.hpp>

#include "command_runner.hpp"
#include "guard.hpp"
#include "signals.hpp"
#include "status_line.hpp"

namespace tool {

/// The end of `work` by signals and by time. The first signal stops the worker, the second one or
/// the end of the grace ends its commands, and the third one, or 3 s, kills them. After 2 s more,
/// or the fourth signal, `work` ends with calls to the database that have not returned.
///
/// @par Thread safety
/// Shared objects: unsafe, except for give_up.
class ending {
 public:
  /// @param grace empty: no step but the last one comes by time.
  /// @param verbose says what each step does.
  ending(const signal_queue& signals, guard& watch, command_runner& commands, status_line& status,
         std::optional<std::chrono::milliseconds> grace, bool verbose);

  /// @param pool null: it is gone.
  void serve(tableq::worker* pool);
  /// No command can start: stops the worker.
  void give_up() const { hopeless_.set(); }
  /// Whether a signal asked for the end.
  [[nodiscard]] bool asked() const { return steps_ > 0; }

  /// Waits for the event, and does what signals and the time ask for.
  /// @param turn is called repeatedly while a terminal shows the progress.
  /// @return false: it is time to leave.
  [[nodiscard]] bool wait_for(const completion& event, const std::function<void()>& turn = {});
  /// Waits in the same way for a call to the database, in a thread of its own; leaves if it is time
  /// to. Before the worker the first signal does that: nothing has been taken.
  /// @throws what the call throws.
  void call(const std::function<void()>& what);
  /// Ends the process, with its commands, and waits for no other thread.
  [[noreturn]] void leave();

 private:
  void step();
  /// Does what it is time for. @return how long until the next step; -1: nothing is due.
  int on_time();

  const signal_queue& signals_;
  guard& guard_;
  command_runner& commands_;
  status_line& status_;
  const std::optional<std::chrono::milliseconds> grace_;
  const bool verbose_;
  const completion hopeless_;
  bool stopped_ = false;  ///< By give_up.
  bool served_ = false;
  tableq::worker* pool_ = nullptr;
  int steps_ = 0;
  bool over_ = false;  ///< It is time to leave.
  std::optional<std::chrono::steady_clock::time_point> next_;
};

}  // namespace tool
