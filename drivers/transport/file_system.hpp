#pragma once

#include <string>

#include <tableq/unstable/dialect.hpp>

namespace tableq::inline v0::drivers {

/// The file that has the name now, from the root: later sessions open it although the directory may
/// change. As it is, if that cannot be told.
[[nodiscard]] std::string name_from_root(const std::string& file);

/// Writes a caution if the file, or the folder where it would be made, is on a file system that
/// other machines may share: SQLite's sessions agree by locks and by memory that only one kernel
/// has. Also if the file has several names, since these sessions find the memory and the log by the
/// name.
void note_file_system(const std::string& file, capabilities& of);

}  // namespace tableq::inline v0::drivers
