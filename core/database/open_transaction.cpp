#include "core/database/open_transaction.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <vector>

#include "core/base/errors.hpp"
#include "core/base/process.hpp"
#include "core/database/database_state.hpp"

namespace tableq::inline v0::core {

namespace {

/// Of this thread, and of no other, also of none that has ended. No object with a destructor is
/// thread_local: some systems would destroy it too late.
std::uint64_t number_of_this_thread() {
  static std::atomic<std::uint64_t> last{0};
  thread_local std::uint64_t mine = 0;
  if (mine == 0) mine = last.fetch_add(1) + 1;
  return mine;
}

/// Whether this thread ever had one: most threads have none, and pay nothing.
bool& ever_here() noexcept {
  thread_local bool ever = false;
  return ever;
}

/// The last session that the thread enlisted and left in a transaction; null: none.
const void*& left_open_here() noexcept {
  thread_local const void* session = nullptr;
  return session;
}

/// The scopes of this thread, linked from the inside out.
const transact_scope*& innermost() noexcept {
  thread_local const transact_scope* scope = nullptr;
  return scope;
}

/// Refuses work beside a transaction that the thread began or continued, and runs no function of.
[[noreturn]] void refuse_beside_begun(beside work) {
  const bool of_database = work == beside::of_database;
  refuse(std::string("this thread used an open transaction of the database last, and this call ") +
         (work == beside::operation ? "would miss it: give it that transaction, in C++ as "
                                      "queue.in(tx), or write "
                                    : "is not done inside one: end it first, or write ") +
         (of_database ? "database" : "queue") +
         ".outside() for work outside of the transaction; for threads that serve several "
         "transactions, open the database with refuses_beside_begin off");
}

}  // namespace

std::vector<open_transaction*>& open_transaction::all() {
  // Never destroyed: static objects may hold transactions.
  static auto* const made = new std::vector<open_transaction*>;
  return *made;
}
/// Those of this thread.
template <class Work>
void open_transaction::each_here(Work work) {
  const std::uint64_t here = number_of_this_thread();
  for (open_transaction* each : all()) {
    if (each->thread_ == here) work(*each);
  }
}

left_to_others::left_to_others() {
  if (!ever_here()) return;
  const std::scoped_lock hold(process_wide());
  open_transaction::each_here(
      [this](const open_transaction& each) { before_.push_back(each.of_); });
}
left_to_others::~left_to_others() {
  if (!ever_here()) return;
  const std::scoped_lock hold(process_wide());
  open_transaction::each_here([this](open_transaction& each) {
    if (std::find(before_.begin(), before_.end(), each.of_) == before_.end()) each.thread_ = 0;
  });
}

open_transaction::open_transaction(const void* of, connection* enlisted)
    : of_(of), enlisted_(enlisted), thread_(number_of_this_thread()) {
  ever_here() = true;
  const std::scoped_lock hold(process_wide());
  all().push_back(this);
}
open_transaction::~open_transaction() {
  const std::scoped_lock hold(process_wide());
  std::erase(all(), this);
}
void open_transaction::used_here() {
  ever_here() = true;
  const std::scoped_lock hold(process_wide());
  thread_ = number_of_this_thread();
}
int open_transaction::on_this_thread() noexcept {
  if (!ever_here()) return 0;
  const std::scoped_lock hold(process_wide());
  int open = 0;
  each_here([&](const open_transaction& each) {
    if (each.enlisted_ == nullptr || each.enlisted_->seems_in_transaction()) ++open;
  });
  return open;
}
void open_transaction::left_open(const void* session) noexcept {
  left_open_here() = session;
}
bool open_transaction::left_open_beside(const void* session) noexcept {
  return left_open_here() != nullptr && left_open_here() != session;
}
bool open_transaction::refuses_on_this_thread(const void* database) noexcept {
  if (!ever_here()) return false;
  const std::scoped_lock hold(process_wide());
  bool found = false;
  each_here([&](const open_transaction& each) { found = found || each.of_ == database; });
  return found;
}

transact_scope::transact_scope(const database_state& database,
                               const transaction_state& ends_itself) noexcept
    : database_(&database), transaction_(&ends_itself), outer_(innermost()) {
  innermost() = this;
}
transact_scope::~transact_scope() {
  innermost() = outer_;
}

bool transact_scope::runs_in(const transaction_state& transaction) noexcept {
  for (const transact_scope* each = innermost(); each != nullptr; each = each->outer_) {
    if (each->transaction_ == &transaction) return true;
  }
  return false;
}

bool transact_scope::covers(const database_state& database) noexcept {
  for (const transact_scope* each = innermost(); each != nullptr; each = each->outer_) {
    if (each->database_ == &database) return true;
  }
  return false;
}

bool in_transaction(const database_state& database) noexcept {
  return transact_scope::covers(database) || open_transaction::refuses_on_this_thread(&database);
}

void check_beside(const database_state& database, beside work, bool outside) {
  const bool refuses =
      work == beside::begin ? transact_scope::covers(database) : in_transaction(database);
  if (!refuses) return;
  if (database.most_sessions() == 1) {
    refuse(
        "the transaction that this thread runs holds the only session of the database: use "
        "queue.in(tx), or call this before or after the transaction");
  }
  if (outside || work == beside::read_only) return;
  if (!transact_scope::covers(database)) refuse_beside_begun(work);
  switch (work) {
    case beside::operation:
      refuse(
          "this thread runs a transaction of the database, and the call would miss it: write "
          "queue.in(tx), or queue.outside() for work outside of the transaction");
    case beside::change:
      refuse(
          "this thread runs a transaction of the database, and this is not done inside one: call "
          "it before or after, or write queue.outside()");
    default:
      refuse(
          "this thread runs a transaction of the database already, and this is not done inside "
          "one: call it before or after, or write database.outside()");
  }
}

}  // namespace tableq::inline v0::core
