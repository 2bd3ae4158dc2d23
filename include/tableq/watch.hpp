#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/queue.hpp>

namespace tableq::inline v0 {

/// A set of queues and one descriptor, for programs with an event loop: it waits for any number of
/// queues without a thread for each.
///
/// The descriptor is readable while a queue may have a message. Then, until `next` is empty: read
/// from the queue that it names without waiting, and call `done` with the number of messages.
///
/// @code
/// while (const auto number = loop.next()) {
///   const auto taken = queues[*number].take(10);
///   loop.done(*number, taken.size());
///   ...
/// }
/// @endcode
///
/// A queue is named once for each piece of news: when it is added, when a message is enqueued, here
/// or elsewhere, or falls due, and from time to time as a waiting read polls (docs/waiting.md). A
/// message starts at most one read in each watch, and a read that found something starts the next.
/// Watches do not take news from each other, nor from waiting reads. Queues may be of several
/// databases, which it keeps open. Only `done` sends statements.
///
/// Owns the descriptor, and no thread; each database has one while it has queues in watches. A
/// moved-from watch has no queues and no descriptor; `add` and `done` are then
/// errc::invalid_argument. In a child of fork() too.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: safe, except moves and destruction.
class TABLEQ_EXPORT watch {
 public:
  /// @throws error errc::busy when the system has no descriptor left.
  watch();
  watch(watch&&) noexcept;
  /// Ends its own queues and descriptor first, as the destructor does.
  watch& operator=(watch&&) noexcept;
  /// Closes the descriptor: take it out of the event loop before.
  ~watch();

  /// Adds a queue of any kind; it is named at once.
  /// @param number the caller's own name for it.
  /// @throws error errc::invalid_argument for a number that a queue of this watch has, and for a
  ///   handle that is bound to a transaction; errc::busy when the system cannot create a thread.
  void add(const queue& watched, std::int64_t number);
  /// Takes a queue out: it is not named any more. Nothing happens if it is not there.
  void remove(std::int64_t number) noexcept;

  /// Wait until it is readable, and do nothing else with it. Valid as long as the watch. -1 in a
  /// moved-from one, and in a child of fork().
  [[nodiscard]] int descriptor() const noexcept;
  /// The number of the next queue that may have a message. Never waits, and asks no database.
  /// @return empty: the descriptor is not readable any more.
  [[nodiscard]] std::optional<std::int64_t> next() noexcept;
  /// What a read from a queue found after `next` has named it.
  /// @param found above zero: there may be more, and the queue is named again. Zero, also after a
  ///   read that failed: the call may ask the database when the next message falls due.
  /// @throws error the errors of every operation; errc::invalid_argument for a number that no queue
  ///   has; errc::permission_denied when row level security hides all messages from this user.
  void done(std::int64_t number, std::size_t found);

 private:
  std::unique_ptr<core::watch_state> state_;
};

}  // namespace tableq::inline v0
