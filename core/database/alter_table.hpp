#pragma once

#include <tableq/error.hpp>

#include "core/seam/driver.hpp"
#include "core/seam/run.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {

/// Runs `change()`, DDL on a queue's table that others may use, in the session's transaction. All
/// calls on the table wait behind such a change while it waits for a lock, so it waits briefly; the
/// pauses are those of the repeated transaction.
/// @param only_writers whether it goes together with those who only read.
/// @throws error errc::busy that names the sessions.
template <class Change>
void alter_table(connection& session, const table_names& names, bool only_writers, Change change) {
  const sessions_row found =
      run(session, names, statements::queue_alter, {.only_writers = only_writers}).at(0);
  try {
    change();
  } catch (const error& failure) {
    if (failure.code() != errc::busy || !found.sessions) throw;
    throw error(failure.code(), failure.advice(),
                "the table " + names.table + " is in use by open transactions of the sessions " +
                    *found.sessions + "; end them, or try again",
                {.backend = failure.backend(),
                 .operation = failure.operation(),
                 .sqlstate = failure.sqlstate(),
                 .native = failure.native()});
  }
}

}  // namespace tableq::inline v0::core
