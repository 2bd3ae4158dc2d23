#include "core/database/transact_scope.hpp"

#include <string>

#include "core/base/errors.hpp"
#include "core/database/database_state.hpp"
#include "core/database/open_transaction.hpp"

namespace tableq::inline v0::core {
namespace {

/// The scopes of this thread, linked from the inside out.
const transact_scope*& innermost() noexcept {
  thread_local const transact_scope* scope = nullptr;
  return scope;
}

/// Refuses work beside a transaction that the thread began or continued, and runs no function of.
[[noreturn]] void refuse_beside_begun(beside work) {
  const bool of_database = work == beside::of_database;
  refuse(std::string("this thread used an open transaction of the database last, and this call ") +
         (work == beside::operation ? "would miss it: write queue.in(tx), or "
                                    : "is not done inside one: end it first, or write ") +
         (of_database ? "database" : "queue") +
         ".outside() for work outside of the transaction; for threads that serve several "
         "transactions, open the database with refuses_beside_begin off");
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

bool in_transaction(const database_state& database) noexcept {
  return transact_scope::covers(database) || open_transaction::refuses_on_this_thread(&database);
}

void check_beside(const database_state& database, beside work, bool outside) {
  const bool refuses =
      work == beside::begin ? transact_scope::covers(database) : in_transaction(database);
  if (!refuses) return;
  if (database.most_sessions() == 1) {
    refuse(
        "the transaction that this thread runs holds the only session of the database: use "
        "queue.in(tx), or call this before or after the transaction");
  }
  if (outside || work == beside::read_only) return;
  if (!transact_scope::covers(database)) refuse_beside_begun(work);
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
