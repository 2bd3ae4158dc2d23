#include "core/queue/identity.hpp"

#include <optional>
#include <string>
#include <string_view>

#include <tableq/schema.hpp>

#include "core/database/busy_beside.hpp"
#include "core/database/transaction_state.hpp"
#include "core/seam/catalog_statements.hpp"
#include "core/seam/contract.hpp"

namespace tableq::inline v0::core {
namespace {

/// A caller's transaction may have an old snapshot, so its answers must not serve other calls.
bool enlisted_by_caller(transaction_state* tx) noexcept {
  return tx != nullptr && tx->enlisted();
}

[[noreturn]] void refuse_queue(const queue_state& queue, transaction_state* tx,
                               std::optional<kind> successor) {
  if (tx != nullptr) tx->spoil();
  const error_origin where{.backend = queue.database().name()};
  if (!successor) {
    throw error(errc::not_found, advice::never,
                "the queue " + queue.name() + " was dropped, and this handle ended with it", where);
  }
  std::string sentence = "the queue " + queue.name() + " was dropped and created again";
  if (*successor == queue.info().kind) {
    throw error(errc::not_found, advice::never,
                sentence + "; this handle is of the old one: open the queue again", where);
  }
  sentence.append(" as ").append(to_string(*successor)).append("; this handle is of the old ");
  sentence.append(to_string(queue.info().kind)).append(" queue: open the new one");
  throw error(errc::kind_mismatch, advice::never, sentence, where);
}

/// The kind in a row of the catalogue; nothing for an unknown text.
std::optional<kind> kind_of(const limits_row& row) {
  for (const kind one : {kind::heap, kind::fifo, kind::lifo, kind::pending, kind::claim}) {
    if (row.kind == to_string(one)) return one;
  }
  return std::nullopt;
}

/// A table of the application stands in no catalogue.
void confirm_mapped(const queue_state& queue, std::string_view operation) {
  if (!operation.starts_with("limits.")) return;
  throw error(errc::unsupported, advice::never,
              "the table " + queue.name() +
                  " is the application's; only queues that tableq has made have limits and a pause",
              {.backend = queue.database().name()});
}

}  // namespace

void refuse_ended(const queue_state& queue, transaction_state* tx) {
  const queue_life& life = queue.shared().life;
  if (life.ended()) refuse_queue(queue, tx, life.successor());
}

void check_identity(const queue_state& queue, transaction_state* tx,
                    const std::vector<limits_row>& rows) {
  if (!rows.empty() && rows.front().identity == queue.info().identity) return;
  const std::optional<kind> successor = rows.empty() ? std::nullopt : kind_of(rows.front());
  if (!enlisted_by_caller(tx)) queue.shared().end(successor);
  refuse_queue(queue, tx, successor);
}

void confirm(const queue_state& queue, transaction_state* tx, statement id) {
  refuse_ended(queue, tx);
  const std::string_view name = contract_of(id).name;
  if (queue.mapped() != nullptr) return confirm_mapped(queue, name);
  const bool asks = name.ends_with(".enqueue") || name.ends_with(".dequeue") ||
                    name.ends_with(".take") || name.starts_with("limits.");
  if (asks || enlisted_by_caller(tx)) return;
  if (queue.shared().life.confirmed()) return;
  const auto asked = queue_life::clock::now();
  std::vector<limits_row> rows;
  for (const catalog_row& row :
       queue.execute(tx, statements::catalog_find, {.name = queue.name()})) {
    rows.push_back({.identity = row.identity, .kind = row.kind});
  }
  check_identity(queue, tx, rows);
  queue.shared().life.confirm(asked);
}

std::vector<limits_row> ask_row(const queue_state& queue, transaction_state* tx) {
  auto rows =
      queue.execute(tx, enlisted_by_caller(tx) ? statements::limits_ask : statements::limits_read,
                    {.queue = queue.name()});
  check_identity(queue, tx, rows);
  return rows;
}

void recheck(const queue_state& queue, transaction_state* tx) {
  static_cast<void>(ask_row(queue, tx));
}

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
  shared_queue& shared = queue.shared();
  if (shared.life.ended() || queue.mapped() != nullptr) return;
  shared.forget();
  if (tx != nullptr) return;
  try {
    recheck(queue, nullptr);
  } catch (const error&) {  // The operation's own error is more useful than that of a check.
    if (shared.life.ended()) throw;
  }
}

void not_stored(const queue_state& queue, transaction_state* tx) {
  recheck(queue, tx);
  throw error(errc::constraint_violated, advice::never,
              "the table of the queue " + queue.name() +
                  " did not keep a row; look for triggers and rules on it",
              {.backend = queue.database().name()});
}

}  // namespace tableq::inline v0::core
