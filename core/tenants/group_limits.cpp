#include "core/tenants/group_limits.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <tableq/claim_queue.hpp>
#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"
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

bool is_limited(const limited_group& one) {
  return one.limits != group_limits();
}

void check_layout(database_state& database, connection& session) {
  const std::vector<stored_layout> all = list_layouts(database, session);
  if (!all.empty() && all.front().name == catalog_row_name &&
      all.front().layout >= layout_with_group_limits) {
    return;
  }
  throw error(errc::unsupported, advice::never,
              "limits of groups need layout 3 of the catalogue: when no older version of tableq "
              "uses it: tableq migrate",
              {.backend = database.name()});
}

std::vector<limited_group> to_limited(const std::vector<group_limits_row>& rows) {
  std::vector<limited_group> out;
  out.reserve(rows.size());
  for (const group_limits_row& row : rows) out.push_back({row.name, limits_of(row)});
  std::erase_if(out, [](const limited_group& one) { return !is_limited(one); });
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
  out.groups = to_limited(rows);
  return out;
}

/// Stores the limits of one group, and the number of changes. The catalogue is locked.
/// @param groups all of the queue, as they are from now on.
void store(const queue_state& queue, connection& session, std::span<const limited_group> groups,
           std::string_view group, std::int64_t changes) {
  const auto replace = [&](std::string_view name) {
    run(session, queue.names(), statements::group_remove, {.queue = queue.name(), .name = name});
    const auto found = std::ranges::find(groups, name, &limited_group::group);
    // The number of changes stands in the row without a name.
    if (found == groups.end() && !name.empty()) return;
    const group_limits limits = found == groups.end() ? group_limits() : found->limits;
    std::optional<std::int64_t> rate;
    if (limits.rate) rate = std::llround(*limits.rate * static_cast<double>(rate_unit));
    run(session, queue.names(), statements::group_insert,
        {.queue = queue.name(),
         .name = name,
         .running = limits.running,
         .rate = rate,
         .burst = limits.burst,
         .weight = limits.weight,
         .changes = name.empty() ? changes : 0});
  };
  if (groups.empty()) {
    run(session, queue.names(), statements::group_remove, {.queue = queue.name()});
    return;
  }
  if (!group.empty()) replace(group);
  replace({});
}

/// Tells the processes that use the queue whether its groups have limits. The catalogue is locked.
/// @return false: they know.
bool tell(const queue_state& queue, connection& session, std::span<const limited_group> groups) {
  const table_names catalog = names_for(queue.database().options(), {});
  const auto rows = run(session, catalog, statements::catalog_find, {.name = queue.name()});
  if (rows.empty()) return false;  // the identity was checked
  queue_info info{.name = queue.name(), .kind = kind::claim};
  decode_options(rows.front().options, info);
  info.group_limits = !groups.empty();
  info.group_rates =
      std::ranges::any_of(groups, [](const auto& one) { return one.limits.rate.has_value(); });
  const std::string options = encode_options(info);
  if (options == rows.front().options) return false;
  if (run(session, catalog, statements::catalog_set_options,
          {.name = queue.name(),
           .identity = rows.front().identity,
           .before = rows.front().options,
           .options = options})
          .empty()) {
    throw options_changed(queue.database(), queue.name());
  }
  return true;
}

/// Whether all waiting messages follow the limits that are stored.
bool followed(const std::vector<group_limits_row>& rows) {
  return !rows.empty() && rows.front().name.empty() && rows.front().changes == rows.front().applied;
}

/// A change that is stored.
struct stored_change {
  std::int64_t number = 0;
  bool of_this_alone = false;  ///< Only this group's waiting messages have to follow.
};

stored_change change_limits(const queue_state& queue, connection& session,
                            const group_limits& limits, std::string_view group) {
  run(session, queue.names(), statements::catalog_lock);
  check_layout(queue.database(), session);
  check_identity(queue, nullptr,
                 run(session, queue.names(), statements::limits_read, {.queue = queue.name()}));
  const auto rows = run(session, queue.names(), statements::group_list, {.queue = queue.name()});
  std::vector<limited_group> groups = to_limited(rows);
  std::erase_if(groups, [&](const limited_group& one) { return one.group == group; });
  if (limits != group_limits()) groups.push_back({std::string(group), limits});
  stored_change out{.number = rows.empty() ? 1 : rows.front().changes + 1};
  store(queue, session, groups, group, out.number);
  out.of_this_alone = !tell(queue, session, groups) && followed(rows);
  return out;
}

void set_limits_of(const queue_state& queue, const group_limits& limits, std::string_view group) {
  check_group_limits(limits, group);
  if (!queue.info().groups) refuse("the queue " + queue.name() + " has no groups");
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
  if (group.empty() || !made.of_this_alone) {
    move_all_groups(now, {}, std::chrono::steady_clock::time_point::max());
  } else {
    move_some_groups(now, {std::string(group)});
  }
  if (!made.of_this_alone) return;
  now.execute(nullptr, statements::group_apply, {.queue = now.name(), .changes = made.number});
}

}  // namespace

std::vector<finding> inspect_group_limits(const queue_state& queue) {
  std::vector<finding> out;
  const auto rows = queue.execute(nullptr, statements::group_list, {.queue = queue.name()});
  const auto limited = to_limited(rows);
  const bool rates =
      std::ranges::any_of(limited, [](const auto& one) { return one.limits.rate.has_value(); });
  if ((!limited.empty() && !queue.info().group_limits) || (rates && !queue.info().group_rates)) {
    out.push_back({finding::level::warning, queue.name(),
                   "its groups have limits that no process knows of: the queue's options lack them",
                   "set one of them anew by tableq limit " + queue.name() + " --group NAME"});
  } else if (!rows.empty() && !followed(rows)) {
    out.push_back(
        {finding::level::warning, queue.name(),
         "the limits of its groups have changed, and not all waiting messages have followed",
         "let a program with the rights of a consumer read from it"});
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
  return core::operation_outside(
      *this, core::statement::group_list,
      [&](const core::queue_state& state) { return core::limits_of_groups(state, page); });
}

}  // namespace tableq::inline v0
