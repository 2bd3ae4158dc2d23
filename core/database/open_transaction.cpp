#include "core/database/open_transaction.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <string>
#include <utility>

#include "core/base/errors.hpp"
#include "core/database/database_state.hpp"

namespace tableq::inline v0::core {

struct open_transaction::of_thread {
  std::atomic<int> all{0};
  std::mutex mutex;
  std::vector<connection*> enlisted;  // guarded by mutex; a part of all

  void add(connection* session) {
    if (session != nullptr) {
      const std::scoped_lock hold(mutex);
      enlisted.push_back(session);
    }
    all.fetch_add(1);
  }
  void remove(connection* session) {
    all.fetch_sub(1);
    if (session == nullptr) return;
    const std::scoped_lock hold(mutex);
    enlisted.erase(std::find(enlisted.begin(), enlisted.end(), session));
  }
  /// Without the sessions that are between transactions.
  [[nodiscard]] int open() {
    if (all.load() == 0) return 0;
    const std::scoped_lock hold(mutex);
    const auto between = [](connection* session) { return !seems_in_transaction(*session); };
    return all.load() -
           static_cast<int>(std::count_if(enlisted.begin(), enlisted.end(), between));
  }
};

namespace {

using counter = std::shared_ptr<open_transaction::of_thread>;

/// The open transactions of a thread, one counter for each database. Only the thread reads the
/// list; another thread that ends a transaction, or uses it next, reaches its counter alone.
using counters = std::vector<std::pair<const void*, counter>>;

/// The thread's own list has ended before other objects of the thread, or static ones.
thread_local bool gone = false;

struct own_counters {
  own_counters() = default;
  own_counters(const own_counters&) = delete;
  own_counters& operator=(const own_counters&) = delete;
  ~own_counters() { gone = true; }
  counters all;
};

counters& of_this_thread() {
  thread_local own_counters mine;
  return mine.all;
}

counter counter_for(const void* database) {
  if (gone) return std::make_shared<open_transaction::of_thread>();
  counters& mine = of_this_thread();
  for (const auto& [of, count] : mine) {
    if (of == database) return count;
  }
  // Others may be of databases that are gone.
  std::erase_if(mine, [](const auto& each) { return each.second.use_count() == 1; });
  return mine.emplace_back(database, std::make_shared<open_transaction::of_thread>()).second;
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

left_to_others::left_to_others() {
  if (gone) return;
  for (const auto& [of, count] : of_this_thread()) {
    if (count->all.load() > 0) before_.push_back(of);
  }
}
left_to_others::~left_to_others() {
  if (gone) return;
  // The transactions keep their counters, which the thread then no longer sees.
  std::erase_if(of_this_thread(), [this](const auto& each) {
    return each.second->all.load() > 0 &&
           std::find(before_.begin(), before_.end(), each.first) == before_.end();
  });
}

open_transaction::open_transaction(const void* of, connection* enlisted)
    : of_(of), enlisted_(enlisted), mine_(counter_for(of)) {
  mine_->add(enlisted_);
}
open_transaction::~open_transaction() {
  mine_->remove(enlisted_);
}
void open_transaction::used_here() {
  counter next = counter_for(of_);
  if (next == mine_) return;
  next->add(enlisted_);
  std::exchange(mine_, std::move(next))->remove(enlisted_);
}
int open_transaction::on_this_thread() noexcept {
  if (gone) return 0;
  int all = 0;
  for (const auto& [of, count] : of_this_thread()) all += count->open();
  return all;
}
void open_transaction::left_open(const void* session) noexcept {
  left_open_here() = session;
}
bool open_transaction::left_open_beside(const void* session) noexcept {
  return left_open_here() != nullptr && left_open_here() != session;
}
bool open_transaction::refuses_on_this_thread(const void* database) noexcept {
  if (gone) return false;
  for (const auto& [of, count] : of_this_thread()) {
    if (of == database) return count->all.load() > 0;
  }
  return false;
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
