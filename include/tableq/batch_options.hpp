#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <tableq/claim_options.hpp>
#include <tableq/message.hpp>

namespace tableq::inline v0 {

/// The message at the end of a batch. In a `claim` queue it has these headers besides its own:
/// `tableq-batch`, the id; `tableq-batch-total`, `-completed`, `-dead`, `-removed` and `-gone`, the
/// counts; and `tableq-batch-cancelled` if it was cancelled. The other kinds have no headers.
struct batch_end {
  std::string queue = {};    ///< A queue of the same database that tableq has made, of any kind.
  std::string payload = {};  ///< Any bytes, also none, up to the database's limit.
  tableq::headers headers = {};           ///< `claim` only, as all below; as for an enqueue.
  std::optional<std::string> key = {};    ///< If another message holds it, none is added.
  std::optional<std::string> group = {};  ///< Empty: no group.
  std::int32_t priority = 0;              ///< Higher comes first.
};

/// Options of `claim_queue::begin_batch`.
struct batch_options {
  std::optional<batch_end> then = {};   ///< Empty: no message; `batch::get` shows the end.
  std::optional<batch_id> parent = {};  ///< The batch of which this one is a member. Empty: none.
  std::string name = {};                ///< For people: up to 200 bytes of UTF-8 without NUL.
};

/// A batch and what has become of its messages.
struct batch_info {
  std::int64_t id = 0;          ///< As `batch::id`.
  std::string name = {};        ///< As it was begun with; empty: none.
  std::size_t total = 0;        ///< Messages and batches that were added.
  std::size_t outstanding = 0;  ///< They wait or run.
  std::size_t completed = 0;    ///< Also batches that have ended.
  std::size_t dead = 0;         ///< Also expired ones. A redriven one is outstanding again.
  std::size_t removed = 0;      ///< By cancel, or with their queue.
  std::size_t gone = 0;         ///< Deleted by plain SQL.
  bool sealed = false;          ///< No messages are added, except by members.
  bool cancelled = false;       ///< By `batch::cancel`.
  std::string then = {};        ///< The queue of the message at its end. Empty: none.
  timestamp created_at = {};    ///< By the database's clock.
  std::optional<timestamp> finished_at = {};  ///< Empty: it has not ended.
  /// Where its counts stopped, but for `total`: the members that are not completed are at least
  /// these, and `completed` is at most this. Empty: all are exact.
  std::optional<std::size_t> counted_to = {};
};

/// A page of `database::batches`.
struct batch_page {
  std::size_t max = 20;                     ///< 1 to 1,000.
  std::optional<std::int64_t> before = {};  ///< Only batches with lower ids. Empty: the newest.
  /// At least so many members of each batch that has not ended are counted, at least 1. Empty: all,
  /// which takes as long as there are members.
  std::optional<std::size_t> count_to = {};
};

}  // namespace tableq::inline v0
