#include "core/seam/error_rules.hpp"

#include <array>
#include <cstddef>
#include <string_view>

namespace tableq::inline v0 {
namespace {

struct rule {
  std::string_view name;
  bool repeated;  ///< A unit of work may run again.
  bool passes;    ///< For a worker.
  bool row;       ///< One row may be the cause.
  bool message;   ///< One message may be the cause.
};

// In the order of errc, from 1 on.
constexpr std::array rules{
    rule{"invalid_argument", false, false, true, true},
    rule{"not_found", false, false, false, false},
    rule{"kind_mismatch", false, false, false, false},
    rule{"options_mismatch", false, false, false, false},
    rule{"schema_mismatch", false, false, false, true},
    rule{"schema_too_new", false, false, false, false},
    rule{"connection_failed", false, true, false, false},
    rule{"connection_lost", true, true, false, false},
    rule{"outcome_unknown", false, false, false, false},
    rule{"busy", true, true, false, false},
    rule{"conflict", true, true, false, false},
    rule{"constraint_violated", false, false, true, true},
    rule{"permission_denied", false, false, false, false},
    rule{"read_only", false, true, false, false},
    rule{"storage_full", false, true, false, false},
    rule{"too_large", false, false, true, true},
    rule{"not_a_database", false, false, false, false},
    rule{"duplicate_key", false, false, false, true},
    rule{"cancelled", false, true, false, false},
    rule{"unsupported", false, false, false, false},
    rule{"queue_full", false, false, false, true},
    rule{"storage_failed", false, true, false, false},
    rule{"internal", false, false, true, true},
};
static_assert(rules.size() == static_cast<std::size_t>(errc::internal));

const rule& rule_of(errc code) noexcept {
  const auto place = static_cast<std::size_t>(code) - 1;
  return place < rules.size() ? rules[place] : rules.back();
}

}  // namespace

std::string_view to_string(errc code) noexcept {
  return rule_of(code).name;
}

namespace core {

bool may_repeat(const error& failure, bool known) noexcept {
  if (failure.code() == errc::connection_failed)
    return known && failure.advice() == advice::session;
  return rule_of(failure.code()).repeated && failure.advice() != advice::never;
}

bool may_pass(const error& failure) noexcept {
  return rule_of(failure.code()).passes;
}

bool may_concern_one_row(const error& failure) noexcept {
  return rule_of(failure.code()).row && failure.advice() == advice::never;
}

bool may_concern_one_message(const error& failure) noexcept {
  return rule_of(failure.code()).message;
}

bool may_concern_one_call(const error& failure) noexcept {
  return failure.advice() == advice::never && failure.code() != errc::outcome_unknown &&
         failure.code() != errc::connection_failed;
}

}  // namespace core
}  // namespace tableq::inline v0
