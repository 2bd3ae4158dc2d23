#include <tableq/error.hpp>

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

}  // namespace

error::error(errc code, tableq::advice advice, const std::string& sentence, error_origin origin)
    : std::runtime_error(compose(sentence, origin)),
      code_(code),
      advice_(advice),
      origin_(std::move(origin)) {}

std::string_view to_string(errc code) noexcept {
  switch (code) {
    case errc::invalid_argument:
      return "invalid_argument";
    case errc::not_found:
      return "not_found";
    case errc::kind_mismatch:
      return "kind_mismatch";
    case errc::options_mismatch:
      return "options_mismatch";
    case errc::schema_mismatch:
      return "schema_mismatch";
    case errc::schema_too_new:
      return "schema_too_new";
    case errc::connection_failed:
      return "connection_failed";
    case errc::connection_lost:
      return "connection_lost";
    case errc::outcome_unknown:
      return "outcome_unknown";
    case errc::busy:
      return "busy";
    case errc::conflict:
      return "conflict";
    case errc::constraint_violated:
      return "constraint_violated";
    case errc::permission_denied:
      return "permission_denied";
    case errc::read_only:
      return "read_only";
    case errc::storage_full:
      return "storage_full";
    case errc::too_large:
      return "too_large";
    case errc::not_a_database:
      return "not_a_database";
    case errc::duplicate_key:
      return "duplicate_key";
    case errc::cancelled:
      return "cancelled";
    case errc::unsupported:
      return "unsupported";
    case errc::queue_full:
      return "queue_full";
    case errc::storage_failed:
      return "storage_failed";
    case errc::internal:
      return "internal";
  }
  return "internal";
}

std::string_view to_string(advice value) noexcept {
  switch (value) {
    case advice::never:
      return "never";
    case advice::statement:
      return "statement";
    case advice::transaction:
      return "transaction";
    case advice::session:
      return "session";
  }
  return "never";
}

}  // namespace tableq::inline v0
