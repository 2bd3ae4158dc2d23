#include "core/input/queue_options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/input/identifier.hpp"
#include "core/input/validate.hpp"

namespace tableq::inline v0::core {
namespace {

using namespace std::chrono_literals;

bool ordered(kind k) noexcept {
  return k == kind::fifo || k == kind::lifo;
}

[[noreturn]] void refuse_both_key_rules() {
  refuse(
      "key_window holds a key after completion, keys=waiting (--free-keys) frees it before: choose "
      "one");
}

void check_retention(const retention& kept, std::chrono::milliseconds key_window) {
  for (const auto& length : {kept.done, kept.dead}) {
    if (length && (*length < 1ms || !good_delay(*length))) {
      refuse("a retention is from 1 ms to 3,650 days; leave it out to keep messages until purge");
    }
  }
  if (kept.done && *kept.done < key_window) {
    refuse("the retention of done messages ends before the key_window, and would free their keys");
  }
}

void check_claim(const claim_options& claim) {
  if (claim.lease) check_lease(*claim.lease);
  if (claim.max_attempts) check_max_attempts(*claim.max_attempts);
  if (claim.retry) check_retry(*claim.retry);
  if (claim.time_to_live) check_time_to_live(*claim.time_to_live);
  if (claim.key_window) check_delay(*claim.key_window, "key_window");
  if (claim.retention) check_retention(*claim.retention, claim.key_window.value_or(0ms));
  if (claim.key_window.value_or(0ms).count() > 0 &&
      claim.keys.value_or(key_scope::active) == key_scope::waiting) {
    refuse_both_key_rules();
  }
  if (claim.groups.enabled && (claim.groups.limit < 1 || claim.groups.limit > 1000)) {
    refuse("the limit of groups is 1 to 1,000");
  }
  if (claim.groups.by_turns && !claim.groups.enabled) {
    refuse("by_turns is for queues with groups: leave it out, or set `enabled` too");
  }
}

void check_settings(std::string_view name, const queue_settings& settings) {
  const claim_options& claim = settings.claim;
  if (settings.order.ordering && !ordered(settings.kind)) {
    refuse("an ordering can be chosen for fifo and lifo queues only");
  }
  const bool any = claim.lease || claim.max_attempts || claim.keep_completed || claim.retry ||
                   claim.time_to_live || claim.keys || claim.key_window || claim.groups.enabled ||
                   claim.dead_letters || claim.retention || claim.batches;
  if (any && settings.kind != kind::claim) {
    refuse(
        "lease, max_attempts, keep_completed, retry, time_to_live, keys, key_window, groups, "
        "dead_letters, retention and batches belong to claim queues only");
  }
  check_claim(claim);
  if (claim.dead_letters && *claim.dead_letters == name) {
    refuse("a queue cannot be its own dead-letter queue; name another one");
  }
}

void apply(const queue_settings& given, queue_info& info) {
  const claim_options& claim = given.claim;
  if (given.order.ordering) info.ordering = *given.order.ordering;
  if (claim.lease) info.lease = *claim.lease;
  if (claim.max_attempts) info.max_attempts = *claim.max_attempts;
  if (claim.keep_completed) info.keep_completed = *claim.keep_completed;
  if (claim.retry) info.retry = *claim.retry;
  if (claim.time_to_live) info.time_to_live = claim.time_to_live->length();
  if (claim.keys) info.keys = *claim.keys;
  if (claim.key_window) info.key_window = *claim.key_window;
  info.key_windows = info.key_windows || info.key_window.count() > 0;
  if (claim.groups.enabled) info.groups = claim.groups;
  if (claim.dead_letters) info.dead_letters = *claim.dead_letters;
  if (claim.retention) info.retention = *claim.retention;
  if (claim.batches) info.batches = *claim.batches;
}

std::string encode_delays(const retry_delays& retry) {
  std::string out;
  for (const std::chrono::milliseconds each : retry.after) {
    out += out.empty() ? " retry_ms=" : ",";
    out += std::to_string(each.count());
  }
  if (retry.jitter != 0) out += " jitter=" + std::to_string(retry.jitter);
  return out;
}

/// @return false for any other text than a list of numbers.
bool decode_delays(std::string_view list, retry_delays& retry) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    std::int64_t number = 0;
    if (std::from_chars(one.data(), one.data() + one.size(), number).ec != std::errc())
      return false;
    retry.after.emplace_back(number);
  }
  return true;
}

[[noreturn]] void newer(const queue_info& info) {
  throw error(
      errc::schema_too_new, advice::never,
      "the queue " + info.name + " was made by a newer tableq; use that version or a later one");
}

/// The options whose value is a number. @return false for another name.
bool decode_number(std::string_view name, std::int64_t number, queue_info& info) {
  const std::chrono::milliseconds length(number);
  if (name == "lease_ms") {
    info.lease = length;
  } else if (name == "max_attempts") {
    info.max_attempts = static_cast<int>(number);
  } else if (name == "keep") {
    info.keep_completed = number != 0;
  } else if (name == "jitter") {
    info.retry.jitter = static_cast<int>(number);
  } else if (name == "ttl_ms") {
    if (number > 0) info.time_to_live = length;
  } else if (name == "key_window_ms") {
    info.key_window = length;
    info.key_windows = true;
  } else if (name == "retain_done_ms") {
    info.retention.done = length;
  } else if (name == "retain_dead_ms") {
    info.retention.dead = length;
  } else if (name == "groups_hold" || name == "groups_pass") {
    info.groups = group_options{
        .limit = static_cast<int>(number),
        .on_failure = name == "groups_hold" ? group_policy::hold : group_policy::pass};
  } else if (name == "schedules") {
    info.schedules = number != 0;
  } else if (name == "group_limits") {
    info.group_limits = number > 0;
    info.group_rates = number > 1;
  } else if (name == "batches") {
    info.batches = number != 0;
  } else if (name == "batch_ends") {
    info.batch_ends = number != 0;
  } else if (name == "groups_by_turns" && info.groups) {
    info.groups->by_turns = number != 0;
  } else {
    return false;
  }
  return true;
}

/// @param for_life whether the stored value can never change.
[[noreturn]] void differs(const queue_info& stored, const std::string& what,
                          bool for_life = false) {
  refuse(errc::options_mismatch,
         "the queue " + stored.name + " has another value of the option " + what +
             " (`tableq list` shows it)" +
             (for_life ? ", and keeps it for its life: open it without this option, or use "
                         "another queue"
                       : "; open it without this option, or change the stored value by `alter`"));
}

/// Options that must not differ between the handles of one queue.
void check_fixed(const queue_info& stored, const claim_options& given) {
  if (given.keys && *given.keys != stored.keys) differs(stored, "keys");
  if (given.key_window && *given.key_window != stored.key_window) differs(stored, "key_window");
  if (given.groups.enabled && given.groups != stored.groups) {
    const bool turns = stored.groups && stored.groups->by_turns != given.groups.by_turns;
    differs(stored, turns ? "by_turns of groups" : "groups", turns || !stored.groups);
  }
  if (given.dead_letters && *given.dead_letters != stored.dead_letters) {
    differs(stored, "dead_letters");
  }
  if (given.retention && *given.retention != stored.retention) differs(stored, "retention");
  if (given.batches && *given.batches != stored.batches) differs(stored, "batches", true);
}

/// Refuses to change options that a queue keeps for its life. Open handles hear of a change within
/// a second; until then they would lock otherwise than the others, and messages would be handed out
/// in the wrong order, or stay held.
void refuse_fixed(const queue_info& stored, const queue_changes& changes) {
  const bool grouped = stored.groups.has_value();
  const char* what = nullptr;
  if (changes.ordering.value_or(stored.ordering) != stored.ordering) {
    what = "its ordering, by which all its programs lock";
  } else if (changes.groups.value_or(grouped) != grouped) {
    what = "whether it has groups, which all its programs lock and advance";
  } else if (changes.groups_by_turns.value_or(grouped && stored.groups->by_turns) !=
             (grouped && stored.groups->by_turns)) {
    what = "the turns of its groups, which need a column and an index of their own";
  }
  if (what == nullptr) return;
  refuse(errc::options_mismatch,
         "the queue " + stored.name + " keeps for its life " + what +
             ": create another queue with this option, and move the messages there, each "
             "read and enqueued in one transaction; or empty the queue, drop it and create "
             "it anew");
}

/// A stored definition. Text that tableq cannot have written is the catalogue's defect, not the
/// caller's.
table_definition decode_table(std::string_view text, const std::string& name) {
  try {
    return parse_table_definition(text);
  } catch (const error& failure) {
    refuse(errc::schema_mismatch, "the catalogue's definition of the table " + name +
                                      " cannot be read; store it again: " + failure.what());
  }
}

}  // namespace

queue_info settle_options(std::string_view name, const queue_settings& settings) {
  if (settings.kind == kind::table) {
    refuse("tableq makes no table of the kind table: it is the application's own");
  }
  check_settings(name, settings);
  if (settings.claim.dead_letters && settings.claim.dead_letters->empty()) {
    refuse("dead_letters is the name of a queue: leave it out for none");
  }
  queue_info info;
  info.name = name;
  info.kind = settings.kind;
  // Not the default of queue_info: a stored queue without the option has no delays.
  if (info.kind == kind::claim) info.retry = retry_delays::usual();
  apply(settings, info);
  return info;
}

std::string encode_options(const queue_info& info) {
  if (info.kind == kind::table) return to_json(info.table.value());
  std::string marks = info.schedules ? " schedules=1" : "";
  if (info.batch_ends) marks += " batch_ends=1";
  if (ordered(info.kind)) {
    return (info.ordering == ordering::strict ? "ordering=strict" : "ordering=relaxed") + marks;
  }
  if (info.kind != kind::claim) return marks.empty() ? marks : marks.substr(1);
  std::string out = "lease_ms=" + std::to_string(info.lease.count());
  out += " max_attempts=" + std::to_string(info.max_attempts);
  out += info.keep_completed ? " keep=1" : " keep=0";
  out += encode_delays(info.retry);
  const auto add = [&](const char* name, std::int64_t number) {
    out += ' ';
    out += name;
    out += std::to_string(number);
  };
  if (info.time_to_live) add("ttl_ms=", info.time_to_live->count());
  if (info.keys == key_scope::waiting) out += " keys=waiting";
  // Also 0: completed messages may hold keys from the time before.
  if (info.key_windows) add("key_window_ms=", info.key_window.count());
  if (info.groups) {
    const bool hold = info.groups->on_failure == group_policy::hold;
    add(hold ? "groups_hold=" : "groups_pass=", info.groups->limit);
    if (info.groups->by_turns) out += " groups_by_turns=1";
  }
  if (!info.dead_letters.empty()) out += " dead_letters=" + info.dead_letters;
  if (info.retention.done) add("retain_done_ms=", info.retention.done->count());
  if (info.retention.dead) add("retain_dead_ms=", info.retention.dead->count());
  if (info.group_limits) add("group_limits=", info.group_rates ? 2 : 1);
  if (info.batches) out += " batches=1";
  return out + marks;
}

void decode_options(std::string_view text, queue_info& info) {
  if (info.kind == kind::table) {
    info.table = decode_table(text, info.name);
    return;
  }
  while (!text.empty()) {
    const std::string_view option = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(option.size() + 1, text.size()));
    const std::string_view name = option.substr(0, option.find('='));
    const std::string_view given = option.substr(std::min(name.size() + 1, option.size()));
    std::int64_t number = 0;
    const bool numeric =
        std::from_chars(given.data(), given.data() + given.size(), number).ec == std::errc();
    if (name == "ordering" && (given == "strict" || given == "relaxed")) {
      info.ordering = given == "strict" ? ordering::strict : ordering::relaxed;
    } else if (name == "retry_ms" && decode_delays(given, info.retry)) {
      continue;
    } else if (name == "keys" && given == "waiting") {
      info.keys = key_scope::waiting;
    } else if (name == "dead_letters" && !given.empty()) {
      // The text becomes part of statements, and plain SQL may have written it.
      check_queue_name(given);
      info.dead_letters = given;
    } else if (!numeric || !decode_number(name, number, info)) {
      newer(info);
    }
  }
}

queue_info merge_options(const queue_info& stored, const queue_settings& given) {
  check_settings(stored.name, given);
  if (stored.kind != given.kind) {
    refuse(errc::kind_mismatch,
           "the queue " + stored.name + " is of the kind " + std::string(to_string(stored.kind)) +
               " and cannot be opened as " + std::string(to_string(given.kind)) +
               "; open it as it is, or use another name");
  }
  if (given.order.ordering && *given.order.ordering != stored.ordering) {
    const bool strict = stored.ordering == ordering::strict;
    refuse(errc::options_mismatch,
           "the queue " + stored.name + " has " + (strict ? "strict" : "relaxed") +
               " ordering and cannot be opened with " + (strict ? "relaxed" : "strict") +
               "; open it without this option");
  }
  check_fixed(stored, given.claim);
  return with_given(stored, given);
}

queue_info with_given(const queue_info& stored, const queue_settings& given) {
  queue_info out = stored;
  apply(given, out);
  return out;
}

queue_info changed_options(const queue_info& stored, const queue_changes& changes) {
  refuse_fixed(stored, changes);
  queue_settings given{.kind = stored.kind};
  claim_options& claim = given.claim;
  claim.lease = changes.lease;
  claim.max_attempts = changes.max_attempts;
  claim.keep_completed = changes.keep_completed;
  claim.retry = changes.retry;
  claim.time_to_live = changes.time_to_live;
  claim.keys = changes.keys;
  claim.key_window = changes.key_window;
  claim.dead_letters = changes.dead_letters;
  if (changes.group_limit || changes.group_on_failure) {
    if (!stored.groups) {
      refuse("the queue " + stored.name +
             " has no groups and gets none: create another queue with groups");
    }
    claim.groups = *stored.groups;
    claim.groups.limit = changes.group_limit.value_or(claim.groups.limit);
    claim.groups.on_failure = changes.group_on_failure.value_or(claim.groups.on_failure);
  }
  if (changes.retain_done || changes.retain_dead) {
    claim.retention = stored.retention;
    if (changes.retain_done) claim.retention->done = changes.retain_done->length();
    if (changes.retain_dead) claim.retention->dead = changes.retain_dead->length();
  }
  check_settings(stored.name, given);
  queue_info out = with_given(stored, given);
  if (out.key_window.count() > 0 && out.keys == key_scope::waiting) refuse_both_key_rules();
  check_retention(out.retention, out.key_window);
  return out;
}

}  // namespace tableq::inline v0::core

namespace tableq::inline v0 {

retry_delays retry_delays::usual() {
  using namespace std::chrono_literals;
  return {.after = {1s, 5s, 30s, 5min}, .jitter = 20};
}

retry_delays retry_delays::exponential(std::chrono::milliseconds first,
                                       std::chrono::milliseconds most, int jitter) {
  constexpr std::size_t most_delays = 32;
  retry_delays out{.jitter = jitter};
  while (out.after.size() + 1 < most_delays && first < most && first.count() > 0) {
    out.after.push_back(first);
    first *= 2;
  }
  out.after.push_back(most);
  return out;
}

}  // namespace tableq::inline v0
