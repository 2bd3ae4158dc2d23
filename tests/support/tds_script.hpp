#pragma once

#include <functional>
#include <string_view>

#include "support/tds_answer.hpp"
#include "support/tds_request.hpp"

namespace tableq_test {

/// The answers of a scripted TDS server. Handlers run in the threads of the connections, several at
/// once; their exceptions reach the client as error 50000.
struct tds_script {
  using handler = std::function<tds_answer(const tds_request&)>;

  /// For statements: batches and calls. Unset: done.
  handler statement = {};
  /// For batches of only SET and USE, which drivers send by themselves. Unset: done.
  handler set_up = {};
  /// For `sp_prepare`; without an error the server adds its handle. Unset: prepared.
  handler prepare = {};
  /// For transactions by messages of their own kind. Unset: done as requested; 3902 or 3903 when
  /// there is none to end.
  handler transaction = {};
  /// For logins. An error refuses. Unset: accepted.
  handler login = {};
};

/// Whether a batch consists of SET and USE statements only.
bool only_sets_up(std::string_view batch);

}  // namespace tableq_test
