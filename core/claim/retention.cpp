#include "core/claim/retention.hpp"

#include <chrono>

#include "core/database/open_transaction.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::steady_clock;
using namespace std::chrono_literals;

constexpr std::size_t most_at_once = 1000;
constexpr auto idle_pause = 10s;  // between rounds that leave nothing
constexpr auto longest_round = 100ms;

/// Deletes messages of one state until none is too old, or the time is over.
/// @return whether none is.
bool delete_some(const queue_state& queue, message_state state, std::chrono::milliseconds age,
                 steady_clock::time_point until) {
  std::size_t gone = most_at_once;
  while (gone == most_at_once && steady_clock::now() < until) {
    gone = purge_some(queue, state, age, most_at_once);
  }
  return gone < most_at_once;
}

}  // namespace

std::size_t purge_some(const queue_state& queue, message_state state, std::chrono::milliseconds age,
                       std::size_t max) {
  return queue
      .execute(nullptr, statements::claim_purge, {.state = state, .older_than = age, .max = max})
      .size();
}

void apply_retention(const queue_state& opened) noexcept {
  const queue_state& queue = opened.current();
  const retention& kept = queue.info().retention;
  if (!kept.done && !kept.dead) return;
  if (open_transaction::on_this_thread() > 0) return;
  // With a clock that a test sets, each call looks.
  queue.shared().retention.run(
      queue.database().set_clock(), [&](steady_clock::time_point now) -> steady_clock::duration {
        bool all = true;
        if (kept.done) {
          all = delete_some(queue, message_state::done, *kept.done, now + longest_round);
        }
        if (kept.dead) {
          all = delete_some(queue, message_state::dead, *kept.dead, now + longest_round) && all;
        }
        return all ? idle_pause : paced_work::usual_pause;
      });
}

}  // namespace tableq::inline v0::core
