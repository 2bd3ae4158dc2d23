#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <type_traits>

#include "core/queue/queue_state.hpp"
#include "core/seam/statements.hpp"
#include "core/waking/watcher.hpp"

namespace tableq::inline v0::core {

/// The finding that messages may be hidden from this session's user. Needs a session; if the look
/// fails, the next read meets the failure.
[[nodiscard]] std::optional<finding_row> find_hidden(const queue_state& queue);

/// For a read that found nothing and will wait: it would wait for ever if all messages are hidden
/// from this user. Looks at most once a minute.
void refuse_hidden(const queue_state& queue);

/// Calls `read` until it returns something, the time ends or a stop is requested.
/// @param due_in asks the database how long it takes until the next message falls due; null for
///   kinds without due times.
/// @param refuses refuses to wait if all messages are hidden from this user; a worker reports it.
template <class Read, class DueIn>
[[nodiscard]] auto wait_for(const queue_state& queue, std::chrono::milliseconds longest,
                            const std::stop_token& stop, DueIn due_in, bool refuses, Read read) {
  // If a read throws, another reader must poll instead.
  struct hint_guard {
    waker* readers;
    ~hint_guard() {
      if (readers != nullptr) readers->hint();
    }
  };
  watched_queue& watched = queue.shared().watched;
  const auto until = std::chrono::steady_clock::now() + longest;
  const auto over = [&] {
    return stop.stop_requested() || std::chrono::steady_clock::now() >= until;
  };
  std::uint64_t mark = watched.readers.mark();
  auto found = read();
  if (!found.empty() || over()) return found;
  if (refuses) refuse_hidden(queue);
  watcher::waiting reader(queue.database().waking(), queue.shared().readers());
  for (;;) {
    if constexpr (!std::is_null_pointer_v<DueIn>) reader.ask_due(due_in);
    const woken reason = reader.wait(mark, until, stop);
    if (reason == woken::clock) continue;
    mark = watched.readers.mark();
    hint_guard guard{&watched.readers};
    found = read();
    if (refuses && found.empty()) refuse_hidden(queue);
    guard.readers = nullptr;
    if (!found.empty()) reader.found(reason);
    if (!found.empty() || over()) return found;
  }
}

}  // namespace tableq::inline v0::core
