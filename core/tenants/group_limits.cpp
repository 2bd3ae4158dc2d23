#include "core/tenants/group_limits.hpp"

#include <cmath>
#include <utility>

#include <tableq/claim_queue.hpp>
#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/input/identifier.hpp"
#include "core/input/validate.hpp"
#include "core/queue/operation.hpp"
#include "core/schema/catalog.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0 {
namespace core {
namespace {

group_limits limits_of(const group_limits_row& row) {
  group_limits out{.running = row.running, .burst = row.burst, .weight = row.weight};
  if (row.rate) out.rate = static_cast<double>(*row.rate) / static_cast<double>(rate_unit);
  return out;
}

limited_groups limits_of_groups(const queue_state& queue, const group_limits_page& page) {
  check_batch_size(page.max);
  check_group_name(page.first);
  limited_groups out;
  if (!queue.info().group_limits) return out;
  auto rows = queue.execute(nullptr, statements::group_list,
                            {.queue = queue.name(), .first = page.first, .max = page.max + 1});
  if (rows.size() > page.max) {
    out.next = std::move(rows.back().name);
    rows.pop_back();
  }
  for (const group_limits_row& row : rows) {
    const group_limits limits = limits_of(row);
    if (limits != group_limits()) out.groups.push_back({row.name, limits});
  }
  return out;
}

/// The limits of all groups of a queue together, but for one group.
struct common_limits : other_limits_row {
  std::optional<group_limits_row> unnamed = {};  ///< It has the number of changes.

  /// Whether all waiting messages follow the limits that are stored.
  [[nodiscard]] bool followed() const { return unnamed && unnamed->changes == unnamed->applied; }
};

common_limits read_common(const queue_state& queue, connection& session,
                          std::optional<std::string_view> without = {}) {
  common_limits out{run(session, queue.names(), statements::group_others,
                        {.queue = queue.name(), .name = without})
                        .front()};
  const auto first =
      run(session, queue.names(), statements::group_list, {.queue = queue.name(), .max = 1});
  if (!first.empty() && first.front().name.empty()) out.unnamed = first.front();
  return out;
}

/// Stores the limits of one group, and the number of changes. The catalogue is locked.
void store(const queue_state& queue, connection& session, const common_limits& others,
           const group_limits& limits, std::string_view group, std::int64_t changes) {
  const auto replace = [&](std::string_view name, const group_limits& own) {
    run(session, queue.names(), statements::group_remove, {.queue = queue.name(), .name = name});
    // The number of changes stands in the row without a name.
    if (own == group_limits() && !name.empty()) return;
    std::optional<std::int64_t> rate;
    if (own.rate) rate = std::llround(*own.rate * static_cast<double>(rate_unit));
    run(session, queue.names(), statements::group_insert,
        {.queue = queue.name(),
         .name = name,
         .running = own.running,
         .rate = rate,
         .burst = own.burst,
         .weight = own.weight,
         .changes = name.empty() ? changes : 0});
  };
  if (!others.limited && limits == group_limits()) {
    run(session, queue.names(), statements::group_remove_all, {.queue = queue.name()});
    return;
  }
  if (group.empty()) return replace(group, limits);
  replace(group, limits);
  replace({}, others.unnamed ? limits_of(*others.unnamed) : group_limits());
}

/// A change that is stored.
struct stored_change {
  std::int64_t number = 0;
  bool told = false;           ///< Processes learn only now that there are limits, or rates.
  bool of_this_alone = false;  ///< Only this group's waiting messages have to follow.
};

stored_change change_limits(const queue_state& queue, connection& session,
                            const group_limits& limits, std::string_view group) {
  run(session, queue.names(), statements::catalog_lock);
  need_feature_tables(queue.database(), session, "limits of groups need");
  check_identity(queue, nullptr,
                 run(session, queue.names(), statements::limits_read, {.queue = queue.name()}));
  const common_limits others = read_common(queue, session, group);
  const bool limited = others.limited || limits != group_limits();
  stored_change out{.number = others.unnamed ? others.unnamed->changes + 1 : 1};
  store(queue, session, others, limits, group, out.number);
  // Tells the processes that use the queue. The catalogue is locked.
  out.told = edit_options(queue.database(), session, queue.name(), [&](queue_info& info) {
    info.group_limits = limited;
    info.group_rates = others.rates || limits.rate;
  });
  out.of_this_alone = !out.told && others.followed();
  return out;
}

void set_limits_of(const queue_state& queue, const group_limits& limits, std::string_view group) {
  check_group_limits(limits, group);
  if (!queue.info().groups)
    refuse("the queue " + queue.name() +
           " has no groups: only one that is created with groups has limits of them");
  if (limits.weight && !queue.info().groups->by_turns) {
    refuse("a weight is of turns, and the groups of the queue " + queue.name() +
           " take none: only a queue that is created with by_turns (--groups-by-turns) has them");
  }
  queue.limits().forget();
  const stored_change made = queue.database().in_transaction(
      [&](connection& session) { return change_limits(queue, session, limits, group); });
  const auto info = find_queue(queue.database(), queue.name());
  if (!info || info->identity != queue.info().identity) return;
  const queue_state now(queue.database().shared_from_this(), *info);
  static_cast<void>(ask_row(now));  // so that the handles of this process follow at once
  // A change before this one, which not all messages follow yet, is left to the readers.
  if (group.empty() || made.told) {
    move_all_groups(now, {}, std::chrono::steady_clock::time_point::max());
  } else {
    move_some_groups(now, {std::string(group)});
  }
  // Without limits no reader removes what is known of groups, so this call does.
  if (!info->group_limits)
    now.execute(nullptr, statements::group_forget, {.queue = now.name(), .all = true});
  if (!made.of_this_alone) return;
  now.execute(nullptr, statements::group_apply, {.queue = now.name(), .changes = made.number});
}

}  // namespace

std::vector<finding> inspect_group_limits(const queue_state& queue) {
  std::vector<finding> out;
  const common_limits found =
      queue.database().on_session([&](connection& session) { return read_common(queue, session); });
  if ((found.limited && !queue.info().group_limits) || (found.rates && !queue.info().group_rates)) {
    out.push_back({finding::level::warning, queue.name(),
                   "its groups have limits that no process knows of: the queue's options lack them",
                   "set one of them anew by tableq limit " + queue.name() + " --group NAME"});
  } else if ((found.unnamed || found.limited) && !found.followed()) {
    out.push_back(
        {finding::level::warning, queue.name(),
         "the limits of its groups have changed, and not all waiting messages have followed",
         "let a program with the rights of a consumer wait two seconds for its messages"});
  }
  return out;
}

}  // namespace core

// NOLINTNEXTLINE(readability-make-member-function-const): it changes the queue
void claim_queue::set_group_limits(const tableq::group_limits& limits, text_view group) {
  core::operation_outside(
      *this, core::statement::group_insert,
      [&](const core::queue_state& state) { core::set_limits_of(state, limits, group.view()); });
}

limited_groups claim_queue::group_limits(const group_limits_page& page) const {
  return core::operation_outside(*this, core::statement::group_list, core::limits_of_groups, page);
}

}  // namespace tableq::inline v0
