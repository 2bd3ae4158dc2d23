#include "core/schedule/rules.hpp"

#include <array>
#include <cstdio>
#include <utility>
#include <vector>

#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/claim/operations.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/schema/catalog.hpp"

namespace tableq::inline v0::core {
namespace {

recurrence recurrence_of(const std::optional<std::string>& cron,
                         const std::optional<std::chrono::milliseconds>& every) {
  if (cron && every) refuse("a rule has a cron text or an interval, not both");
  if (!cron && !every) refuse("a rule needs a cron text or an interval");
  return cron ? recurrence(std::string_view(*cron)) : recurrence(*every);
}

/// `2026-03-29T01:00:00Z`, with milliseconds if there are any.
std::string written(timestamp time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  const auto rest = static_cast<int>(clock.subseconds().count());
  std::array<char, 64> out{};
  std::snprintf(
      out.data(), out.size(),
      rest == 0 ? "%04d-%02u-%02uT%02d:%02d:%02dZ" : "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
      static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
      static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
      static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()), rest);
  return out.data();
}

/// Adds what a message tells of its schedule.
void tell_schedule(headers& to, std::string_view name, timestamp time) {
  to["tableq-schedule"] = name;
  to["tableq-scheduled-at"] = written(time);
}

}  // namespace

timing::timing(const std::optional<std::string>& cron,
               const std::optional<std::chrono::milliseconds>& every, std::string_view in)
    : rule(recurrence_of(cron, every)), zone(in) {}

timestamp timing::after(timestamp time) const {
  return rule.after(time, zone).value_or(std::chrono::sys_days(std::chrono::year{9999} / 12 / 31));
}

std::shared_ptr<queue_state> target_of(database_state& database, std::string_view queue) {
  auto found = find_queue(database, queue);
  if (!found) {
    throw error(errc::not_found, advice::never,
                "its queue " + std::string(queue) + " does not exist; make it first",
                {.backend = database.name()});
  }
  if (found->kind == kind::table) {
    throw error(errc::unsupported, advice::never,
                "its queue is a table of the application; name a queue that tableq has made",
                {.backend = database.name()});
  }
  return {new queue_state(database.shared_from_this(), *std::move(found)), end_at_home()};
}

void check_rule(const schedule& rule, const queue_state& target) {
  const auto is_name = [](std::string_view text) {
    return !text.empty() && text.size() <= 100 && is_plain_utf8(text);
  };
  if (!is_name(rule.name)) refuse("the name of a schedule is 1 to 100 bytes of UTF-8 without NUL");
  const bool every = rule.every.count() != 0;
  const timing checked(rule.cron.empty() ? std::nullopt : std::optional(rule.cron),
                       every ? std::optional(rule.every) : std::nullopt, rule.zone);
  if (rule.catch_up < 0 || rule.catch_up > 1000) refuse("catch_up is 0 to 1,000");
  if (rule.not_later_than) check_delay(*rule.not_later_than, "not_later_than");
  const queue_info& info = target.info();
  if (rule.skip_if_running &&
      (info.kind != kind::claim || info.keys != key_scope::active || info.key_window.count() > 0)) {
    refuse(
        "skip_if_running needs a claim queue whose messages hold their keys until they are "
        "completed");
  }
  headers all = rule.headers;
  if (!all.empty()) {  // There must be room for those of the schedule.
    tell_schedule(all, rule.name, timestamp(std::chrono::milliseconds(1)));
  }
  const claim_enqueue_options options{
      .priority = rule.priority, .headers = std::move(all), .key = rule.key, .group = rule.group};
  check_for_any(target.database(), info, {rule.payload, &options});
}

std::vector<enqueued> add_messages(const queue_state& queue, transaction_state& tx,
                                   std::string_view name, const periodic_row& message,
                                   std::span<const timestamp> times) {
  auto headers = to_headers(message.headers);
  if (!headers) refuse("its headers are no JSON object of texts");
  std::vector<claim_enqueue_options> options;
  for (const timestamp time : times) {
    tell_schedule(*headers, name, time);
    options.push_back({.priority = message.priority,
                       .headers = *headers,
                       .key = message.key,
                       .group = message.group});
    if (message.skip && !message.key) options.back().key = "schedule " + std::string(name);
    // In these queues it tells the time that a message is for.
    if (queue.info().kind != kind::claim) options.back().created_at = time;
  }
  std::vector<claim_message> messages;
  messages.reserve(options.size());
  for (const claim_enqueue_options& each : options) messages.push_back({message.payload, &each});
  return add_to_any(queue, tx, messages);
}

}  // namespace tableq::inline v0::core
