#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <type_traits>

#include "core/base/at_end.hpp"
#include "core/queue/queue_state.hpp"
#include "core/seam/catalog_requests.hpp"
#include "core/waking/watcher.hpp"

namespace tableq::inline v0::core {

/// The finding that messages may be hidden from this session's user. Needs a session; if the look
/// fails, the next read meets the failure.
[[nodiscard]] std::optional<finding_row> find_hidden(const queue_state& queue);

/// For a read that found nothing and will wait: it would wait for ever if all messages are hidden
/// from this user. Looks at most once a minute.
void refuse_hidden(const queue_state& queue);

/// Lets other rooms do what the queue's options ask for beside its reads, but not beside a
/// transaction of the thread; one load if they ask for nothing.
/// @return when a reader that waits calls it again; max(): never.
std::chrono::steady_clock::time_point attend(const queue_state& queue);

/// The terms of a wait.
struct wait_terms {
  std::chrono::milliseconds longest;
  std::stop_token stop = {};
  /// Refuses to wait if all messages are hidden from this user; a worker reports it.
  bool refuses = true;
  /// The caller has just read all that there is, with the readers' mark before it: the wait begins
  /// at once.
  std::optional<std::uint64_t> read_at = {};
};

/// Calls `read(woken)` until it returns something, the time ends or a stop is requested.
/// @param due_in asks the database how long it takes until the next message falls due; null for
///   kinds without due times.
/// @param more whether the last read may have left messages behind.
template <class Read, class DueIn, class More>
[[nodiscard]] auto wait_for(const queue_state& queue, const wait_terms& terms, DueIn due_in,
                            Read read, More more) {
  watched_queue& watched = queue.shared().watched;
  const auto until = std::chrono::steady_clock::now() + terms.longest;
  const auto over = [&] {
    return terms.stop.stop_requested() || std::chrono::steady_clock::now() >= until;
  };
  std::uint64_t mark = terms.read_at.value_or(watched.readers.mark());
  decltype(read(woken::no)) found;
  bool asks = !terms.read_at;
  if (asks) found = read(woken::no);
  if (!found.empty() || over()) return found;
  if (terms.refuses) refuse_hidden(queue);
  watcher::waiting reader(queue.database().waking(), queue.shared().readers());
  for (;; asks = true) {
    if constexpr (!std::is_null_pointer_v<DueIn>) {
      if (asks) reader.ask_due(due_in);
    }
    const auto attend_at = attend(queue);
    const woken reason = reader.wait(mark, std::min(until, attend_at), terms.stop);
    const bool only_attends =
        reason == woken::no && !over() && std::chrono::steady_clock::now() >= attend_at;
    if (reason == woken::clock || only_attends) continue;
    mark = watched.readers.mark();
    // If the read throws, another reader must poll instead.
    at_end failed([&]() noexcept { watched.readers.hint(); });
    found = read(reason);
    if (terms.refuses && found.empty()) refuse_hidden(queue);
    failed.cancel();
    if (!found.empty()) reader.found(reason, more());
    if (!found.empty() || over()) return found;
  }
}

}  // namespace tableq::inline v0::core
