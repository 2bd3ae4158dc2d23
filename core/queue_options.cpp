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
  if ((claim.lease || claim.max_attempts || claim.keep) && settings.kind != kind::claim) {
    throw error(errc::invalid_argument, advice::never,
                "lease, max_attempts and keep belong to claim queues only");
  }
  if (claim.lease) check_lease(*claim.lease);
  if (claim.max_attempts) check_max_attempts(*claim.max_attempts);
}

void apply(const queue_settings& given, queue_info& to) {
  if (given.order.ordering) to.ordering = *given.order.ordering;
  if (given.claim.lease) to.lease = *given.claim.lease;
  if (given.claim.max_attempts) to.max_attempts = *given.claim.max_attempts;
  if (given.claim.keep) to.keep = *given.claim.keep;
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
         " max_attempts=" + std::to_string(info.max_attempts) + " keep=" + (info.keep ? "1" : "0");
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
