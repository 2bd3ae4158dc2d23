// Lists and changes messages of a claim queue by a filter.

#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tableq/claim_queue.hpp>
#include <tableq/text.hpp>

#include "core/base/errors.hpp"
#include "core/claim/dead_letters.hpp"
#include "core/claim/messages.hpp"
#include "core/claim/operations.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/operation.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/statements.hpp"
#include "core/waking/change_signal.hpp"

namespace tableq::inline v0::core {
namespace {

constexpr int done_bit = bit_of(message_state::done);
constexpr int dead_bit = bit_of(message_state::dead);
constexpr int leased_bit = bit_of(message_state::leased);
constexpr int every_state = cancelled_states | leased_bit | done_bit;

/// The states of the messages that an action changes.
/// @param changes those that it can change.
int wanted_states(const message_filter& filter, int changes, std::string_view action) {
  if (!filter.state) return changes;
  const int wanted = bit_of(*filter.state);
  if ((wanted & changes) == 0) {
    refuse(std::string(action) + " changes no messages that are " +
           std::string(to_string(*filter.state)) + ": give another state, or none");
  }
  return wanted;
}

void check_bulk(const message_filter& filter, const bulk_options& options) {
  check_filter(filter);
  check_batch_size(options.batch, 1000);
  const bool any = filter.state || filter.older_than || filter.header || filter.group ||
                   filter.key_prefix || filter.error;
  if (!any && !filter.all) {
    refuse("a filter without a condition concerns every message: set `all` if that is meant");
  }
}

/// The messages of one queue that an action concerns.
struct bulk_part {
  const queue_state& queue;
  int states;
  /// Changes them, and counts. A dry run calls it only for a dead-letter queue.
  std::function<bulk_result(std::span<const message_id>)> change;
  const queue_state* letters_of = nullptr;  ///< `queue` is the dead-letter queue of this one.
};

void add(bulk_result& total, const bulk_result& step) {
  total.count += step.count;
  total.running += step.running;
  total.changed += step.changed;
  total.key_held += step.key_held;
}

/// Goes through the parts, step by step.
bulk_result run_parts(const message_filter& filter, const bulk_options& options,
                      std::span<const bulk_part> parts) {
  constexpr std::size_t most_counted = 10'000;
  constexpr std::size_t most_read = 1'000'000;
  bulk_result total;
  std::size_t read = 0;
  std::optional<filter_place> at = options.after.value_or(filter_place());
  if (at->part < 0 || std::cmp_greater_equal(at->part, parts.size())) {
    refuse("the place to go on from is not of this action");
  }
  std::size_t scan = options.batch;
  while (at) {
    const bulk_part& part = parts[static_cast<std::size_t>(at->part)];
    const auto look = [&] {
      return find_fitting(part.queue, nullptr, filter, part.states, *at, scan, options.batch);
    };
    const found_messages found =
        part.letters_of == nullptr ? look() : on_dead_letters(*part.letters_of, look);
    // Where most messages fit, a step reads no more than it changes.
    scan = found.ids.size() * 2 > options.batch ? options.batch : longest_scan;
    if (!found.ids.empty()) {
      const bool counts = options.dry_run && part.letters_of == nullptr;
      add(total, counts ? bulk_result{.count = found.ids.size()} : part.change(found.ids));
    }
    read += found.read;
    const int next_part = at->part + 1;
    at = found.next;
    if (!at && std::cmp_less(next_part, parts.size())) at = filter_place{.part = next_part};
    total.stopped_at = at;
    if (options.progress) options.progress(total);
    const bool enough = total.count >= most_counted || read >= most_read;
    if (options.stop.stop_requested() || (options.dry_run && enough)) break;
  }
  return total;
}

bulk_result summed(std::span<const change_result> results) {
  bulk_result out;
  for (const change_result each : results) {
    if (each == change_result::applied) {
      ++out.count;
    } else if (each == change_result::running) {
      ++out.running;
    } else {
      ++out.changed;
    }
  }
  return out;
}

bulk_result counted(std::size_t done, std::span<const message_id> given) {
  return {.count = done, .changed = given.size() - std::min(done, given.size())};
}

bulk_result purge_ids(const queue_state& queue, std::span<const message_id> ids, int states) {
  return in_one_transaction(queue.database(), nullptr, [&](transaction_state& tx) {
    std::size_t gone = 0;
    queue.execute_as_one(tx, contract_of(statement::claim_purge), ids.size(), [&] {
      return gone = queue.execute(&tx, statements::claim_cancel, {.states = states}, ids).size();
    });
    return counted(gone, ids);
  });
}

/// Changes messages of one queue by `change(queue, ids, states)`.
/// @param changes the states of those that it can change.
/// @param shows further states, of messages that it reports as skipped.
template <class Change>
bulk_result change_all(const tableq::queue& handle, statement id, const message_filter& filter,
                       const bulk_options& options, int changes, int shows, Change change) {
  return operation_outside(handle, id, [&](const queue_state& queue) {
    check_bulk(filter, options);
    const int states = wanted_states(filter, changes, contract_of(id).name.substr(6));
    const bulk_part part{
        queue, filter.state || options.dry_run ? states : states | shows,
        [&](std::span<const message_id> ids) { return change(queue, ids, states); }};
    return run_parts(filter, options, std::span(&part, 1));
  });
}

/// @param wanted those of the messages that are redriven. Empty: all.
bulk_result redrive_fitting(const queue_state& queue, const message_filter& filter,
                            const bulk_options& options,
                            const std::function<bool(const stored_message&)>& wanted = {}) {
  check_bulk(filter, options);
  const auto chosen = [&](const queue_state& from, std::span<const message_id> ids) {
    if (!wanted) return std::vector<message_id>(ids.begin(), ids.end());
    std::vector<message_id> out;
    for (const auto& each : get(from, nullptr, ids)) {
      const bool ours = each && (&from == &queue || came_from(queue, *each));
      if (ours && wanted(*each)) out.push_back(each->id);
    }
    return out;
  };
  std::vector<bulk_part> parts;
  parts.push_back(
      {queue, wanted_states(filter, dead_bit, "redrive"), [&](std::span<const message_id> found) {
         const std::vector<message_id> ids = chosen(queue, found);
         return counted(redrive(queue, ids), ids);
       }});
  if (queue.dead_letters() != nullptr) {
    const queue_state& letters = *queue.dead_letters();
    const auto bring_back = [&](std::span<const message_id> found) {
      const std::vector<message_id> ids = chosen(letters, found);
      return in_one_transaction(queue.database(), nullptr, [&](transaction_state& tx) {
        std::vector<stored_message> ours;
        for (auto& each : get(letters, &tx, ids)) {
          if (each && came_from(queue, *each)) ours.push_back(*std::move(each));
        }
        if (options.dry_run) return bulk_result{.count = ours.size()};
        const redriven back = move_back(queue, tx, ours);
        return bulk_result{.count = back.count,
                           .changed = ours.size() - back.count - back.key_held,
                           .key_held = back.key_held};
      });
    };
    parts.push_back({letters, bit_of(message_state::ready), bring_back, &queue});
  }
  return run_parts(filter, options, parts);
}

}  // namespace

found_messages find_fitting(const queue_state& queue, transaction_state* tx,
                            const message_filter& filter, int states, const filter_place& after,
                            std::size_t scan, std::size_t max) {
  const bool ascii = queue.database().narrow_texts();
  filter_request asked{.states = states,
                       .older_than = filter.older_than,
                       .group = filter.group,
                       .key_prefix = filter.key_prefix,
                       .after_at = after.at,
                       .after_id = after.id,
                       .scan = scan,
                       .max = max};
  if (states == done_bit) asked.finished = static_cast<int>(message_state::done);
  if (states == dead_bit) asked.finished = static_cast<int>(message_state::dead);
  if (after.until != 0) asked.until = after.until;
  if (filter.header) {
    asked.header = encode_headers({{filter.header->name, filter.header->value}}, ascii);
  }
  if (filter.error) asked.error = encode_error(*filter.error, ascii);
  const auto rows = queue.execute(tx, statements::claim_filter, asked);
  found_messages out;
  for (const auto& row : rows) {
    if (row.fits) out.ids.push_back(row.id);
  }
  if (rows.empty()) return out;
  const auto& last = rows.back();
  out.read = last.place;
  if (last.place == scan || (rows.size() == max && last.fits)) {
    out.next =
        filter_place{.part = after.part, .at = last.at, .id = last.id.value, .until = last.until};
  }
  return out;
}

}  // namespace tableq::inline v0::core

namespace tableq::inline v0 {

using core::queue_state;
using core::statement;
using found_ids = std::span<const message_id>;

filtered_messages claim_queue::list(const message_filter& filter, const filter_page& page) const {
  return core::operation_outside(*this, statement::claim_list, [&](const queue_state& mine) {
    core::check_filter(filter);
    core::check_batch_size(page.max);
    const int states = filter.state ? core::bit_of(*filter.state) : core::every_state;
    const core::found_messages found =
        core::find_fitting(mine, nullptr, filter, states, page.after.value_or(filter_place()),
                           core::longest_scan, page.max);
    filtered_messages out{.messages = {}, .next = found.next};
    for (auto& each : core::get(mine, nullptr, found.ids, page.with)) {
      // Another call may have changed it since.
      if (each && (core::bit_of(each->state) & states) != 0)
        out.messages.push_back(*std::move(each));
    }
    return out;
  });
}

bulk_result claim_queue::cancel(const message_filter& filter, const bulk_options& options) {
  return core::change_all(*this, statement::claim_cancel, filter, options, core::cancelled_states,
                          core::leased_bit, [](const queue_state& mine, found_ids ids, int states) {
                            return core::summed(core::cancel(mine, nullptr, ids, states));
                          });
}

bulk_result claim_queue::set_priority(const message_filter& filter, std::int32_t priority,
                                      const bulk_options& options) {
  return core::change_all(*this, statement::claim_set_priority, filter, options,
                          core::waiting_states, core::leased_bit,
                          [&](const queue_state& mine, found_ids ids, int /*states*/) {
                            std::vector<new_priority> changes;
                            changes.reserve(ids.size());
                            for (const message_id id : ids) changes.push_back({id, priority});
                            return core::summed(core::set_priority(mine, nullptr, changes));
                          });
}

bulk_result claim_queue::make_ready(const message_filter& filter, const bulk_options& options) {
  return core::change_all(*this, statement::claim_make_ready, filter, options,
                          core::bit_of(message_state::delayed), 0,
                          [](const queue_state& mine, found_ids ids, int /*states*/) {
                            return core::summed(core::make_ready(mine, nullptr, ids));
                          });
}

bulk_result claim_queue::purge(const message_filter& filter, const bulk_options& options) {
  return core::operation_outside(*this, statement::claim_purge, [&](const queue_state& mine) {
    core::check_bulk(filter, options);
    const int states = core::wanted_states(filter, core::done_bit | core::dead_bit, "purge");
    std::vector<core::bulk_part> parts;
    for (const int each : {core::done_bit, core::dead_bit}) {
      const auto purge_some = [&mine, each](found_ids ids) {
        return core::purge_ids(mine, ids, each);
      };
      if ((states & each) != 0) parts.push_back({mine, each, purge_some});
    }
    return core::run_parts(filter, options, parts);
  });
}

bulk_result claim_queue::redrive(const message_filter& filter, const bulk_options& options) {
  return core::operation_outside(*this, statement::claim_redrive, [&](const queue_state& mine) {
    return core::redrive_fitting(mine, filter, options);
  });
}

redriven claim_queue::redrive_all(const redrive_options& options) {
  return core::operation_outside(
      *this, statement::claim_redrive, [&](const queue_state& mine) -> redriven {
        if (options.per_second) core::check_rate(*options.per_second);
        if (options.max == 0U || options.stop.stop_requested()) return {};
        // With a filter the messages are in memory. With a rate there are about ten steps a second.
        std::size_t most = options.filter ? 100 : 1000;
        if (options.per_second) {
          most = static_cast<std::size_t>(
              std::clamp(*options.per_second / 10, 1.0, static_cast<double>(most)));
        }
        std::stop_source enough;
        const std::stop_callback asked(options.stop, [&] { enough.request_stop(); });
        std::size_t count = 0;
        bulk_options how{.batch = std::min(most, options.max.value_or(most)),
                         .stop = enough.get_token()};
        how.progress = [&](const bulk_result& so_far) {
          const std::size_t step = so_far.count - std::exchange(count, so_far.count);
          if (options.max) {
            if (count >= *options.max) return static_cast<void>(enough.request_stop());
            how.batch = std::min(most, *options.max - count);
          }
          if (!options.per_second || !so_far.stopped_at) return;
          const std::chrono::duration<double> length(static_cast<double>(step) /
                                                     *options.per_second);
          core::change_signal silent;
          silent.wait(silent.mark(), std::chrono::ceil<std::chrono::milliseconds>(length),
                      how.stop);
        };
        const bulk_result all = core::redrive_fitting(mine, {.all = true}, how, options.filter);
        return {.count = all.count, .key_held = all.key_held};
      });
}

}  // namespace tableq::inline v0
