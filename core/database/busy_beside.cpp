#include "core/database/busy_beside.hpp"

#include "core/database/database_state.hpp"
#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"

namespace tableq::inline v0::core {
namespace {

/// Null: no transaction of the thread can be the cause.
const char* advised(const transaction_state* tx) noexcept {
  if (tx != nullptr && !tx->enlisted()) return nullptr;
  const int own = tx != nullptr && tx->counts_as_open() ? 1 : 0;
  if (open_transaction::on_this_thread() > own) {
    return own == 0 ? "another transaction holds a lock, and this thread has an open one: if that "
                      "is of this database, write queue.in(tx), or end it first"
                    : "another transaction holds a lock, and this thread has one besides this: if "
                      "that is of this database, do all in one of the two, or end it first";
  }
  if (!open_transaction::left_open_beside(tx == nullptr ? nullptr : tx->callers_session()))
    return nullptr;
  return "another transaction holds a lock, and this thread has enlisted a session that was in a "
         "transaction: if that is still open, write queue.in(enlist(db, session)), or commit it "
         "first";
}

}  // namespace

void explain_busy(const database_state& database, const transaction_state* tx,
                  const error& failure) {
  if (failure.code() != errc::busy || dynamic_cast<const no_free_session*>(&failure) != nullptr)
    return;
  const char* const sentence = advised(tx);
  if (sentence == nullptr) return;
  throw error(
      errc::busy, failure.advice(), sentence,
      {.backend = database.name(), .sqlstate = failure.sqlstate(), .native = failure.native()});
}

}  // namespace tableq::inline v0::core
