#include "drivers/transport/file_watch.hpp"

#if defined(TABLEQ_LINUX)
#include <sys/inotify.h>
#include <unistd.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/wake_pipe.hpp"
#include "drivers/transport/files.hpp"

namespace tableq::inline v0::drivers {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// The common base of all watches. A change of a file names no queue.
class file_listener : public core::listener {
 public:
  bool follow(const core::table_names& /*names*/, bool /*begins*/) override { return true; }
};

class nothing_to_watch final : public file_listener {
 public:
  core::received_notices wait(milliseconds longest) override {
    wakes().wait(-1, longest);
    return {};
  }
};

/// Polls the files every few milliseconds.
class polling_watch final : public file_listener {
 public:
  explicit polling_watch(const std::string& file) : files_{file, file + "-wal"} { changed(); }

  core::received_notices wait(milliseconds longest) override {
    const auto until = steady_clock::now() + longest;
    for (;;) {
      if (changed()) return {.any_queue = true};
      const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
      if (left.count() <= 0) return {};
      constexpr milliseconds pause{5};
      if (wakes().wait(-1, std::min(left, pause)) == core::wake_pipe::woken_by::raised) return {};
    }
  }

 private:
  bool changed() {
    const std::array now{state_of_file(files_[0]), state_of_file(files_[1])};
    return std::exchange(seen_, now) != now;
  }

  std::array<std::string, 2> files_;
  std::array<file_state, 2> seen_;
};

#if defined(TABLEQ_LINUX)
/// The system reports each write. While writes are frequent, only some of them are reported.
class inotify_watch final : public file_listener {
 public:
  explicit inotify_watch(const std::filesystem::path& file)
      : log_(file.string() + "-wal"),
        name_(file.filename().string()),
        events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
    usable_ = ::inotify_add_watch(events_, file.parent_path().c_str(),
                                  added_events | removed_events | IN_MOVE_SELF) >= 0 &&
              ::inotify_add_watch(events_, file.c_str(), IN_MODIFY) >= 0;
    watch_log();
  }
  inotify_watch(const inotify_watch&) = delete;
  inotify_watch& operator=(const inotify_watch&) = delete;
  ~inotify_watch() override {
    if (events_ >= 0) ::close(events_);
  }

  [[nodiscard]] bool usable() const noexcept { return usable_; }

  core::received_notices wait(milliseconds longest) override {
    const auto now = steady_clock::now();
    if (now < ignores_until_) {
      const auto rest = std::chrono::ceil<milliseconds>(ignores_until_ - now);
      const milliseconds pause = std::min(longest, rest);
      if (wakes().wait(-1, pause) == core::wake_pipe::woken_by::raised || pause < rest) return {};
      longest -= pause;
    }
    if (wakes().wait(events_, longest) != core::wake_pipe::woken_by::other) return {};
    const bool relevant = read_events();
    const auto reported_at = steady_clock::now();
    constexpr milliseconds shortest{1};
    constexpr milliseconds most{10};
    // A report right after the pause shows continuous writes, so the pause grows.
    rest_ = reported_at < ignores_until_ + rest_ ? std::min(rest_ * 2, most) : shortest;
    ignores_until_ = reported_at + rest_;
    return {.any_queue = relevant};
  }

 private:
  static constexpr std::uint32_t added_events = IN_CREATE | IN_MOVED_TO;
  static constexpr std::uint32_t removed_events = IN_DELETE | IN_MOVED_FROM;

  /// The first session creates the log, and the last one of all processes removes it.
  void watch_log() { ::inotify_add_watch(events_, log_.c_str(), IN_MODIFY); }

  /// Reads all events.
  /// @return whether one of them concerns the file or its log.
  bool read_events() {
    bool relevant = false;
    alignas(inotify_event) std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t got = ::read(events_, buffer.data(), buffer.size());
      if (got <= 0) return relevant;
      for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + at, sizeof event);
        // Other events: a change, dropped events, or a folder that was moved.
        const bool folder_event = (event.mask & (added_events | removed_events)) != 0;
        const std::string_view name(folder_event ? buffer.data() + at + sizeof event : "");
        const bool log_event = folder_event && name == name_ + "-wal";
        if (log_event && (event.mask & added_events) != 0) watch_log();
        // If the file is gone, readers wake and report that.
        if (!folder_event || log_event || name == name_) relevant = true;
        at += sizeof event + event.len;
      }
    }
  }

  const std::string log_;
  const std::string name_;  ///< Of the file, in its folder.
  const int events_;
  bool usable_ = false;
  steady_clock::time_point ignores_until_{};
  milliseconds rest_{1};
};
#endif

}  // namespace

std::unique_ptr<core::listener> watch_file(const std::string& file) {
  if (file.empty()) return std::make_unique<nothing_to_watch>();
#if defined(TABLEQ_LINUX)
  auto watch = std::make_unique<inotify_watch>(file);
  if (watch->usable()) return watch;
#endif
  return std::make_unique<polling_watch>(file);
}

}  // namespace tableq::inline v0::drivers
