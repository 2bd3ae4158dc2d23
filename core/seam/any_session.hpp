#pragma once

#include <string_view>

#include <tableq/enlistment.hpp>
#include <tableq/fwd.hpp>

namespace soci {
class session;
}

namespace tableq::inline v0::core {

/// A session by what an application has of it. Owns nothing.
struct any_session {
  soci::session* soci = nullptr;  ///< Null: the application has the handle alone.
  std::string_view client = {};   ///< The handle's client library, as its transport is named.
  void* handle = nullptr;
};

/// Joins the caller's transaction. Each client library has a public function for it. Defined by
/// core/database/transaction.cpp.
enlistment enlist(const database& db, const any_session& callers, const enlist_options& options);
/// The handle of a transaction's session; null if it is another library's. Defined by
/// core/database/transaction.cpp.
/// @param operation the public function's name, for errors.
void* handle_in(transaction& tx, std::string_view client, std::string_view operation);

}  // namespace tableq::inline v0::core
