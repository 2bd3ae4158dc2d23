#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include <tableq/tableq.hpp>

namespace tableq_test {

/// Uses the free room of a database, or nearly all; frees it.
struct room {
  std::function<void()> take;
  std::function<void()> give;
};

/// Fills a queue until there is no room, and continues when there is room.
void meet_a_full_disk(tableq::database& db, const room& of);

/// A worker continues by itself after the disk was full.
void work_on_a_full_disk(tableq::database& db, const room& of);

/// Runs a test in a child process, where a small file system is mounted on the folder.
/// @param size in mount's form: `8m`.
/// @return false when this is not possible here.
[[nodiscard]] bool on_small_disk(const std::filesystem::path& folder, const std::string& size,
                                 const std::function<void()>& test);

}  // namespace tableq_test
