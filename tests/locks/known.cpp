#include "locks/known.hpp"

namespace tableq_test::locks {
namespace {

constexpr const char* repeated =
    "core repeats the victim, outside of the application's transaction";
constexpr const char* by_key =
    "the key's entry and then the row, against the row and then the key's entry; core repeats the "
    "victim";
constexpr const char* by_done =
    "the entry of _done and then the row, against the row and then the entry; core repeats the "
    "victim";

}  // namespace

const std::vector<known_finding>& known_of_claim() {
  static const std::vector<known_finding> all = {
      {"deadlock: claim.cancel, claim.find", by_key},
      {"deadlock: claim.complete, claim.find", by_key},
      {"deadlock: claim.find, claim.keep", by_key},
      {"deadlock: claim.cancel, claim.replace", by_key},
      {"deadlock: claim.complete, claim.replace", by_key},
      {"deadlock: claim.keep, claim.replace", by_key},
      {"deadlock: claim.cancel, claim.purge", by_done},
      {"deadlock: claim.purge, claim.redrive", by_done},
      {"deadlock: claim.purge, claim.remove", by_done},
      {"deadlock: claim.forget, claim.purge", by_done},
      {"deadlock: claim.forget", repeated},
      {"deadlock: claim.free", repeated},
      {"deadlock: claim.forget, claim.free", "no queue uses both"},
      {"deadlock: claim.leased, limits.lock",
       "one transaction settles, and then takes with limits"},
      {"duplicate key: claim.adopt", "core moves the message without its key then"},
      {"waits with the limits: claim.leased", "with READ_COMMITTED_SNAPSHOT off only"},
  };
  return all;
}

const std::vector<known_finding>& known_of_strict() {
  static const std::vector<known_finding> all = {
      {"broken order: a message comes after a later one was read",
       "ids are drawn before rows are locked"},
  };
  return all;
}

}  // namespace tableq_test::locks
