#include "core/queue_options.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>

#include <tableq/error.hpp>

#include "core/validate.hpp"

namespace tableq::core {
namespace {

bool ordered(kind k) noexcept {
  return k == kind::fifo || k == kind::lifo;
}

void check_settings(const queue_settings& settings) {
  const claim_options& claim = settings.claim;
  if (settings.order.ordering && !ordered(settings.kind)) {
    throw error(errc::invalid_argument, advice::never,
                "an ordering can be chosen for fifo and lifo queues only");
  }
  if ((claim.lease || claim.max_attempts || claim.keep || claim.retry) &&
      settings.kind != kind::claim) {
    throw error(errc::invalid_argument, advice::never,
                "lease, max_attempts, keep and retry belong to claim queues only");
  }
  if (claim.lease) check_lease(*claim.lease);
  if (claim.max_attempts) check_max_attempts(*claim.max_attempts);
  if (claim.retry) check_retry(*claim.retry);
}

void apply(const queue_settings& given, queue_info& to) {
  if (given.order.ordering) to.ordering = *given.order.ordering;
  if (given.claim.lease) to.lease = *given.claim.lease;
  if (given.claim.max_attempts) to.max_attempts = *given.claim.max_attempts;
  if (given.claim.keep) to.keep = *given.claim.keep;
  if (given.claim.retry) to.retry = *given.claim.retry;
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

/// @return false for what is no list of numbers.
bool decode_delays(std::string_view list, retry_delays& into) {
  while (!list.empty()) {
    const std::string_view one = list.substr(0, list.find(','));
    list.remove_prefix(std::min(one.size() + 1, list.size()));
    std::int64_t number = 0;
    if (std::from_chars(one.data(), one.data() + one.size(), number).ec != std::errc())
      return false;
    into.after.emplace_back(number);
  }
  return true;
}

[[noreturn]] void newer(const queue_info& info) {
  throw error(
      errc::schema_too_new, advice::never,
      "the queue " + info.name + " was made by a newer tableq; use that version or a later one");
}

}  // namespace

queue_info settle_options(std::string_view name, const queue_settings& settings) {
  check_settings(settings);
  queue_info info;
  info.name = name;
  info.kind = settings.kind;
  apply(settings, info);
  return info;
}

std::string encode_options(const queue_info& info) {
  if (ordered(info.kind)) {
    return info.ordering == ordering::strict ? "ordering=strict" : "ordering=relaxed";
  }
  if (info.kind != kind::claim) return {};
  return "lease_ms=" + std::to_string(info.lease.count()) +
         " max_attempts=" + std::to_string(info.max_attempts) + " keep=" + (info.keep ? "1" : "0") +
         encode_delays(info.retry);
}

void decode_options(std::string_view text, queue_info& info) {
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
    } else if (name == "lease_ms" && numeric) {
      info.lease = std::chrono::milliseconds(number);
    } else if (name == "max_attempts" && numeric) {
      info.max_attempts = static_cast<int>(number);
    } else if (name == "keep" && numeric) {
      info.keep = number != 0;
    } else if (name == "retry_ms" && decode_delays(given, info.retry)) {
      continue;
    } else if (name == "jitter" && numeric) {
      info.retry.jitter = static_cast<int>(number);
    } else {
      newer(info);
    }
  }
}

queue_info merge_options(const queue_info& stored, const queue_settings& given) {
  check_settings(given);
  if (stored.kind != given.kind) {
    throw error(errc::kind_mismatch, advice::never,
                "the queue " + stored.name + " is of the kind " +
                    std::string(to_string(stored.kind)) + " and cannot be opened as " +
                    std::string(to_string(given.kind)));
  }
  if (given.order.ordering && *given.order.ordering != stored.ordering) {
    const bool strict = stored.ordering == ordering::strict;
    throw error(errc::kind_mismatch, advice::never,
                "the queue " + stored.name + " has " + (strict ? "strict" : "relaxed") +
                    " ordering and cannot be opened with " + (strict ? "relaxed" : "strict"));
  }
  queue_info out = stored;
  apply(given, out);
  return out;
}

}  // namespace tableq::core

namespace tableq {

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

}  // namespace tableq
