#include "core/queue/waiting.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include <tableq/error.hpp>

#include "core/database/open_transaction.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {

std::optional<finding_row> find_hidden(const queue_state& queue) {
  try {
    return queue.database().on_session([&](connection& session) -> std::optional<finding_row> {
      auto rows = run(session, queue.names(), statements::queue_hidden);
      if (rows.empty()) return std::nullopt;
      return std::move(rows.front());
    });
  } catch (const error&) {  // The next read meets the failure, unless only the look is refused.
    return std::nullopt;
  }
}

std::chrono::steady_clock::time_point attend(const queue_state& queue) {
  auto next = std::chrono::steady_clock::time_point::max();
  if (!queue.shared().attended.load(std::memory_order_relaxed)) return next;
  if (open_transaction::on_this_thread() > 0) return next;
  const auto heard = queue.shared().stored.last();
  for (const upkeep& work : queue.database().upkeeps())
    next = std::min(next, work(queue, heard == nullptr ? queue.info() : heard->info));
  return next;
}

void refuse_hidden(const queue_state& queue) {
  using clock = std::chrono::steady_clock;
  constexpr std::chrono::minutes between_looks{1};
  constexpr int all = 2;
  std::atomic<clock::rep>& next = queue.shared().hidden_look_at;
  const clock::time_point now = clock::now();
  if (now.time_since_epoch().count() < next.load()) return;
  next.store((now + between_looks).time_since_epoch().count());
  const auto found = find_hidden(queue);
  if (!found || found->severity < all) return;
  next.store(0);
  throw error(errc::permission_denied, advice::never, found->what + ": " + found->fix,
              {.backend = queue.database().name()});
}

}  // namespace tableq::inline v0::core
