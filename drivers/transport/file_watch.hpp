#pragma once

#include <memory>
#include <string>

#include "core/seam/listener.hpp"
#include "drivers/transport/own_writes.hpp"

namespace tableq::drivers {

/// Hears of changes of a file and of its write-ahead log, `<file>-wal`. On Linux the system
/// notifies; elsewhere, and where the system has no more watches, the files are polled.
/// @param file an absolute path; empty: a database in memory, without notifications.
/// @param own writes that it is told of a millisecond later, where the system tells.
std::unique_ptr<core::listener> watch_file(const std::string& file, const own_writes& own);

}  // namespace tableq::drivers
