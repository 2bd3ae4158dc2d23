#pragma once

#include <cstddef>
#include <string_view>

#include <tableq/message.hpp>

namespace tableq::inline v0 {

/// An event of a worker.
struct worker_event {
  /// The kinds of event.
  enum class kind {
    completed,  ///< The database has completed it.
    /// `why` is the handler's text. After the last attempt the message is dead.
    failed,
    given_up,            ///< handled::give_up(): the message is dead.
    given_back,          ///< Without an attempt.
    settled_by_handler,  ///< handled::settled(), or a kept one was settled by the queue.
    lease_lost,          ///< Another worker has the message, or had it.
    /// The database did not confirm the settlement, cannot be reached any more, or refused it with
    /// `why`. After a refusal the message is ready again when its lease ends.
    unknown,
    /// Of no message: `why` is the database's error; the worker tries again. Of a message that is
    /// put aside it comes once. Also, once, when an idle worker finds that row level security may
    /// hide messages from its user; SQL Server shows that only to users who may see the policy.
    trouble,
  };
  kind what = kind::completed;  ///< Says which other members have a value.
  message_id id = {};           ///< The message. Zero: `trouble`.
  int attempt = 0;              ///< Its attempt, from 1. Zero: `trouble`.
  std::string_view why;         ///< At most about 2,000 bytes, or empty. Valid during the call.
  std::size_t source = 0;       ///< The message's place among the worker's sources, from 0.
  /// The name of its queue. Valid during the call. Empty: `trouble` with the executor.
  std::string_view queue = {};
};

}  // namespace tableq::inline v0
