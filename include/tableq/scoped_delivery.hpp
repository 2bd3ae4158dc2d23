#pragma once

#include <chrono>
#include <memory>
#include <string_view>

#include <tableq/claim_options.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/message.hpp>

namespace tableq::inline v0 {

/// A delivery that gives itself back: its destructor releases the message unless it was settled.
/// Made by `claim_queue::take_scoped`.
///
/// Owns the right to settle one delivery, and keeps the database open. An object that was moved
/// from holds nothing, and its members except the destructor are errc::invalid_argument. So are
/// all of them in a child of fork(), where the destructor does nothing.
///
/// @par In a transaction
/// Taken by a handle that is bound to a transaction, it settles in that transaction, and is
/// destroyed before it commits: the destructor releases the message in it while it is active. After
/// a rollback the message is as it was before the take; after a commit it comes again when its
/// lease ends.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class TABLEQ_EXPORT scoped_delivery {
 public:
  scoped_delivery(scoped_delivery&&) noexcept;
  /// Releases what it held before.
  scoped_delivery& operator=(scoped_delivery&& other) noexcept;
  /// Releases the message: ready at once, the attempt not counted. Errors are swallowed: the
  /// message comes again when its lease ends. May take as long as open_options::retry_for.
  ~scoped_delivery();

  /// What was taken. Valid until the object is destroyed.
  [[nodiscard]] const delivery& operator*() const;
  /// The same.
  [[nodiscard]] const delivery* operator->() const;

  /// As claim_queue::complete. The message is settled by any answer; after an error the destructor
  /// still releases it, and it may be settled again.
  [[nodiscard]] settle_result complete();
  /// The same inside a transaction. The destructor leaves the message alone from then on: if the
  /// transaction is rolled back, it comes again when its lease ends.
  [[nodiscard]] settle_result complete(transaction& tx);
  /// As claim_queue::fail.
  [[nodiscard]] settle_result fail(std::string_view error, const fail_options& options = {});
  /// As claim_queue::release, now and with an answer.
  [[nodiscard]] settle_result release();
  /// As claim_queue::extend. Settles nothing.
  [[nodiscard]] settle_result extend(std::chrono::milliseconds lease);

 private:
  friend class claim_queue;
  struct content;
  explicit scoped_delivery(std::unique_ptr<content> held) noexcept;
  [[nodiscard]] content& held() const;
  void let_go() noexcept;

  std::unique_ptr<content> content_;
};

}  // namespace tableq::inline v0
