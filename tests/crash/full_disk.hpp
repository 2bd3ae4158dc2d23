#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <tableq/tableq.hpp>

namespace tableq_test {

/// Takes the room that a database has left, or nearly; gives it back.
struct room {
  std::function<void()> take;
  std::function<void()> give;
};

/// Fills a queue until there is no room, and goes on when there is.
void meet_a_full_disk(tableq::database& db, const room& of);

/// A worker goes on by itself after the disk was full.
void work_on_a_full_disk(tableq::database& db, const room& of);

/// Runs a test in a child process, where a small file system is mounted on the folder.
/// @param size as mount reads it: `8m`.
/// @return false when that cannot be had here.
[[nodiscard]] bool on_small_disk(const std::filesystem::path& folder, const std::string& size,
                                 const std::function<void()>& test);

}  // namespace tableq_test
