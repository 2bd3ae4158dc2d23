#pragma once

#include <string>

#include <tableq/unstable/dialect.hpp>

namespace tableq::inline v0::drivers {

/// Writes a caution if the file, or the folder where it would be made, is on a file system that
/// other machines may share: SQLite's sessions agree by locks and by memory that only one kernel
/// has.
void note_file_system(const std::string& file, capabilities& of);

}  // namespace tableq::inline v0::drivers
