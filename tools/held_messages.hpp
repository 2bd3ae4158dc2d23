#pragma once

#include <sys/types.h>

#include <cstddef>
#include <list>
#include <mutex>
#include <span>
#include <vector>

#include <tableq/message.hpp>

#include "child.hpp"

namespace tool {

/// The messages that this process has taken and not settled, with the commands that work on them.
///
/// Commands are signalled and reaped under one lock, so that a signal never meets a process id that
/// was given away.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe.
class held_messages {
  struct entry {
    tableq::receipt receipt;
    pid_t child = 0;  // zero while none runs
  };

 public:
  /// One held message, for as long as this object lives.
  class holding {
   public:
    holding(held_messages& all, const tableq::receipt& receipt);
    ~holding();
    holding(const holding&) = delete;
    holding& operator=(const holding&) = delete;

    /// The command runs. It gets at once what `signal_all` sent before.
    void started(pid_t child);
    /// Waits for its end.
    child_end wait();

   private:
    held_messages& all_;
    std::list<entry>::iterator entry_;
  };

  [[nodiscard]] std::size_t count() const;
  [[nodiscard]] std::vector<tableq::receipt> receipts() const;

  /// To the commands of these messages, as far as they still run.
  void signal(std::span<const tableq::receipt> receipts, int number);
  /// To all commands, and to those that start later.
  void signal_all(int number);

 private:
  mutable std::mutex mutex_;  // guards all below
  std::list<entry> entries_;
  int pending_signal_ = 0;
};

}  // namespace tool
