#pragma once

#include <chrono>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <tableq/unstable/dialect.hpp>

#include "core/seam/claim_requests.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/driver.hpp"
#include "drivers/dialect_texts.hpp"
#include "drivers/known_texts.hpp"
#include "drivers/pieces.hpp"
#include "drivers/transport.hpp"
#include "drivers/transport/forks.hpp"
#include "drivers/transport/session_share.hpp"

namespace tableq::inline v0::drivers {

/// The parts of a new session.
struct session_source {
  const std::shared_ptr<const dialect_texts>& texts;
  const endpoint& address;
  /// Makes its calls fail, if not null.
  std::shared_ptr<core::fault_plan> faults = nullptr;
  /// The common state of the sessions of a `database` object; null: it has none.
  session_share* share = nullptr;
  /// Null: the session is opened.
  const core::callers_session* theirs = nullptr;
};

/// One session, used with a dialect and a transport.
///
/// Owns the session that it opened, or borrows the caller's. Keeps prepared statements in its own,
/// and those that add messages in the caller's, if it may. Borrows what it shares with others.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class dialect_session : public core::connection {
 public:
  /// @throws error errc::invalid_argument when the caller's is closed or of another client library.
  explicit dialect_session(const session_source& from);
  ~dialect_session() override;

  void run(std::string_view operation, const core::table_names& names,
           std::span<core::statement_call> all) override;
  void define(std::string_view part, const core::table_names& names) override;
  void begin() override;
  void end(core::transaction_end how) override;
  core::transaction_status transaction(core::asking whom) noexcept override;
  core::any_session session() noexcept override;

  /// The failure of a statement that the application ran through `session`, by what it threw.
  /// Empty: the session is not lost, and the exception is not that of a statement.
  [[nodiscard]] std::optional<error> failure_of_application(const std::exception& thrown);

  void give_up() noexcept {
    if (texts_->transport->give_up != nullptr) texts_->transport->give_up(session_);
  }

  /// The place of its connection.
  [[nodiscard]] session_place place() const {
    return texts_->transport->place(session_, transport_->files());
  }

 protected:
  /// Whether the session is the library's, not the caller's.
  [[nodiscard]] bool own() const noexcept { return owned_ != nullptr; }
  /// Whether it is also in no transaction.
  [[nodiscard]] bool alone() const { return own() && !transport_->in_transaction(); }
  [[nodiscard]] const std::string& dialect_name() const noexcept { return texts_->definition.name; }
  /// Runs several statements in one round trip.
  /// @return false: it cannot, and nothing was run.
  [[nodiscard]] bool run_together(std::string_view operation, const core::table_names& names,
                                  std::span<core::statement_call> all);
  /// Runs them by `run`, in one transaction.
  void run_by_steps(const core::table_names& names, std::span<core::statement_call> all);

 private:
  /// The outcome if the session is lost in the middle of a step.
  enum class on_loss { lost, unknown };

  /// One statement, and what its run needs.
  struct call {
    known_texts& known;
    const core::contract& contract;
    const core::table_names& names;
    std::span<const core::value> shared;
    std::span<const core::value> items;
    core::row_set& out;
    on_loss loss;

    [[nodiscard]] arguments with(std::span<const core::value> of_items) const {
      return {shared, of_items, contract.items.size(), core::value(names.identity), names.clock};
    }
  };

  prepared& text_of(const call& of, const text_form& form);
  /// Whether the session may keep the statement for the next call.
  [[nodiscard]] bool keeps(const core::contract& contract) const noexcept {
    return !contract.once && (owned_ != nullptr || (keeps_adding_ && contract.adds));
  }
  /// From now on the text has no hints, if the failure says that the database has no plan with
  /// them. @return whether it was sent with them.
  bool drops_hints(const core::contract& contract, const native_failure& failure);
  /// Runs one statement, in as many pieces as its batch needs.
  void send(const call& of);
  /// Whether it is a take that a query and a change can do. They free no keys, and the query must
  /// not be the first statement of a caller's transaction: another writer could come between.
  [[nodiscard]] bool is_found_first(const call& of) const {
    return of.contract.id == core::statement::claim_take && own() && texts_->transport->bare &&
           texts_->further_of(of.contract).query &&
           of.shared[core::place_of<core::take_request>("unkey")].number == 0;
  }
  bool find_and_lease(const call& of, on_loss loss);
  /// Whether there is a text for one message.
  [[nodiscard]] bool has_one(const core::contract& contract) const {
    if (contract.texts != nullptr) return !contract.texts->own_clock.one.empty();
    return texts_->further_of(contract).one;
  }
  /// Whether the plain text locks its rows first, as a transaction with a snapshot needs it. That
  /// for one receipt does not.
  [[nodiscard]] static bool locks_first(const core::contract& contract) {
    return contract.texts == nullptr && contract.settles();
  }
  /// Whether there is a text for items of which only the payloads are given, and these are such.
  [[nodiscard]] bool only_payloads(const core::contract& contract,
                                   std::span<const core::value> items) const;
  /// Whether there is a text for a further item of a batch that is sent item by item.
  [[nodiscard]] bool has_next(const core::contract& contract) const {
    return texts_->transport->bare && texts_->further_of(contract).next;
  }
  /// Whether several statements of one call need a transaction or savepoint of their own.
  [[nodiscard]] bool brackets() const { return owned_ == nullptr || !transport_->in_transaction(); }
  template <class Work>
  bool in_unit(on_loss loss, const Work& work);
  template <class Work, class Other>
  void in_unit_or(on_loss loss, const Work& work, const Other& other);
  /// One statement with an array for each value of an item.
  void run_arrays(const call& of, const text_form& form, std::span<const core::value> items);
  /// One statement for as many items as a text takes.
  void run_rows(const call& of);
  /// Item by item, or by texts for further items.
  void run_loop(const call& of);
  bool run_items(const call& of, bool several, on_loss loss);
  /// Begin and end a transaction, or a savepoint in the open one.
  void begin_unit(bool nested);
  void commit_unit();
  void undo_unit() noexcept;
  /// The number that a query of the dialect returns; nothing if that is not known.
  [[nodiscard]] std::optional<std::int64_t> told(const char* name, const std::string& sql) noexcept;
  /// Whether the session, whose write was refused, cannot write at all. Ends its transaction.
  [[nodiscard]] bool cannot_write() noexcept;
  /// Asks the server for the state of a transaction that is open for the client library.
  [[nodiscard]] core::transaction_status asked_transaction() noexcept;
  [[nodiscard]] bool in_callers_transaction() const {
    return owned_ == nullptr && transport_ != nullptr && transport_->in_transaction();
  }
  /// Whether a session of SOCI still has the connection with which it came.
  [[nodiscard]] bool attached() const noexcept;
  /// Runs a text of the dialect for the savepoint at this depth, counted from 1.
  void savepoint(const std::string& text, int depth);
  /// Runs a text; `loss` is the outcome if the session is lost meanwhile.
  void step(prepared& what, const arguments& with, core::row_set& out, on_loss loss);
  /// @throws native_failure when the name of the database's file, or of its log, belongs to another
  ///   file now.
  /// @param done the outcome of a step that has run: `unknown` for one whose effect lasts.
  void check_files(on_loss done = on_loss::lost);
  /// Checks the files before a step, unless it did so just now, and after one that took long.
  template <class Step>
  void beside_files(on_loss done, const Step& step);
  /// The session is no longer usable.
  [[noreturn]] void lose(const named_file& file, on_loss done);
  /// Throws the failure of a step in core's terms.
  /// @param callers whether it ran in the caller's transaction. @param table as in native_error.
  [[noreturn]] void fail(const native_failure& failure, std::string_view operation, bool callers,
                         std::string_view table = {});
  /// Runs a step that is no statement.
  template <class Step>
  void guarded(std::string_view operation, Step step, std::string_view table = {});

  std::optional<fork_guard> closing_;  // the first member: lives until the others are destroyed
  std::shared_ptr<const dialect_texts> texts_;
  std::uint64_t demotions_ = 0;  // session_share::demotions before it was opened
  std::unique_ptr<soci::session> owned_;
  core::any_session session_;
  const void* backend_ = nullptr;  // that of a session of SOCI, when it was opened or adopted
  std::unique_ptr<transport> transport_;
  session_share* share_ = nullptr;
  session_share* plans_ = nullptr;  // also of a caller's session; only its without_hints
  bool keeps_adding_ = false;  // also the caller's session keeps the statements that add messages
  known_texts known_;
  bool sent_hints_ = true;                                // with the last text
  on_loss loss_ = on_loss::lost;                          // of the running call
  std::size_t sent_ = 0;                                  // bytes of the last statement's values
  std::chrono::steady_clock::time_point looked_at_ = {};  // last check of the files
  int savepoints_ = 0;                                    // open in the caller's transaction
  bool broken_ = false;
  /// The application's statements, or one that failed, may have ended the transaction.
  bool doubtful_ = false;
  bool lent_ = false;  // the application's statements may have changed the session
};

}  // namespace tableq::inline v0::drivers
