#include "core/queue/identity.hpp"

#include <optional>
#include <string>
#include <string_view>

#include <tableq/schema.hpp>

#include "core/database/transaction_state.hpp"
#include "core/seam/catalog_statements.hpp"
#include "core/seam/contract.hpp"

namespace tableq::inline v0::core {
namespace {

/// A caller's transaction may see the past, which is of no use to other calls.
bool callers(transaction_state* tx) noexcept {
  return tx != nullptr && tx->enlisted();
}

[[noreturn]] void refuse_queue(const queue_state& of, transaction_state* tx,
                               std::optional<kind> now) {
  if (tx != nullptr) tx->spoil();
  const error_origin where{.backend = of.database().name()};
  if (!now) {
    throw error(errc::not_found, advice::never,
                "the queue " + of.name() + " was dropped, and this handle ended with it", where);
  }
  std::string sentence = "the queue " + of.name() + " was dropped and made anew";
  if (*now == of.info().kind) {
    throw error(errc::not_found, advice::never,
                sentence + "; this handle ended with the old one, open the queue again", where);
  }
  sentence.append(" as ").append(to_string(*now)).append("; this handle is of the old ");
  sentence.append(to_string(of.info().kind)).append(", open the queue as what it is now");
  throw error(errc::kind_mismatch, advice::never, sentence, where);
}

/// The kind in a row of the catalogue. What no tableq has written there is of no kind known here.
std::optional<kind> kind_of(const limits_row& row) {
  for (const kind one : {kind::heap, kind::fifo, kind::lifo, kind::pending, kind::claim}) {
    if (row.kind == to_string(one)) return one;
  }
  return std::nullopt;
}

}  // namespace

void refuse_ended(const queue_state& of, transaction_state* tx) {
  if (of.limits().ended()) refuse_queue(of, tx, of.limits().successor());
}

void check_identity(const queue_state& of, transaction_state* tx,
                    const std::vector<limits_row>& rows) {
  if (!rows.empty() && rows.front().identity == of.info().identity) return;
  const std::optional<kind> now = rows.empty() ? std::nullopt : kind_of(rows.front());
  if (!callers(tx)) of.limits().end(now);
  refuse_queue(of, tx, now);
}

void confirm(const queue_state& of, transaction_state* tx, statement as) {
  refuse_ended(of, tx);
  const std::string_view name = contract_of(as).name;
  const bool asks = name.ends_with(".enqueue") || name.ends_with(".dequeue") ||
                    name.ends_with(".take") || name.starts_with("limits.");
  if (asks || callers(tx)) return;
  if (of.limits().confirmed()) return;
  const auto asked = limits_watch::clock::now();
  std::vector<limits_row> rows;
  for (const catalog_row& row : of.execute(tx, statements::catalog_find, {.name = of.name()})) {
    rows.push_back({.identity = row.identity, .kind = row.kind});
  }
  check_identity(of, tx, rows);
  of.limits().confirm(asked);
}

std::vector<limits_row> ask_row(const queue_state& of, transaction_state* tx) {
  auto rows = of.execute(tx, callers(tx) ? statements::limits_ask : statements::limits_read,
                         {.queue = of.name()});
  check_identity(of, tx, rows);
  return rows;
}

void look_again(const queue_state& of, transaction_state* tx) {
  static_cast<void>(ask_row(of, tx));
}

void explain(const queue_state& of, const transaction_state* tx, const error& failure) {
  switch (failure.code()) {
    case errc::not_found:
    case errc::schema_mismatch:
    case errc::permission_denied:
    case errc::internal:
      break;
    default:
      return;
  }
  if (of.limits().ended()) return;
  of.limits().forget();
  if (tx != nullptr) return;
  try {
    look_again(of, nullptr);
  } catch (const error&) {  // What the operation failed with says more than a look that failed too.
    if (of.limits().ended()) throw;
  }
}

void not_stored(const queue_state& of, transaction_state* tx) {
  look_again(of, tx);
  throw error(errc::constraint_violated, advice::never,
              "the table of the queue " + of.name() +
                  " did not keep a row; look for triggers and rules on it",
              {.backend = of.database().name()});
}

}  // namespace tableq::inline v0::core
