#include "core/schema/alter.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include <tableq/error.hpp>

#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"
#include "core/schema/catalog.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// Programs that open the queue with these may give another value than the stored one.
constexpr std::array own_of_a_handle{"lease_ms", "max_attempts", "keep",
                                     "retry_ms", "jitter",       "ttl_ms"};

/// Names and values, as encode_options has written them.
std::map<std::string, std::string, std::less<>> entries_of(const queue_info& info) {
  std::map<std::string, std::string, std::less<>> out;
  const std::string text = encode_options(info);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(' ', from), text.size());
    const std::size_t equals = std::min(text.find('=', from), to);
    out[text.substr(from, equals - from)] = text.substr(std::min(equals + 1, to), to - equals - 1);
    from = to + 1;
  }
  return out;
}

std::vector<option_change> differences(const queue_info& before, const queue_info& after) {
  const auto was = entries_of(before);
  const auto is = entries_of(after);
  std::map<std::string, option_change, std::less<>> all;
  for (const auto& [name, value] : was) all[name] = {.option = name, .before = value};
  for (const auto& [name, value] : is) {
    all[name].option = name;
    all[name].after = value;
  }
  std::vector<option_change> out;
  for (auto& [name, change] : all) {
    if (change.before == change.after) continue;
    change.refused_at_open =
        std::ranges::find(own_of_a_handle, std::string_view(name)) == own_of_a_handle.end();
    out.push_back(std::move(change));
  }
  return out;
}

[[noreturn]] void missing(const database_state& database, std::string_view name) {
  throw error(errc::not_found, advice::never,
              "there is no queue " + std::string(name) + "; `tableq list` shows those there are",
              {.backend = database.name()});
}

}  // namespace

std::vector<option_change> alter_queue(database_state& database, std::string_view name,
                                       const queue_changes& changes, const alter_options& options) {
  check_queue_name(name, database.options().table_prefix);
  const table_names catalog = names_for(database.options(), {});
  std::int64_t identity = 0;
  auto out = database.in_transaction([&](connection& session) {
    if (!has_catalog(database, session)) missing(database, name);
    run(session, catalog, statements::catalog_lock);
    const auto stored = find_row(database, session, catalog, name);
    if (!stored) missing(database, name);
    const queue_info wanted = changed_options(*stored, changes);
    auto all = differences(*stored, wanted);
    if (options.dry_run || all.empty()) return all;
    // If the outcome stays unknown, the next call of a handle asks the database.
    identity = stored->identity;
    database.changing(names_for(database.options(), name, identity));
    const std::string text = encode_options(wanted);
    const auto row = run(session, catalog, statements::catalog_find, {.name = name}).at(0);
    if (run(session, catalog, statements::catalog_set_options,
            {.name = name, .identity = identity, .before = row.options, .options = text})
            .empty())
      throw options_changed(database, name);
    return all;
  });
  if (identity != 0) database.changing(names_for(database.options(), name, identity));
  return out;
}

}  // namespace tableq::inline v0::core
