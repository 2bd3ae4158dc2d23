#include "core/schema/catalog.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <utility>

#include <tableq/error.hpp>
#include <tableq/text.hpp>

#include "core/base/errors.hpp"
#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// Programs that open the queue with these may give another value than the stored one.
constexpr std::array own_of_a_handle{"lease_ms", "max_attempts", "keep_completed",
                                     "retry_ms", "retry_jitter", "time_to_live_ms"};

/// Names as tableq.h has them, and values, as encode_options has written them.
std::map<std::string, std::string> entries_of(const queue_info& info) {
  const std::map<std::string_view, const char*> shorter{
      {"keep", "keep_completed"},     {"jitter", "retry_jitter"},
      {"ttl_ms", "time_to_live_ms"},  {"groups_by_turns", "group_by_turns"},
      {"groups_hold", "group_limit"}, {"groups_pass", "group_limit"}};
  std::map<std::string, std::string> out;
  std::istringstream text(encode_options(info));
  for (std::string word; text >> word;) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string stored = word.substr(0, equals);
    const auto named = shorter.find(stored);
    out[named == shorter.end() ? stored : named->second] =
        word.substr(std::min(equals + 1, word.size()));
  }
  if (info.groups) out["group_on_failure"] = to_string(info.groups->on_failure);
  return out;
}

[[noreturn]] void missing(std::string_view name) {
  refuse(errc::not_found,
         "there is no queue " + std::string(name) + "; `tableq list` shows those there are");
}

}  // namespace

std::vector<option_change> differences(const queue_info& before, const queue_info& after) {
  std::map<std::string, option_change> all;
  for (const auto& [name, value] : entries_of(before)) all[name].before = value;
  for (const auto& [name, value] : entries_of(after)) all[name].after = value;
  std::vector<option_change> out;
  for (auto& [name, change] : all) {
    if (change.before == change.after) continue;
    change.option = name;
    change.refused_at_open =
        std::ranges::find(own_of_a_handle, std::string_view(name)) == own_of_a_handle.end();
    out.push_back(std::move(change));
  }
  return out;
}

std::vector<option_change> alter_queue(database_state& database, std::string_view name,
                                       const queue_changes& changes, const alter_options& options) {
  check_queue_name(name, database.options().table_prefix);
  const table_names catalog = names_for(database.options(), {});
  std::int64_t identity = 0;
  auto out = database.in_transaction([&](connection& session) {
    if (!has_catalog(database, session)) missing(name);
    run(session, catalog, statements::catalog_lock);
    std::optional<std::vector<option_change>> all;
    edit_options(database, session, name, [&](queue_info& info) {
      const queue_info wanted = changed_options(info, changes);
      all = differences(info, wanted);
      if (options.dry_run || all->empty()) return;
      // If the outcome stays unknown, the next call of a handle asks the database.
      identity = info.identity;
      database.changing(names_for(database.options(), name, identity));
      info = wanted;
    });
    if (!all) missing(name);
    return *std::move(all);
  });
  if (identity != 0) database.changing(names_for(database.options(), name, identity));
  return out;
}

}  // namespace tableq::inline v0::core
