#include "core/database/transact_scope.hpp"

#include "core/database/database_state.hpp"
#include "core/seam/named.hpp"

namespace tableq::inline v0::core {
namespace {

/// The scopes of this thread, linked from the inside out.
const transact_scope*& innermost() noexcept {
  thread_local const transact_scope* scope = nullptr;
  return scope;
}

}  // namespace

transact_scope::transact_scope(const database_state& database,
                               const transaction_state& ends_itself) noexcept
    : database_(&database), transaction_(&ends_itself), outer_(innermost()) {
  innermost() = this;
}
transact_scope::~transact_scope() {
  innermost() = outer_;
}

bool transact_scope::runs_in(const transaction_state& transaction) noexcept {
  for (const transact_scope* each = innermost(); each != nullptr; each = each->outer_) {
    if (each->transaction_ == &transaction) return true;
  }
  return false;
}

bool transact_scope::covers(const database_state& database) noexcept {
  for (const transact_scope* each = innermost(); each != nullptr; each = each->outer_) {
    if (each->database_ == &database) return true;
  }
  return false;
}

void check_beside(const database_state& database, beside work, bool outside) {
  if (!transact_scope::covers(database)) return;
  if (database.most_sessions() == 1) {
    refuse(
        "the transaction that this thread runs holds the only session of the database: use "
        "queue.in(tx), or call this before or after the transaction");
  }
  if (outside || work == beside::read_only) return;
  switch (work) {
    case beside::operation:
      refuse(
          "this thread runs a transaction of the database, and the call would miss it: write "
          "queue.in(tx), or queue.outside() for work outside of the transaction");
    case beside::change:
      refuse(
          "this thread runs a transaction of the database, and this is not done inside one: call "
          "it before or after, or write queue.outside()");
    default:
      refuse(
          "this thread runs a transaction of the database already, and this is not done inside "
          "one: call it before or after, or write database.outside()");
  }
}

}  // namespace tableq::inline v0::core
