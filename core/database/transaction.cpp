#include <tableq/transaction.hpp>

#include <exception>
#include <memory>
#include <string_view>
#include <thread>
#include <utility>

#include <tableq/error.hpp>
#include <tableq/soci.hpp>

#include "core/base/errors.hpp"
#include "core/database/access.hpp"
#include "core/database/open_transaction.hpp"
#include "core/database/transaction_state.hpp"
#include "core/seam/any_session.hpp"

namespace tableq::inline v0 {

namespace core {
namespace {

std::unique_ptr<connection> adopted(database_state& database, const callers_session& theirs) {
  return database.dialect_driver().connect(&theirs);
}

constexpr const char* shared_sentence =
    "two threads used the transaction at the same time, and it belongs to one thread; roll it "
    "back, and enlist again if the session is yours";

}  // namespace

transaction_state::use::use(transaction_state& owner)
    : transaction_(owner), exceptions_(std::uncaught_exceptions()) {
  const auto me = std::this_thread::get_id();
  std::thread::id user{};
  if (owner.user_.compare_exchange_strong(user, me)) {
    owner.changed_ = false;
    for (auto& [key, each] : owner.touched_) each.announced = false;
  } else if (user == me) {
    outermost_ = false;
  } else {
    owner.shared_ = true;
    refuse(shared_sentence);
  }
}

transaction_state::use::~use() {
  if (!outermost_) return;
  if (transaction_.changed_ && std::uncaught_exceptions() > exceptions_)
    transaction_.failed_ = true;
  // Without a transaction the failed operation has undone itself, and the next one may run.
  if (transaction_.in_none()) transaction_.failed_ = false;
  transaction_.user_ = std::thread::id{};
}

transaction_state::transaction_state(std::shared_ptr<database_state> database,
                                     std::chrono::milliseconds retry_for)
    : database_(std::move(database)) {
  database_->observed(database_operation("begin"), [&](const observation& observing) {
    repeating(
        retry_for, contact::known,
        [this] {
          leased_.reset();
          leased_ = database_->sessions().lease();
          leased_->begin();
        },
        &observing);
  });
}

transaction_state::transaction_state(std::shared_ptr<database_state> database,
                                     const any_session& callers, const enlist_options& options)
    : database_(std::move(database)),
      adopted_(adopted(*database_, {callers, options.keep_statements})),
      callers_session_(callers.soci != nullptr ? callers.soci : callers.handle),
      autocommit_(options.autocommit),
      mark_(std::in_place, nullptr, adopted_.get()) {
  const bool later =
      options.keep_statements && adopted_->transaction(asking::server) == transaction_status::none;
  if (!later) check_open(*adopted_);
  if (!database_->reached_by(*adopted_)) {
    refuse(
        "the enlisted session is connected to another database; connect it to the one of this "
        "database object (tableq::open_session does that for a session of SOCI)");
  }
}

transaction_state::transaction_state(std::shared_ptr<database_state> database,
                                     connection& shared_session)
    : database_(std::move(database)), lent_(&shared_session) {}

transaction_state::~transaction_state() {
  if (!active_) return;
  if (leased_) {
    undo();
  } else if (adopted_) {
    if (keeps_changes()) open_transaction::left_open(callers_session_);
    // Whether an enlisted transaction commits is unknown; most do.
    for (auto& [key, each] : touched_) each.read = false;
  }
  announce_rollback();
}

connection& transaction_state::session() {
  database_->check_here();
  if (!active_) refuse("the transaction has ended; begin another");
  if (lent_ != nullptr) return *lent_;
  mark_->used_here();
  return adopted_ ? *adopted_ : *leased_;
}

void transaction_state::refuse_beside() {
  if (database_->options().refuses_beside_begin) mark_.emplace(database_.get());
}

void transaction_state::check_open() {
  connection& on = session();
  if (in_none()) failed_ = false;
  if (!failed_) check_open(on);
}

void transaction_state::check_open(connection& on) const {
  switch (on.transaction(asking::server)) {
    case transaction_status::none:
      if (!adopted_) {
        refuse(
            "the transaction has ended: by a COMMIT or ROLLBACK in its session, or by "
            "the database; roll back, and begin another");
      }
      if (!autocommit_) {
        refuse(
            "the enlisted session is in no transaction: begin one first, or enlist it with "
            "autocommit");
      }
      return;
    case transaction_status::failed:
      if (adopted_) {
        refuse("the transaction of the enlisted session has failed: roll it back, then begin one");
      }
      return;
    case transaction_status::closed:
      refuse("the enlisted session was closed or connected anew: enlist it again");
    default:
      return;
  }
}

bool transaction_state::keeps_changes() const noexcept {
  return adopted_ && adopted_->transaction(asking::server) == transaction_status::open;
}

bool transaction_state::counts_as_open() const noexcept {
  return !adopted_ || adopted_->seems_in_transaction();
}

bool transaction_state::in_none() const noexcept {
  return autocommit_ && adopted_->transaction(asking::server) == transaction_status::none;
}

void transaction_state::announce_unit() noexcept {
  if (!in_none()) return;
  for (auto& [key, each] : touched_) {
    if (each.added == 0) continue;
    database_->announce(each.queue->watched, std::exchange(each.added, 0), adopted_.get());
  }
  run_after_commit();
}

void transaction_state::commit() {
  named(database_->name(), "commit", [this] { commit_now(); });
}

void transaction_state::rollback() {
  named(database_->name(), "rollback", [this] { roll_back_now(); });
}

void transaction_state::commit_now() {
  database_->check_here();
  if (adopted_) refuse("an enlisted transaction is the caller's: commit it on their session");
  const use mine(*this);
  connection& open_session = session();
  if (shared_) refuse(shared_sentence);
  if (failed_) {
    refuse("an operation in the transaction failed, so that it cannot be committed; roll back");
  }
  check_open(open_session);
  // After a failed commit the transaction has ended: the session is rolled back and returned.
  const at_end ended([this]() noexcept {
    if (active_) end();
  });
  database_->observed(database_operation("commit"),
                      [&](const observation& /*observing*/) { open_session.commit(); });
  const auto touched = std::exchange(touched_, {});
  end();
  announce_commit(touched);
  run_after_commit();
}

void transaction_state::committed_by_owner() {
  active_ = false;
  announce_commit(std::exchange(touched_, {}));
  run_after_commit();
}

void transaction_state::run_after_commit() {
  for (const auto& [key, work] : std::exchange(after_commit_, {})) work();
}

void transaction_state::announce_commit(const std::map<queue_key, touched_queue>& touched) {
  for (const auto& [key, each] : touched) {
    if (each.added != 0) database_->announce(each.queue->watched, each.added);
    if (each.readmitted) each.queue->limits.room().forget();
    if (each.room_changed) each.queue->limits.made_room();
  }
}

void transaction_state::roll_back_now() {
  database_->check_here();
  if (adopted_) refuse("an enlisted transaction is the caller's: roll it back on their session");
  if (!active_) return;
  const use mine(*this);
  undo();
  end();
}

void transaction_state::undo() noexcept {
  database_->observed(database_operation("rollback"),
                      [this](const observation& /*observing*/) { leased_->rollback(); });
}

observed_operation transaction_state::database_operation(std::string_view name) const noexcept {
  return {.name = name, .backend = database_->name(), .in_transaction = name != "begin"};
}

void transaction_state::end() noexcept {
  active_ = false;
  mark_.reset();
  leased_->rollback();
  leased_.reset();
  announce_rollback();
}

void transaction_state::announce_rollback() noexcept {
  for (const auto& [key, each] : touched_) {
    if (each.read) each.queue->watched.readers.hint();
    if (!each.room_changed) continue;
    each.queue->limits.room().forget();
    each.queue->limits.made_room();
  }
}

void transaction_state::announce_on_commit(shared_queue& queue, std::size_t count) {
  if (!adopted_) {
    touched(queue).added += count;
  } else if (adopted_->usable()) {  // The caller has no open transaction: the messages are
                                    // committed.
    database_->announce(queue.watched, count, adopted_.get());
  } else {
    touched_queue& mine = touched(queue);
    mine.added = count;
    if (std::exchange(mine.announced, false)) return;
    run(false, [&](connection& open_session) {
      database_->announce_within(open_session, queue.watched);
      return row_set(0);
    });
  }
}

void transaction_state::changes_room(shared_queue& queue, bool readmitted) {
  touched_queue& mine = touched(queue);
  mine.room_changed = true;
  mine.readmitted |= readmitted;
}

row_set transaction_state::run(bool changes, const std::function<row_set(connection&)>& work) {
  connection& open_session = session();
  if (shared_) refuse(shared_sentence);
  if (failed_) {
    refuse(adopted_ ? "an earlier operation in the transaction failed; roll back, and enlist again"
                    : "an earlier operation in the transaction failed; roll back");
  }
  // The application's statements in the session may have ended the transaction.
  if (adopted_ == nullptr && lent_ == nullptr) check_open(open_session);
  // It stays set if `work` throws. In a caller's session the failed statement has changed nothing,
  // and check_open refuses others if the transaction has ended.
  failed_ = adopted_ == nullptr;
  row_set rows = work(open_session);
  failed_ = false;
  changed_ = changed_ || changes;
  return rows;
}

namespace {

/// Rolls back, except in a child that inherited the transaction.
struct end_transaction {
  void operator()(transaction_state* state) const noexcept {
    if (!state->here()) state->leave();
    end_at_home()(state);
  }
};

}  // namespace

std::shared_ptr<transaction_state> begin_transaction(
    std::shared_ptr<database_state> database, std::optional<std::chrono::milliseconds> retry_for) {
  const auto longest = retry_for.value_or(database->options().retry_for);
  return {new transaction_state(std::move(database), longest), end_transaction()};
}

std::shared_ptr<transaction_state> begin_for_application(
    std::shared_ptr<database_state> database, std::optional<std::chrono::milliseconds> retry_for) {
  auto state = begin_transaction(std::move(database), retry_for);
  state->refuse_beside();
  return state;
}

std::shared_ptr<transaction_state> join_callers(std::shared_ptr<database_state> database,
                                                const any_session& callers,
                                                const enlist_options& options) {
  return {new transaction_state(std::move(database), callers, options), end_transaction()};
}

transaction_state& usable(const transaction& tx, std::string_view operation) {
  const std::shared_ptr<transaction_state>& state = access::state_of(tx);
  if (!state) {
    named({}, operation, [] { refuse("the transaction was moved to another object; use that"); });
  }
  return *state;
}

}  // namespace core

namespace {

core::transaction_state& ending(const transaction& tx, std::string_view operation) {
  core::transaction_state& state = core::usable(tx, operation);
  if (core::transact_scope::runs_in(state)) {
    core::named(state.database().name(), operation, [] {
      core::refuse(
          "transact, or the worker, ends this transaction: return from the function to commit, "
          "throw to undo");
    });
  }
  return state;
}

}  // namespace

transaction::transaction(std::shared_ptr<core::transaction_state> state) noexcept
    : state_(std::move(state)) {}
transaction::transaction(transaction&&) noexcept = default;
transaction& transaction::operator=(transaction&&) noexcept = default;
transaction::~transaction() = default;
// NOLINTNEXTLINE(readability-make-member-function-const): it ends the transaction
void transaction::commit() {
  ending(*this, "commit").commit();
}
// NOLINTNEXTLINE(readability-make-member-function-const): the same
void transaction::rollback() {
  ending(*this, "rollback").rollback();
}
bool transaction::active() const noexcept {
  return state_ && state_->here() && state_->active();
}

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

enlistment enlist(const database& db, const any_session& callers, const enlist_options& options) {
  database_state& state = access::state_of(db);
  return named(state.name(), "enlist", [&] {
    state.check_here();
    return access::join(access::make(join_callers(state.shared_from_this(), callers, options)));
  });
}

void* handle_in(transaction& tx, std::string_view client, std::string_view operation) {
  const any_session found = session_in(tx, operation);
  return found.client == client ? found.handle : nullptr;
}

}  // namespace core

enlistment enlist(const database& db, soci::session& session, const enlist_options& options) {
  return core::enlist(db, {.soci = &session}, options);
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
