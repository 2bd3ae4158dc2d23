#pragma once

#include <memory>
#include <string>

#include <tableq/claim_options.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>

namespace tableq::inline v0 {

/// Ends a message that a worker keeps after its handler has returned `handled::kept`. Make one for
/// each message, give copies to the code that continues the work, and return it:
///
/// @code
/// tableq::worker crawl(pages, [&](const tableq::delivery& page) {
///   tableq::kept_delivery later;
///   client.get(page.payload, [later](const reply& got) mutable {
///     got.ok ? later.complete() : later.fail(got.error);
///   });
///   return tableq::handled::kept(later);
/// });
/// @endcode
///
/// With one thread this worker keeps one message: give `worker_options::max_kept` for more calls at
/// the same time.
///
/// The first call of any copy decides; the worker settles the message soon after, as by a handler's
/// verdict, and reports it. A call may come before the handler has returned; its result is true,
/// but it counts only if the handler then returns `handled::kept`: a handler that returns nothing
/// completes its message. If all copies are destroyed without a call, the worker gives the message
/// back. If a copy waits for ever, the message stays leased for ever: give the work a time limit,
/// and call `fail` at its end. The result of each call is false, and the call has no effect, if the
/// message has its end already, if the worker does not hold it any more (a lost lease, `abandon`,
/// `stop_within`, its destructor) or cannot settle any more (it has ended, perhaps by an error that
/// `join` throws), and in a child of fork().
///
/// Copies share their state. It does not keep the worker or the database open, and may outlive
/// them.
///
/// @par Thread safety
/// Distinct objects: safe, also copies. Shared objects: safe, except assignment and destruction.
class TABLEQ_EXPORT kept_delivery {
 public:
  /// For one message.
  kept_delivery();

  // NOLINTBEGIN(modernize-use-nodiscard): as with a handler's verdict, the worker tells the end
  /// As handled::completed.
  bool complete() const;
  /// The same with a result: handled::completed(result).
  bool complete(std::string result) const;
  /// As leased_queue::fail: handled::failed, retry_after or give_up. A delay is at most 3,650 days.
  bool fail(std::string why, const fail_options& options = {}) const;
  /// As handled::give_back: ready again at once, and the attempt does not count.
  bool give_back() const;
  /// As handled::settled: the work has settled the message by the queue, as in one transaction with
  /// its results, and that is committed. Frees the message's place in max_kept at once.
  bool settled() const;
  /// As claim_queue::progress. Of a row of a table, or in a queue of a layout before 3, it is
  /// forgotten.
  bool progress(double done, std::string note = {}) const;
  // NOLINTEND(modernize-use-nodiscard)

 private:
  friend class handled;
  std::shared_ptr<core::kept_state> state_;
};

}  // namespace tableq::inline v0
