#include <tableq/soci.hpp>

#include <memory>
#include <string_view>

#include "core/base/errors.hpp"
#include "core/database/access.hpp"
#include "core/database/transaction_state.hpp"
#include "core/seam/any_session.hpp"

namespace tableq::inline v0 {
namespace core {
namespace {

any_session session_in(transaction& tx, std::string_view operation) {
  transaction_state& state = usable(tx, operation);
  return named(state.database().name(), operation, [&] {
    const transaction_state::use mine(state);
    return state.session().session();
  });
}

}  // namespace

enlistment enlist(const database& db, const any_session& callers, bool autocommit) {
  database_state& state = access::state_of(db);
  return named(state.name(), "enlist", [&] {
    state.check_here();
    return access::join(access::make(join_callers(state.shared_from_this(), callers, autocommit)));
  });
}

void* handle_in(transaction& tx, std::string_view client, std::string_view operation) {
  const any_session found = session_in(tx, operation);
  return found.client == client ? found.handle : nullptr;
}

}  // namespace core

enlistment enlist(const database& db, soci::session& session) {
  return core::enlist(db, {.soci = &session}, false);
}
enlistment enlist(const database& db, soci::session& session, autocommit_t /*each_operation*/) {
  return core::enlist(db, {.soci = &session}, true);
}

void open_session(const database& db, soci::session& session) {
  core::database_state& state = core::access::state_of(db);
  core::named(state.name(), "open_session", [&] {
    state.check_here();
    core::open_callers(state.dialect_driver(), session);
  });
}

soci::session& session_of(transaction& tx) {
  soci::session* const found = core::session_in(tx, "session_of").soci;
  if (found == nullptr) {
    core::named(core::access::state_of(tx)->database().name(), "session_of", [] {
      core::refuse(
          "the transaction was enlisted by a client library's own handle, and has no session of "
          "SOCI; use that handle");
    });
  }
  return *found;
}

}  // namespace tableq::inline v0
