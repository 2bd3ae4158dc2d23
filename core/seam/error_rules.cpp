#include "core/seam/error_rules.hpp"

#include <array>
#include <cstddef>

namespace tableq::inline v0 {
namespace {

struct rule {
  errc code;
  bool repeated;  ///< A unit of work may run again.
  bool passes;    ///< For a worker.
  bool row;       ///< One row may be the cause.
  bool message;   ///< One message may be the cause.
};

// In the order of errc, from 1 on.
constexpr std::array rules{
    rule{errc::invalid_argument, false, false, true, true},
    rule{errc::not_found, false, false, false, false},
    rule{errc::kind_mismatch, false, false, false, false},
    rule{errc::options_mismatch, false, false, false, false},
    rule{errc::schema_mismatch, false, false, false, true},
    rule{errc::schema_too_new, false, false, false, false},
    rule{errc::connection_failed, false, true, false, false},
    rule{errc::connection_lost, true, true, false, false},
    rule{errc::outcome_unknown, false, false, false, false},
    rule{errc::busy, true, true, false, false},
    rule{errc::conflict, true, true, false, false},
    rule{errc::constraint_violated, false, false, true, true},
    rule{errc::permission_denied, false, false, false, false},
    rule{errc::read_only, false, true, false, false},
    rule{errc::storage_full, false, true, false, false},
    rule{errc::too_large, false, false, true, true},
    rule{errc::not_a_database, false, false, false, false},
    rule{errc::duplicate_key, false, false, false, true},
    rule{errc::cancelled, false, true, false, false},
    rule{errc::unsupported, false, false, false, false},
    rule{errc::queue_full, false, false, false, true},
    rule{errc::storage_failed, false, true, false, false},
    rule{errc::internal, false, false, true, true},
};
static_assert([] {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (rules[i].code != static_cast<errc>(i + 1)) return false;
  }
  return rules.back().code == errc::internal;
}());

const rule& rule_of(errc code) noexcept {
  const auto place = static_cast<std::size_t>(code) - 1;
  return place < rules.size() ? rules[place] : rules.back();
}

}  // namespace

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
