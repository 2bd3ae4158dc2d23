#include "locks/known.hpp"

namespace tableq_test::locks {
namespace {

constexpr const char* by_done =
    "the entry of _done and then the row, against the row and then the entry; core repeats the "
    "victim";

}  // namespace

const std::vector<known_finding>& known_of_claim() {
  static const std::vector<known_finding> all = {
      {"deadlock: claim.cancel, claim.purge", by_done},
      {"deadlock: claim.purge, claim.redrive", by_done},
      {"deadlock: claim.purge, claim.remove", by_done},
      {"deadlock: claim.forget, claim.purge", by_done},
      {"deadlock: claim.enqueue",
       "batches with the same new keys in another order; core repeats the victim"},
      {"duplicate key: claim.enqueue",
       "the unique index decides between two writers; core repeats"},
      {"duplicate key: claim.adopt", "the same; then core finds the key held"},
  };
  return all;
}

}  // namespace tableq_test::locks
