#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <stop_token>

#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// How far a move is, and its result.
struct message_move {
  std::size_t moved = 0;     ///< Messages that are in the target now, and no longer in the source.
  std::size_t key_held = 0;  ///< Left in the source: messages of the target hold their keys.
  std::size_t leased = 0;    ///< Left in the source at the last look, with a lease.
  std::size_t held = 0;  ///< Left in the source at the last look, behind others of their groups.
  bool full = false;     ///< The target had no room at the last look.

  /// Whether none is left but completed ones, which a queue with keep_completed has.
  [[nodiscard]] bool complete() const noexcept {
    return key_held == 0 && leased == 0 && held == 0 && !full;
  }
};

/// Options of `move_messages`.
struct move_options {
  bool once = false;        ///< True: does not wait for what is leased, nor for room.
  bool dry_run = false;     ///< True: checks all, counts what would move, and changes nothing.
  std::size_t batch = 100;  ///< Messages in one transaction, 1 to 1,000.
  /// How long another move of the queue waits after a process has died in this one. 1 ms to 365
  /// days.
  std::chrono::milliseconds lease = std::chrono::seconds{30};
  /// A request ends the move after the current batch: nothing is lost, and another call goes on.
  std::stop_token stop = {};
  /// Called after each batch, in the calling thread, outside of transactions. Its exceptions end
  /// the move and come out of it.
  std::function<void(const message_move&)> progress = {};
};

/// Moves the messages of a claim queue to the queue of the same name and options in another
/// database, which may be of another kind, until the source is empty. Programs go on with both
/// queues. Each message is in one of them, whatever dies: docs/moving.md has the promises, and the
/// two queues of its own, NAME.out in the source and NAME.in in the target, that it uses for them.
///
/// Ready, delayed, held and dead messages move, with attempts, errors, headers, keys, groups and
/// rules of their own, and get new ids. A leased message follows when it is given back. Completed
/// ones, and progress, do not move. A message whose key another one holds in the target stays. Of
/// queues with groups pause the source first: else one of a group may run there beside an earlier
/// one in the target.
/// @param queue its name, of up to 36 bytes.
/// @return what moved, and what is left.
/// @throws error errc::not_found for a queue that is missing on a side, errc::kind_mismatch for one
///   of another kind, errc::options_mismatch for options that differ, errc::unsupported for one
///   with batches; errc::invalid_argument for options out of range, for one queue twice or a copy
///   of it, and in a thread with an open transaction of either database; errc::busy while another
///   call moves the queue; errc::too_large for a message that the target does not take; and those
///   of every call. Then call it again: it goes on.
TABLEQ_EXPORT message_move move_messages(database& from, database& to, text_view queue,
                                         const move_options& options = {});

}  // namespace tableq::inline v0
