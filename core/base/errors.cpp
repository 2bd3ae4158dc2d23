#include "core/base/errors.hpp"

#include <array>
#include <cstddef>
#include <utility>

namespace tableq::inline v0 {
namespace {

std::string compose(const std::string& sentence, const error_origin& origin) {
  std::string out;
  for (const std::string* part : {&origin.backend, &origin.operation}) {
    if (!part->empty()) out += *part + ": ";
  }
  return out + sentence;
}

struct rule {
  errc code;
  bool repeated;        ///< A unit of work may run again.
  bool passes;          ///< For a worker.
  bool row;             ///< One row may be the cause.
  bool message;         ///< One message may be the cause.
  bool writes = false;  ///< Nobody's writes succeed.
};

// By the number of the code, from 1 on.
constexpr std::array code_rules{
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
    rule{errc::read_only, false, true, false, false, true},
    rule{errc::storage_full, false, true, false, false, true},
    rule{errc::too_large, false, false, true, true},
    rule{errc::not_a_database, false, false, false, false},
    rule{errc::duplicate_key, false, false, false, true},
    rule{errc::cancelled, false, true, false, false},
    rule{errc::unsupported, false, false, false, false},
    rule{errc::queue_full, false, false, false, true},
    rule{errc::storage_failed, false, true, false, false, true},
    rule{errc::internal, false, false, true, true},
};
static_assert([] {
  for (std::size_t i = 0; i < code_rules.size(); ++i) {
    if (code_rules[i].code != static_cast<errc>(i + 1)) return false;
  }
  return true;
}());

const rule& rule_of(errc code) noexcept {
  const auto place = static_cast<std::size_t>(code) - 1;
  return code_rules[place < code_rules.size() ? place
                                              : static_cast<std::size_t>(errc::internal) - 1];
}

/// The sentence, without the names in front.
std::string sentence_of(const error& failure) {
  std::string_view text = failure.what();
  for (const std::string* part : {&failure.backend(), &failure.operation()}) {
    if (!part->empty()) text.remove_prefix(part->size() + std::string_view(": ").size());
  }
  return std::string(text);
}

std::string first_given(const std::string& given, std::string_view fallback) {
  return given.empty() ? std::string(fallback) : given;
}

}  // namespace

error::error(errc code, tableq::advice advice, const std::string& sentence, error_origin origin)
    : std::runtime_error(compose(sentence, origin)),
      code_(code),
      advice_(advice),
      origin_(std::move(origin)) {}

namespace core {

void refuse(const std::string& sentence) {
  refuse(errc::invalid_argument, sentence);
}

void refuse(errc code, const std::string& sentence) {
  throw error(code, advice::never, sentence);
}

bool located(const error& failure, std::string_view backend, std::string_view operation) noexcept {
  return failure.operation() == operation && (!failure.backend().empty() || backend.empty());
}

error locate(const error& failure, std::string_view backend, std::string_view operation) {
  std::string sentence = sentence_of(failure);
  if (!failure.operation().empty() && failure.operation() != operation) {
    sentence.insert(0, failure.operation() + ": ");
  }
  return {failure.code(),
          failure.advice(),
          sentence,
          {.backend = first_given(failure.backend(), backend),
           .operation = std::string(operation),
           .sqlstate = failure.sqlstate(),
           .native = failure.native()}};
}

bool may_repeat(const error& failure, bool known) noexcept {
  if (failure.code() == errc::connection_failed)
    return known && failure.advice() == advice::session;
  return rule_of(failure.code()).repeated && failure.advice() != advice::never;
}

bool may_pass(const error& failure) noexcept {
  return rule_of(failure.code()).passes;
}

bool stops_writes(const error& failure) noexcept {
  return rule_of(failure.code()).writes;
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
