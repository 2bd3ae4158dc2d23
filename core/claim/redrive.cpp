#include "core/claim/redrive.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/claim/dead_letters.hpp"
#include "core/claim/groups.hpp"
#include "core/claim/messages.hpp"
#include "core/database/in_transaction.hpp"
#include "core/input/validate.hpp"
#include "core/queue/limit_gates.hpp"
#include "core/waking/change_signal.hpp"

namespace tableq::core {
namespace {

constexpr std::size_t largest_batch = 1000;

/// All dead messages, without a look at any.
std::size_t redrive_blindly(const queue_state& of) {
  const value max = to_value(largest_batch);
  const auto some = [&](transaction* in) {
    std::vector<message_id> ids;
    const row_set rows = of.execute(in, statement::claim_redrive_all, {&max, 1});
    for (std::size_t i = 0; i < rows.size(); ++i) ids.push_back({rows.integer(i, 0)});
    return ids;
  };
  const auto once = [&] {
    if (!of.info().groups) return some(nullptr).size();
    return in_one_transaction(of.database(), nullptr, [&](transaction& in) {
      const std::vector<message_id> ids = some(&in);
      return advancing(of, &in, ids, [&](transaction*) { return ids.size(); });
    });
  };
  std::size_t total = 0;
  for (std::size_t moved = largest_batch; moved == largest_batch; total += moved) moved = once();
  of.announce(nullptr, total);
  came_back(of, nullptr);
  return total;
}

/// Puts messages back by a choice, in batches as large as the rate allows.
class chosen {
 public:
  explicit chosen(const redrive_options& options)
      : options_(options), batch_(batch_size(options.per_second)) {}

  /// @param pages lists the next messages after one.
  /// @param fits whether one may come back at all.
  /// @param back puts messages back, and returns how many.
  template <class Pages, class Fits, class Back>
  void run(Pages pages, Fits fits, Back back) {
    page where{.max = std::min<std::size_t>(batch_, 100)};
    while (!over()) {
      std::vector<stored_message> found = pages(where);
      if (found.empty()) return;
      std::vector<message_id> ids;
      for (const stored_message& each : found) {
        if (full(ids.size())) break;
        if (fits(each) && (!options_.filter || options_.filter(each))) ids.push_back(each.id);
      }
      where.after = std::move(found.back());
      where.after->payload.clear();
      if (ids.empty()) continue;
      const std::size_t moved = back(ids);
      total_ += moved;
      pause(moved);
    }
  }

  [[nodiscard]] std::size_t total() const noexcept { return total_; }

 private:
  /// About ten batches a second.
  static std::size_t batch_size(double per_second) {
    if (per_second <= 0) return largest_batch;
    return static_cast<std::size_t>(
        std::clamp(per_second / 10, 1.0, static_cast<double>(largest_batch)));
  }
  [[nodiscard]] bool full(std::size_t more) const noexcept {
    return options_.max != 0 && total_ + more >= options_.max;
  }
  [[nodiscard]] bool over() const noexcept { return full(0) || options_.stop.stop_requested(); }
  void pause(std::size_t moved) {
    if (options_.per_second <= 0 || over()) return;
    const std::chrono::duration<double> length(static_cast<double>(moved) / options_.per_second);
    bell silent;
    silent.wait(silent.mark(), std::chrono::ceil<std::chrono::milliseconds>(length), options_.stop);
  }

  const redrive_options& options_;
  std::size_t batch_;
  std::size_t total_ = 0;
};

}  // namespace

std::size_t redrive(const queue_state& of, std::span<const message_id> ids) {
  if (ids.empty()) return 0;
  std::vector<value> items;
  items.reserve(ids.size());
  for (const message_id id : ids) items.emplace_back(id.value);
  const std::size_t count = advancing(of, nullptr, ids, [&](transaction* in) {
    return of.execute_batch(in, statement::claim_redrive, {}, items).size();
  });
  of.announce(nullptr, count);
  came_back(of, nullptr);
  return count;
}

std::size_t redrive_all(const queue_state& of, const redrive_options& options) {
  check_rate(options.per_second);
  const bool all = !options.filter && options.max == 0 && options.per_second <= 0;
  if (all && of.dead_letters() == nullptr) return redrive_blindly(of);
  chosen work(options);
  work.run([&](const page& where) { return list(of, message_state::dead, where); },
           [](const stored_message&) { return true; },
           [&](std::span<const message_id> ids) { return redrive(of, ids); });
  if (of.dead_letters() == nullptr) return work.total();
  work.run([&](const page& where) { return list(*of.dead_letters(), message_state::ready, where); },
           [&](const stored_message& each) {
             const auto source = each.headers.find(source_header);
             return source != each.headers.end() && source->second == of.name();
           },
           [&](std::span<const message_id> ids) {
             return in_one_transaction(of.database(), nullptr,
                                       [&](transaction& tx) { return exhume(of, tx, ids); });
           });
  return work.total();
}

}  // namespace tableq::core
