#pragma once

#include <memory>

namespace tableq::inline v0::drivers {

/// A watch that can be muted for a moment.
class mutable_watch {
 public:
  mutable_watch() = default;
  mutable_watch(const mutable_watch&) = delete;
  mutable_watch& operator=(const mutable_watch&) = delete;
  virtual ~mutable_watch() = default;

  /// Delays the report of changes for a moment. Any thread may call it.
  virtual void mute() noexcept = 0;
};

/// Keeps the writes of a `database` object from waking its own file watch. The first byte of a
/// commit would wake the watch. That is useless, because the end of the commit wakes the readers
/// directly. It is also slow: the watch's thread would run on the writer's processor, and the
/// reader would start on another processor that sleeps.
///
/// Each `database` object has one; its sessions and its watch have copies that share its state.
///
/// @par Thread safety
/// Shared objects: safe.
class own_writes {
 public:
  own_writes();

  /// A write begins. Without a watch the cost is negligible.
  void begin() noexcept;

  /// From now on each write mutes the watch, until `remove`, which waits for a running `mute`.
  void add(mutable_watch& watch);
  void remove(mutable_watch& watch) noexcept;

 private:
  class watches;
  std::shared_ptr<watches> watches_;
};

}  // namespace tableq::inline v0::drivers
