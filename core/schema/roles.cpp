#include <tableq/schema.hpp>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include <tableq/unstable/dialect.hpp>

#include "core/input/identifier.hpp"
#include "core/input/queue_options.hpp"
#include "core/seam/enum_names.hpp"
#include "core/seam/named.hpp"

namespace tableq::inline v0 {
namespace {

constexpr std::array roles{role::producer, role::replacer, role::consumer,
                           role::viewer,   role::manager,  role::owner};

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
  if (granted == role::producer || granted == role::replacer) {
    out.push_back("producer" + kind_suffix);
    if (queue.groups) out.emplace_back("producer.groups");
    if (turns) out.emplace_back("producer.turns");
    if (queue.key_window.count() > 0) out.emplace_back("producer.key_window");
  }
  if (granted != role::producer) out.push_back(std::string(to_string(granted)) + kind_suffix);
  if (granted == role::consumer) {
    if (queue.keep_completed || queue.key_window.count() > 0) out.emplace_back("consumer.kept");
    out.emplace_back("consumer.limits");
  }
  const bool some =
      granted == role::replacer || granted == role::consumer || granted == role::viewer;
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

role parse_role(std::string_view text) {
  if (const auto found = core::named_among(roles, text)) return *found;
  core::refuse("a role is one of producer, replacer, consumer, viewer, manager and owner");
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
