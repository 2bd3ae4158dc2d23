#include "core/queue/identity.hpp"

#include <string>
#include <utility>

#include <tableq/schema.hpp>

#include "core/base/errors.hpp"
#include "core/database/busy_beside.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/queue_options.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {

void check_identity(const queue_state& queue, transaction_state* tx,
                    const std::vector<limits_row>& rows) {
  if (!rows.empty() && rows.front().identity == queue.info().identity) return;
  queue.limits().forget();  // so that every later call asks, and is refused
  if (tx != nullptr) tx->spoil();
  const error_origin where{.backend = queue.database().name()};
  const std::string dropped = "the queue " + queue.name() + " was dropped";
  if (rows.empty()) {
    throw error(errc::not_found, advice::never, dropped + ", and this handle ended with it", where);
  }
  const bool alike = rows.front().kind == to_string(queue.info().kind);
  throw error(alike ? errc::not_found : errc::kind_mismatch, advice::never,
              dropped + " and created again" +
                  (alike ? "; this handle is of the old one: open the queue again"
                         : " as another kind; this handle is of the old one: open the new one"),
              where);
}

namespace {

/// Options of a later version stay unknown to this process, until it opens the queue again.
void learn_options(const queue_state& queue, const limits_row& row) {
  stored_options& stored = queue.shared().stored;
  if (const auto known = stored.last(); known != nullptr && known->text == row.options) return;
  queue_info now{.name = queue.name(),
                 .kind = queue.info().kind,
                 .layout = queue.info().layout,
                 .identity = row.identity,
                 .created_at = queue.info().created_at};
  try {
    decode_options(row.options, now);
  } catch (const error&) {  // Of a later version.
    return;
  }
  queue.shared().attended = needs_upkeep(now);
  stored.learn(row.options, std::move(now));
}

}  // namespace

std::vector<limits_row> ask_row(const queue_state& queue, transaction_state* tx) {
  const bool enlisted = tx != nullptr && tx->enlisted();
  auto rows = queue.execute(tx, enlisted ? statements::limits_ask : statements::limits_read,
                            {.queue = queue.name()});
  check_identity(queue, tx, rows);
  // Each of tableq's own statements sees what was committed before it.
  rows.front().latest = rows.front().latest || !enlisted;
  if (rows.front().latest) learn_options(queue, rows.front());
  return rows;
}

namespace {

/// Throws a clearer error than the failure, if it knows one.
void explain(const queue_state& queue, const transaction_state* tx, const error& failure) {
  explain_busy(queue.database(), tx, failure);
  switch (failure.code()) {
    case errc::not_found:
    case errc::schema_mismatch:
    case errc::permission_denied:
    case errc::internal:
      break;
    default:
      return;
  }
  if (queue.mapped() != nullptr) return;
  queue.limits().forget();
  if (tx != nullptr) return;
  std::vector<limits_row> rows;
  try {
    rows = queue.execute(nullptr, statements::limits_read, {.queue = queue.name()});
  } catch (const error&) {  // The operation's own error is more useful than that of a check.
    return;
  }
  check_identity(queue, nullptr, rows);
}

}  // namespace

void throw_explained(const queue_state& queue, const transaction_state* tx,
                     std::string_view operation, const error& failure) {
  const std::string& backend = queue.database().name();
  named(backend, operation, [&] { explain(queue, tx, failure); });
  if (located(failure, backend, operation)) throw;
  throw locate(failure, backend, operation);
}

void not_stored(const queue_state& queue, transaction_state* tx) {
  static_cast<void>(ask_row(queue, tx));
  throw error(errc::constraint_violated, advice::never,
              "the table of the queue " + queue.name() +
                  " did not keep a row; look for triggers and rules on it",
              {.backend = queue.database().name()});
}

}  // namespace tableq::inline v0::core
