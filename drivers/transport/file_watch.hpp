#pragma once

#include <memory>
#include <string>

#include "core/seam/listener.hpp"

namespace tableq::inline v0::drivers {

/// Watches a file and its write-ahead log, `<file>-wal`, for changes. On Linux the system notifies;
/// elsewhere, and if the system has no more watches, the files are polled.
/// @param file an absolute path; empty: a database in memory, without notifications.
std::unique_ptr<core::listener> watch_file(const std::string& file);

}  // namespace tableq::inline v0::drivers
