#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace tableq_test {

/// What the disk does with files whose names have an ending, while the object lives: the program's
/// own `pwrite64`, `fdatasync` and `fsync` stand before the system's. One at a time.
class bad_disk {
 public:
  enum class call { write, flush };

  /// @param error `errno` of the calls that fail. @param times so many fail; -1: all.
  bad_disk(call which, int error, std::string ending, int times = -1);
  bad_disk(const bad_disk&) = delete;
  bad_disk& operator=(const bad_disk&) = delete;
  ~bad_disk();

  /// How many calls have failed.
  [[nodiscard]] int failed() const noexcept;
};

/// Calls a function before each write to a file of that ending, while the object lives.
class write_watch {
 public:
  write_watch(std::string ending, std::function<void()> before);
  write_watch(const write_watch&) = delete;
  write_watch& operator=(const write_watch&) = delete;
  ~write_watch();
};

/// `statfs` tells this type of every file system, while the object lives.
class told_file_system {
 public:
  explicit told_file_system(std::uint32_t type);
  told_file_system(const told_file_system&) = delete;
  told_file_system& operator=(const told_file_system&) = delete;
  ~told_file_system();
};

/// SQLite finds no folder for temporary files, while the object lives.
class no_temporary_folder {
 public:
  no_temporary_folder();
  no_temporary_folder(const no_temporary_folder&) = delete;
  no_temporary_folder& operator=(const no_temporary_folder&) = delete;
  ~no_temporary_folder();
};

}  // namespace tableq_test
