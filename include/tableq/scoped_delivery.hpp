#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include <tableq/claim_options.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>
#include <tableq/payload.hpp>
#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// A delivery whose destructor releases the message unless it was settled. Made by
/// `claim_queue::take_scoped`.
///
/// Owns the right to settle one delivery, and keeps the database open. A moved-from object is
/// empty; its members except the destructor throw errc::invalid_argument. In a child of fork() they
/// throw it always, and the destructor does nothing.
///
/// @par In a transaction
/// A delivery taken in a transaction settles in that transaction. Destroy it before the commit:
/// while the transaction is active, the destructor releases the message in it. After a rollback the
/// message is as before the take. After a commit an unsettled message is ready again when its lease
/// ends.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class TABLEQ_EXPORT scoped_delivery {
 public:
  scoped_delivery(scoped_delivery&&) noexcept;
  /// Releases the message that it held before.
  scoped_delivery& operator=(scoped_delivery&& other) noexcept;
  /// Releases the message: ready at once, the attempt not counted. May take up to
  /// open_options::retry_for. Errors are ignored: the message is then ready again when its lease
  /// ends. The same holds if the object ends inside a transact function, and was made outside.
  ~scoped_delivery();

  /// The delivery. Valid until the object is destroyed.
  [[nodiscard]] const delivery& operator*() const;
  /// The same.
  [[nodiscard]] const delivery* operator->() const;

  /// As leased_queue::complete. Any returned result settles the object. After an error the
  /// destructor still releases the message, and the call may be repeated.
  [[nodiscard]] settle_result complete();
  /// The same inside a transaction. The destructor then does nothing: after a rollback the message
  /// is ready again when its lease ends.
  [[nodiscard]] settle_result complete(transaction& tx);
  /// The same with a result: claim_queue::complete.
  [[nodiscard]] settle_result complete(payload_view result);
  [[nodiscard]] settle_result complete(transaction& tx, payload_view result);
  /// As leased_queue::fail.
  [[nodiscard]] settle_result fail(std::string_view error, const fail_options& options = {});
  /// As leased_queue::release, with a result.
  [[nodiscard]] settle_result release();
  /// As leased_queue::extend. Does not settle.
  [[nodiscard]] settle_result extend(std::chrono::milliseconds lease);
  /// As claim_queue::progress.
  void progress(double done, text_view note = "");

 private:
  friend class claim_queue;
  struct content;
  explicit scoped_delivery(std::unique_ptr<content> held) noexcept;
  [[nodiscard]] content& held() const;
  void let_go() noexcept;

  std::unique_ptr<content> content_;
};

}  // namespace tableq::inline v0
