#pragma once

#include <csignal>
#include <mutex>

#include "signals.hpp"

namespace tool {

// Linux has these in forms of its own (system_linux.cpp), other systems of POSIX in those of
// system_portable.cpp. No command inherits one of the descriptors by chance.

/// The ends of a pipe.
struct pipe_ends {
  descriptor reader;
  descriptor writer;
};

/// @throws std::system_error, as all of these.
pipe_ends open_pipe();

/// A file that no other process can open, and that is gone with its descriptor; in memory where the
/// system can.
descriptor open_nameless_file();

/// Readable when one of the signals has come, which all threads block.
descriptor open_signals(const sigset_t& which);
/// Takes one from it; 0 when there is none.
int take_signal(const descriptor& signals);

/// The reader is readable once eight bytes were written to the writer, or to the reader where there
/// is no writer. Neither end blocks.
pipe_ends open_event();

/// Held while a command starts, if an end of a pipe that another thread opens could be inherited.
std::unique_lock<std::mutex> hold_pipes_back();

/// In the child, before it is the command: the system kills it when its parent's thread ends, if it
/// can. Calls what a signal handler may call.
void die_with_parent() noexcept;

}  // namespace tool
