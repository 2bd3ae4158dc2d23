#include <tableq/schema.hpp>

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "core/base/enum_names.hpp"
#include "core/base/errors.hpp"
#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"
#include "core/schema/catalog.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0 {
namespace {

constexpr std::array kinds{kind::heap,    kind::fifo,  kind::lifo,
                           kind::pending, kind::claim, kind::table};

constexpr std::array roles{role::producer, role::replacer, role::consumer, role::viewer,
                           role::manager,  role::owner,    role::scheduler};

/// Quotes could end the quoted name; databases' tools do not accept the other characters in a
/// user's name.
void check_user(std::string_view user) {
  constexpr std::size_t longest = 128;
  const bool good =
      !user.empty() && user.size() <= longest && std::none_of(user.begin(), user.end(), [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < 0x20 || byte == 0x7f ||
               std::string_view("\"'`[]{};").find(c) != std::string_view::npos;
      });
  if (!good) {
    core::refuse(
        "a user's name has 1 to 128 bytes, without quotes, brackets, `;` and control characters");
  }
}

/// The blocks of `roles.sql` for a role on the queue itself.
std::vector<std::string> blocks_of(role granted, const queue_info& queue) {
  const std::string kind_suffix = std::string(".").append(to_string(queue.kind));
  const bool turns = queue.groups && queue.groups->by_turns;
  std::vector<std::string> out;
  if (granted != role::owner) out.emplace_back("catalog");
  if (granted == role::producer || granted == role::replacer || granted == role::scheduler) {
    out.push_back("producer" + kind_suffix);
    if (queue.groups) out.emplace_back("producer.groups");
    if (queue.groups) out.emplace_back("producer.limited");
    if (turns) out.emplace_back("producer.turns");
    if (queue.key_windows) out.emplace_back("producer.key_window");
    if (queue.batches) out.emplace_back("producer.batches");
  }
  if (granted == role::scheduler) {
    out.emplace_back("scheduler");
  } else if (granted != role::producer) {
    out.push_back(std::string(to_string(granted)) + kind_suffix);
  }
  if (granted == role::consumer) {
    if (queue.keep_completed || queue.key_window.count() > 0) out.emplace_back("consumer.kept");
    out.emplace_back("consumer.limits");
    if (queue.groups) out.emplace_back("consumer.limited");
    if (queue.batches) out.emplace_back("consumer.batches");
  }
  const bool all = granted == role::manager || granted == role::owner;
  if (queue.groups && all) out.emplace_back("manager.limited");
  if (queue.groups && !all)
    out.emplace_back(granted == role::viewer ? "viewer.limited" : "groups.limited");
  if (all && queue.batches) out.emplace_back("manager.batches");
  const bool some =
      granted == role::replacer || granted == role::consumer || granted == role::viewer;
  const bool notes = granted == role::consumer || granted == role::viewer;
  if (notes && queue.kind == kind::claim) out.push_back(std::string(to_string(granted)) + ".notes");
  if (turns && some) out.push_back(std::string(to_string(granted)) + ".turns");
  return out;
}

std::string write_grants(std::string_view dialect, role granted, std::string_view user,
                         const queue_info& queue, const open_options& options) {
  const core::table_names names = core::names_for(options, queue.name);
  std::string out;
  const auto add = [&](std::string_view block, const core::table_names& tables) {
    out += core::role_text(dialect, block, tables, user);
  };
  if (!options.schema_name.empty()) add(granted == role::owner ? "schema.owner" : "schema", names);
  for (const std::string& block : blocks_of(granted, queue)) add(block, names);
  const bool moves = granted == role::consumer || granted == role::manager;
  if (moves && !queue.dead_letters.empty()) {
    add(granted == role::manager ? "dead_letters.manager" : "dead_letters",
        core::names_for(options, queue.dead_letters));
  }
  return out;
}

}  // namespace

std::optional<kind> core::known_kind(std::string_view text) {
  return named_among(kinds, text);
}

kind parse_kind(std::string_view text) {
  if (const auto known = core::known_kind(text)) return *known;
  core::refuse("a queue is of one of the kinds heap, fifo, lifo, pending, claim and table");
}

namespace {

/// Checks the names for a text that is made without a connection.
core::table_names checked_names(std::string_view operation, std::string_view dialect,
                                std::string_view queue, const open_options& options) {
  const bool schemas =
      core::named({}, operation, [&] { return find_dialect(dialect).capabilities.schemas; });
  core::named(dialect, operation, [&] {
    core::check_queue_name(queue, options.table_prefix);
    core::check_places(options, schemas);
  });
  return core::names_for(options, queue);
}

}  // namespace

std::map<std::string, std::string> statements(std::string_view dialect, kind queue_kind,
                                              std::string_view queue, const open_options& options) {
  return statements(dialect, queue, {.kind = queue_kind}, options);
}

std::map<std::string, std::string> statements(std::string_view dialect, std::string_view queue,
                                              const queue_settings& settings,
                                              const open_options& options) {
  core::table_names names = checked_names("statements", dialect, queue, options);
  const queue_info info =
      core::named(dialect, "statements", [&] { return core::settle_options(queue, settings); });
  names.by_turns = core::names_of(options, info).by_turns;
  auto out = core::statement_texts(dialect, names);
  std::erase_if(out, [&](const auto& each) {
    const std::string_view name = each.first;
    const std::string_view room = name.substr(0, name.find('.'));
    if (room == to_string(info.kind)) return false;
    return std::any_of(kinds.begin(), kinds.end(),
                       [&](kind other) { return room == to_string(other); });
  });
  return out;
}

std::string ddl(std::string_view dialect, std::string_view queue, const queue_settings& settings,
                const open_options& options) {
  core::table_names names = checked_names("ddl", dialect, queue, options);
  const queue_info info =
      core::named(dialect, "ddl", [&] { return core::settle_options(queue, settings); });
  names.by_turns = core::names_of(options, info).by_turns;
  const std::string stored = core::encode_options(info);
  const auto row = core::values_of(core::new_queue_request{.name = queue,
                                                           .identity = core::new_identity(),
                                                           .kind = to_string(info.kind),
                                                           .layout = core::queue_layout,
                                                           .options = stored});
  std::string out = "-- The catalogue, unless it is there.\n";
  out += core::ddl_text(dialect, "catalog", names);
  out += "\n-- The queue.\n";
  out += core::ddl_text(dialect, to_string(info.kind), names);
  if (names.by_turns) out += core::ddl_text(dialect, "turns", names);
  out += "\n-- Tells tableq of it.\n";
  out += core::statement_text(dialect, core::statements::catalog_insert.id, names, row);
  return out + ";\n";
}

role parse_role(std::string_view text) {
  if (const auto found = core::named_among(roles, text)) return *found;
  core::refuse(
      "a role is one of producer, replacer, consumer, viewer, manager, owner and scheduler");
}

std::string grants(std::string_view dialect, role granted, std::string_view user,
                   std::string_view queue, const queue_settings& settings,
                   const open_options& options) {
  const bool schemas =
      core::named({}, "grants", [&] { return find_dialect(dialect).capabilities.schemas; });
  return core::named(dialect, "grants", [&] {
    core::check_queue_name(queue, options.table_prefix);
    core::check_places(options, schemas);
    check_user(user);
    const queue_info info = core::settle_options(queue, settings);
    if (granted == role::replacer && info.kind != kind::claim) {
      core::refuse("only messages of a claim queue are replaced by their keys");
    }
    return write_grants(dialect, granted, user, info, options);
  });
}

}  // namespace tableq::inline v0
