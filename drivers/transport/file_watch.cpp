#include "drivers/transport/file_watch.hpp"

#include <sys/stat.h>
#if defined(__linux__)
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/timerfd.h>
#endif

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <string_view>
#include <utility>

#include "drivers/transport/interrupter.hpp"
#include "drivers/transport/own_writes.hpp"

namespace tableq::inline v0::drivers {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// Common to all watches: a change of a file names no queue.
class whole_file : public core::listener {
 public:
  bool follow(const core::table_names& /*names*/, std::int64_t /*identity*/) override {
    return true;
  }
  void leave(const core::table_names& /*names*/, std::int64_t /*identity*/) override {}
  void interrupt() noexcept override { interrupter_.interrupt(); }

 protected:
  interrupter& interruption() noexcept { return interrupter_; }

 private:
  interrupter interrupter_;
};

class nothing_to_watch final : public whole_file {
 public:
  core::received_notices wait(milliseconds longest) override {
    interruption().wait(-1, longest);
    return {};
  }
};

/// Size, time and node of a file, which show that it was written to.
struct stamp {
  std::int64_t size = -1;
  std::int64_t seconds = 0;
  std::int64_t nanoseconds = 0;
  std::uint64_t node = 0;

  friend bool operator==(const stamp&, const stamp&) = default;
};

stamp stamp_of(const std::string& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) return {};
#if defined(__APPLE__)
  const timespec& changed = found.st_mtimespec;
#else
  const timespec& changed = found.st_mtim;
#endif
  return {.size = found.st_size,
          .seconds = changed.tv_sec,
          .nanoseconds = changed.tv_nsec,
          .node = found.st_ino};
}

/// Looks at the files every few milliseconds.
class stamp_watch final : public whole_file {
 public:
  explicit stamp_watch(const std::string& file) : files_{file, file + "-wal"} { changed(); }

  core::received_notices wait(milliseconds longest) override {
    const auto until = steady_clock::now() + longest;
    for (;;) {
      if (changed()) return {.any_queue = true};
      const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
      if (left.count() <= 0) return {};
      constexpr milliseconds pause{5};
      if (interruption().wait(-1, std::min(left, pause)) == interrupter::woken_by::interrupted)
        return {};
    }
  }

 private:
  bool changed() {
    const std::array now{stamp_of(files_[0]), stamp_of(files_[1])};
    return std::exchange(seen_, now) != now;
  }

  std::array<std::string, 2> files_;
  std::array<stamp, 2> seen_;
};

#if defined(__linux__)
/// A descriptor, closed by the destructor. Negative: there is none.
class descriptor {
 public:
  explicit descriptor(int opened) noexcept : opened_(opened) {}
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() {
    if (opened_ >= 0) ::close(opened_);
  }

  [[nodiscard]] int get() const noexcept { return opened_; }

 private:
  int opened_;
};

/// Waits for another descriptor to be readable; while it is muted, not before a timer has run out.
class mutable_descriptor {
 public:
  explicit mutable_descriptor(int of) noexcept
      : of_(of),
        either_(::epoll_create1(EPOLL_CLOEXEC)),
        timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)),
        usable_(control(EPOLL_CTL_ADD, of_) && control(EPOLL_CTL_ADD, timer_.get())) {}

  [[nodiscard]] bool usable() const noexcept { return usable_; }
  /// Readable when the other descriptor is, or when the timer has run out.
  [[nodiscard]] int either() const noexcept { return either_.get(); }

  /// Any thread may call it. Does not extend a pause that has begun.
  void mute() noexcept {
    const std::scoped_lock hold(mutex_);
    if (muted_ || !start_timer()) return;
    // With no requested events it would still wake: the wake-up of inotify names no event.
    muted_ = control(EPOLL_CTL_DEL, of_);
  }

  void unmute() noexcept {
    const std::scoped_lock hold(mutex_);
    std::uint64_t times = 0;
    [[maybe_unused]] const ssize_t ignored = ::read(timer_.get(), &times, sizeof times);
    if (muted_) muted_ = !control(EPOLL_CTL_ADD, of_);
    if (muted_) start_timer();  // The system had no memory for it: tried again.
  }

 private:
  bool start_timer() noexcept {
    constexpr itimerspec moment{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = 1'000'000}};
    return ::timerfd_settime(timer_.get(), 0, &moment, nullptr) == 0;
  }
  bool control(int what, int descriptor) noexcept {
    epoll_event of{.events = EPOLLIN, .data = {}};
    return ::epoll_ctl(either_.get(), what, descriptor, &of) == 0;
  }

  const int of_;
  const descriptor either_;
  const descriptor timer_;
  const bool usable_;
  std::mutex mutex_;
  bool muted_ = false;
};

/// The system reports each write. Frequent writes are reported only now and then.
class told_by_system final : public whole_file, private mutable_watch {
 public:
  told_by_system(std::string file, own_writes own)
      : file_(std::move(file)),
        log_(file_ + "-wal"),
        events_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
        watched_(events_.get()),
        own_writes_(std::move(own)) {
    const std::size_t slash = file_.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : file_.substr(0, slash + 1);
    usable_ = watched_.usable() &&
              ::inotify_add_watch(events_.get(), folder.c_str(), come | gone | IN_MOVE_SELF) >= 0 &&
              ::inotify_add_watch(events_.get(), file_.c_str(), IN_MODIFY) >= 0;
    watch_log();
    own_writes_.add(*this);
  }
  told_by_system(const told_by_system&) = delete;
  told_by_system& operator=(const told_by_system&) = delete;
  ~told_by_system() override { own_writes_.remove(*this); }

  [[nodiscard]] bool usable() const noexcept { return usable_; }

  core::received_notices wait(milliseconds longest) override {
    const auto now = steady_clock::now();
    if (now < deaf_until_) {
      const auto rest = std::chrono::ceil<milliseconds>(deaf_until_ - now);
      const milliseconds pause = std::min(longest, rest);
      if (interruption().wait(-1, pause) == interrupter::woken_by::interrupted || pause < rest)
        return {};
      longest -= pause;
    }
    if (interruption().wait(watched_.either(), longest) != interrupter::woken_by::other) return {};
    watched_.unmute();
    const bool ours = take_in();
    const auto told = steady_clock::now();
    constexpr milliseconds shortest{1};
    constexpr milliseconds most{10};
    // Reported again right after the pause: a process writes all the time.
    rest_ = told < deaf_until_ + rest_ ? std::min(rest_ * 2, most) : shortest;
    deaf_until_ = told + rest_;
    return {.any_queue = ours};
  }

 private:
  static constexpr std::uint32_t come = IN_CREATE | IN_MOVED_TO;
  static constexpr std::uint32_t gone = IN_DELETE | IN_MOVED_FROM;

  void mute() noexcept override { watched_.mute(); }

  /// The first session creates the log, and the last one of all processes removes it.
  void watch_log() { ::inotify_add_watch(events_.get(), log_.c_str(), IN_MODIFY); }

  /// @param name of a file in the folder that holds both.
  static bool is(const std::string& path, std::string_view name) noexcept {
    return path.size() > name.size() && path.ends_with(name) &&
           path[path.size() - name.size() - 1] == '/';
  }

  /// Reads all events.
  /// @return whether one is about the file or its log.
  bool take_in() {
    bool ours = false;
    alignas(inotify_event) std::array<char, 4096> buffer{};
    for (;;) {
      const ssize_t got = ::read(events_.get(), buffer.data(), buffer.size());
      if (got <= 0) return ours;
      for (std::size_t at = 0; at < static_cast<std::size_t>(got);) {
        inotify_event event{};
        std::memcpy(&event, buffer.data() + at, sizeof event);
        const char* const name = buffer.data() + at + sizeof event;
        // Neither: a change, dropped events, or a folder that was moved.
        const bool of_folder = (event.mask & (come | gone)) != 0;
        const bool of_log = of_folder && is(log_, name);
        if (of_log && (event.mask & come) != 0) watch_log();
        // A file that is gone wakes readers, which then find that out.
        if (!of_folder || of_log || is(file_, name)) ours = true;
        at += sizeof event + event.len;
      }
    }
  }

  const std::string file_;
  const std::string log_;
  const descriptor events_;
  mutable_descriptor watched_;
  own_writes own_writes_;
  bool usable_ = false;
  steady_clock::time_point deaf_until_{};
  milliseconds rest_{1};
};
#endif

}  // namespace

std::unique_ptr<core::listener> watch_file(const std::string& file, const own_writes& own) {
  if (file.empty()) return std::make_unique<nothing_to_watch>();
#if defined(__linux__)
  auto told = std::make_unique<told_by_system>(file, own);
  if (told->usable()) return told;
#endif
  return std::make_unique<stamp_watch>(file);
}

}  // namespace tableq::inline v0::drivers
