#include "core/claim/redrive.hpp"

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "core/claim/dead_letters.hpp"
#include "core/claim/items.hpp"
#include "core/claim/messages.hpp"
#include "core/claim/step.hpp"
#include "core/database/in_transaction.hpp"
#include "core/input/validate.hpp"
#include "core/seam/statements.hpp"
#include "core/waking/change_signal.hpp"

namespace tableq::inline v0::core {
namespace {

constexpr std::size_t largest_batch = 1000;

/// Redrives all dead messages without reading them.
std::size_t redrive_blindly(const queue_state& queue) {
  const auto once = [&] {
    return claim_step(queue, nullptr, {}, queue.info().groups.has_value(),
                      [&](transaction_state* step_tx, claim_effects& done) {
                        const auto rows =
                            queue.execute(step_tx, statements::claim_redrive_all,
                                          {.max = largest_batch, .now = queue.database().now()});
                        std::vector<message_id> ids;
                        ids.reserve(rows.size());
                        for (const auto& row : rows) ids.push_back(row.id);
                        if (step_tx != nullptr && queue.info().groups)
                          lock_groups_of(queue, *step_tx, ids, done);
                        done.readable = ids.size();
                        done.readmitted = true;
                        return ids.size();
                      });
  };
  std::size_t total = 0;
  for (std::size_t moved = largest_batch; moved == largest_batch; total += moved) moved = once();
  return total;
}

/// Redrives selected messages, in batches as large as the rate allows.
class chosen {
 public:
  explicit chosen(const redrive_options& options)
      : options_(options), batch_(batch_size(options.per_second)) {}

  /// @param pages returns the messages after the given page.
  /// @param fits whether a message may return at all.
  /// @param back puts messages back; they have lost their payloads.
  template <class Pages, class Fits, class Back>
  void run(Pages pages, Fits fits, Back back) {
    page where{.max = std::min<std::size_t>(batch_, 100)};
    while (!over()) {
      std::vector<stored_message> found = pages(where);
      if (found.empty()) return;
      std::vector<stored_message> picked;
      std::size_t seen = 0;
      for (stored_message& each : found) {
        // The rest of a page is not passed over: some of the picked ones may not move.
        if (full(picked.size())) break;
        ++seen;
        const bool fit = fits(each) && (!options_.filter || options_.filter(each));
        each.payload = {};
        if (fit) picked.push_back(each);
      }
      where.after = std::move(found[seen - 1]);
      if (picked.empty()) continue;
      const redriven done = back(picked);
      total_.count += done.count;
      total_.key_held += done.key_held;
      pause(done.count);
    }
  }

  [[nodiscard]] redriven total() const noexcept { return total_; }

 private:
  /// About ten batches a second.
  static std::size_t batch_size(const std::optional<double>& per_second) {
    if (!per_second) return largest_batch;
    return static_cast<std::size_t>(
        std::clamp(*per_second / 10, 1.0, static_cast<double>(largest_batch)));
  }
  [[nodiscard]] bool full(std::size_t more) const noexcept {
    return options_.max && total_.count + more >= *options_.max;
  }
  [[nodiscard]] bool over() const noexcept { return full(0) || options_.stop.stop_requested(); }
  void pause(std::size_t moved) {
    if (!options_.per_second || over()) return;
    const std::chrono::duration<double> length(static_cast<double>(moved) / *options_.per_second);
    change_signal silent;
    silent.wait(silent.mark(), std::chrono::ceil<std::chrono::milliseconds>(length), options_.stop);
  }

  const redrive_options& options_;
  std::size_t batch_;
  redriven total_;
};

}  // namespace

std::size_t redrive(const queue_state& queue, std::span<const message_id> ids) {
  if (ids.empty()) return 0;
  return claim_step(queue, nullptr, ids, false,
                    [&](transaction_state* step_tx, claim_effects& done) {
                      done.readable = queue
                                          .execute(step_tx, statements::claim_redrive,
                                                   {.now = queue.database().now()}, items_of(ids))
                                          .size();
                      done.readmitted = true;
                      return done.readable;
                    });
}

redriven redrive_all(const queue_state& queue, const redrive_options& options) {
  if (options.per_second) check_rate(*options.per_second);
  const bool all = !options.filter && !options.max && !options.per_second;
  if (all && queue.dead_letters() == nullptr) return {.count = redrive_blindly(queue)};
  chosen work(options);
  work.run([&](const page& where) { return list(queue, message_state::dead, where); },
           [](const stored_message&) { return true; },
           [&](std::span<const stored_message> dead) -> redriven {
             std::vector<message_id> ids;
             ids.reserve(dead.size());
             for (const stored_message& each : dead) ids.push_back(each.id);
             return {.count = redrive(queue, ids)};
           });
  if (queue.dead_letters() == nullptr) return work.total();
  const auto in_letters = [&](const page& where) {
    return on_dead_letters(
        queue, [&] { return list(*queue.dead_letters(), message_state::ready, where); });
  };
  work.run(
      in_letters,
      [&](const stored_message& each) {
        const auto source = each.headers.find(source_header);
        const bool ours = source != each.headers.end() && source->second == queue.name();
        // Without its headers it would be a different message.
        return ours && !each.headers.contains(unread_header);
      },
      [&](std::span<const stored_message> letters) {
        return in_one_transaction(queue.database(), nullptr, [&](transaction_state& tx) {
          return move_back(queue, tx, letters);
        });
      });
  return work.total();
}

}  // namespace tableq::inline v0::core
