#pragma once

#include <memory>
#include <string>

#include "core/seam/listener.hpp"
#include "drivers/transport/own_writes.hpp"

namespace tableq::inline v0::drivers {

/// Watches a file and its write-ahead log, `<file>-wal`, for changes. On Linux the system notifies;
/// elsewhere, and if the system has no more watches, the files are polled.
/// @param file an absolute path; empty: a database in memory, without notifications.
/// @param own writes of the same `database` object, which are reported a millisecond later if the
///   system notifies.
std::unique_ptr<core::listener> watch_file(const std::string& file, const own_writes& own);

}  // namespace tableq::inline v0::drivers
