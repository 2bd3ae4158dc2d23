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

  /// Changes within the next moment are reported at its end. Any thread may call it.
  virtual void mute() noexcept = 0;
};

/// Keeps the writes of a `database` object from waking its own file watch. The first byte would
/// wake it in the middle of the commit; its readers are woken at the end of the commit, without the
/// watch. The woken thread would run on the writer's processor, and the system would start the
/// reader on another, sleeping one.
///
/// One for each `database` object; its sessions and its watch have copies, which are the same.
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
