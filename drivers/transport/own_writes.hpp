#pragma once

#include <memory>

#include <tableq/dialect.hpp>

namespace tableq::drivers {

/// A watch that can be told not to wake up for a moment.
class mutable_watch {
 public:
  mutable_watch() = default;
  mutable_watch(const mutable_watch&) = delete;
  mutable_watch& operator=(const mutable_watch&) = delete;
  virtual ~mutable_watch() = default;

  /// What comes within the next moment is told at its end. Called by any thread.
  virtual void mute() noexcept = 0;
};

/// Keeps what a `database` object writes from waking its own watch. The first byte would do so, in
/// the midst of the commit, while the readers that are meant are woken at its end and without a
/// watch. A thread that wakes then is in their way: with it on the writer's processor the system
/// starts the reader on another one that slept.
///
/// @par Thread safety
/// Shared objects: safe.
class own_writes {
 public:
  /// @param of the `database` object, told by its endpoint: that very one, no copy.
  explicit own_writes(const endpoint& of);

  /// A write is about to begin. Costs nothing to speak of where nobody watches.
  void begin() noexcept;

  /// The watch is muted by each write from now on, until `remove`, which waits for a `mute` that is
  /// under way.
  void add(mutable_watch& watch);
  void remove(mutable_watch& watch) noexcept;

 private:
  class watches;
  static std::shared_ptr<watches> watches_of(const endpoint& of);

  std::shared_ptr<watches> watches_;
};

}  // namespace tableq::drivers
