// The classes of the C++ interface over tableq.h, for the conformance suite: its objects are linked
// with these functions in place of the library's. What has no counterpart in C throws
// `unsupported`, and its tests are left out: workers, asynchronous enqueues, sessions of SOCI.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>
#include <tableq/testing.hpp>

#include "facade.hpp"

namespace tableq::inline v0 {

using namespace tableq_facade;  // NOLINT(google-build-using-namespace): only this file
using core::access;

// ---------------------------------------------------------------------------------------- database

database::database(std::shared_ptr<core::database_state> state) noexcept
    : state_(std::move(state)) {}

database database::open(text_view url, const open_options& options) {
  const c_options given = options_of(options);
  tq_database* db = nullptr;
  const std::string_view address = url.view();
  done([&](tq_error** e) {
    return tq_database_open(address.data(), address.size(), given.get(), &db, e);
  });
  return access::made(std::make_shared<c_database>(db));
}
database testing::faults::open(text_view url, const open_options& options) const {
  const c_options given = options_of(options);
  tq_database* db = nullptr;
  const std::string_view address = url.view();
  done([&](tq_error** e) {
    return tq_testing_open(this, address.data(), address.size(), given.get(), &db, e);
  });
  return access::made(std::make_shared<c_database>(db));
}

namespace {

std::shared_ptr<c_queue> opened(const std::shared_ptr<c_database>& db, bool outside, text_view name,
                                const char* kind, const c_options& options) {
  tq_queue* queue = nullptr;
  const std::string_view wanted = name.view();
  done([&](tq_error** e) {
    return tq_queue_open(db->get(outside), wanted.data(), wanted.size(), kind, options.get(),
                         &queue, e);
  });
  return std::make_shared<c_queue>(db, queue, parse_kind(kind));
}

}  // namespace

heap_queue database::heap(text_view name) {
  return heap_queue(access::hidden(opened(access::shared(*this), outside_, name, "heap", {})));
}
fifo_queue database::fifo(text_view name, const order_options& options) {
  return fifo_queue(
      access::hidden(opened(access::shared(*this), outside_, name, "fifo", options_of(options))));
}
lifo_queue database::lifo(text_view name, const order_options& options) {
  return lifo_queue(
      access::hidden(opened(access::shared(*this), outside_, name, "lifo", options_of(options))));
}
pending_queue database::pending(text_view name) {
  return pending_queue(
      access::hidden(opened(access::shared(*this), outside_, name, "pending", {})));
}
claim_queue database::claim(text_view name, const claim_options& options) {
  auto made = opened(access::shared(*this), outside_, name, "claim", options_of(options));
  return claim_queue(access::hidden(std::move(made)));
}
transaction database::begin() {
  tq_transaction* tx = nullptr;
  done([&](tq_error** e) { return tq_transaction_begin(access::of(*this).get(outside_), &tx, e); });
  return access::made(std::make_shared<c_transaction>(tx));
}
void database::run_transaction(const std::function<void(transaction&)>& body) {
  for (int attempt = 0;; ++attempt) {
    try {
      transaction tx = begin();
      body(tx);
      tx.commit();
      return;
    } catch (const error& failure) {
      constexpr int most = 100;
      const bool again =
          failure.advice() != advice::never && failure.code() != errc::outcome_unknown;
      if (!again || attempt == most) throw;
    }
  }
}
database database::outside() const noexcept {
  database out(*this);
  out.outside_ = true;
  return out;
}
std::vector<queue_info> database::queues() const {
  return queues_of(asked([&](tq_result** r, tq_error** e) {
    return tq_database_queues(access::of(*this).get(outside_), r, e);
  }));
}
std::optional<queue_info> database::find(text_view name) const {
  const std::string_view wanted = name.view();
  auto all = queues_of(asked([&](tq_result** r, tq_error** e) {
    return tq_database_find(access::of(*this).get(outside_), wanted.data(), wanted.size(), r, e);
  }));
  return all.empty() ? std::nullopt : std::optional(std::move(all.front()));
}
bool database::drop(text_view name) {
  int existed = 0;
  const std::string_view wanted = name.view();
  done([&](tq_error** e) {
    return tq_database_drop(access::of(*this).get(outside_), wanted.data(), wanted.size(), &existed,
                            e);
  });
  return existed != 0;
}
std::vector<finding> database::inspect() const {
  return findings_of(asked([&](tq_result** r, tq_error** e) {
    return tq_database_inspect(access::of(*this).get(outside_), r, e);
  }));
}
std::vector<migration_step> database::migrate(const migrate_options& options) {
  if (options.done) refuse("C tells no step of a migration while it runs");
  const c_options given = options_of(options);
  return all_of<migration_step>(
      asked([&](tq_result** r, tq_error** e) {
        return tq_database_migrate(access::of(*this).get(outside_), given.get(), r, e);
      }),
      [](const row_of& row) {
        return migration_step{.queue = row.text("queue"),
                              .from = static_cast<int>(row.number("from")),
                              .to = static_cast<int>(row.number("to")),
                              .sql = row.text("sql")};
      });
}
const std::string& database::backend() const noexcept {
  return access::of(*this).backend;
}

// ------------------------------------------------------------------------------------- transaction

transaction::transaction(std::shared_ptr<core::transaction_state> state) noexcept
    : state_(std::move(state)) {}
transaction::transaction(transaction&&) noexcept = default;
transaction& transaction::operator=(transaction&&) noexcept = default;
transaction::~transaction() = default;
void transaction::commit() {
  done([&](tq_error** e) { return tq_transaction_commit(access::of(*this), e); });
}
void transaction::rollback() {
  done([&](tq_error** e) { return tq_transaction_rollback(access::of(*this), e); });
}
bool transaction::active() const noexcept {
  return state_ != nullptr && tq_transaction_active(access::of(*this)) != 0;
}

// ------------------------------------------------------------------------------------------- queue

queue::queue(std::shared_ptr<core::queue_state> state) noexcept : state_(std::move(state)) {}
void queue::bind(const transaction& tx) noexcept {
  in_ = access::weak(tx);
}
void queue::bind(const enlistment& joined) noexcept {
  in_ = access::weak(joined);
}
void queue::bind_to_none() noexcept {
  in_.reset();
  outside_ = true;
}
const std::string& queue::name() const noexcept {
  return access::of(*this).name;
}
tableq::kind queue::kind() const noexcept {
  return access::of(*this).kind;
}
void queue::pause() {
  done([&](tq_error** e) { return tq_queue_pause(access::plain(*this), e); });
}
void queue::resume() {
  done([&](tq_error** e) { return tq_queue_resume(access::plain(*this), e); });
}
bool queue::paused() const {
  int paused = 0;
  done([&](tq_error** e) { return tq_queue_paused(access::plain(*this), &paused, e); });
  return paused != 0;
}
void queue::set_limits(const queue_limits& limits) {
  const c_options given = options_of(limits);
  done([&](tq_error** e) { return tq_queue_set_limits(access::plain(*this), given.get(), e); });
}
queue_limits queue::limits() const {
  return limits_of(asked(
      [&](tq_result** r, tq_error** e) { return tq_queue_limits(access::plain(*this), r, e); }));
}

// -------------------------------------------------------------------------------- destructive
// kinds

std::vector<message> destructive_queue::dequeue_batch(std::size_t max,
                                                      const dequeue_options& options) {
  const where in = access::in(*this);
  const c_read read(options.wait, options.stop);
  return messages_of(asked([&](tq_result** r, tq_error** e) {
    return tq_dequeue(in.queue, in.tx(), max, read.get(), r, e);
  }));
}
std::optional<message> destructive_queue::dequeue(const dequeue_options& options) {
  auto got = dequeue_batch(1, options);
  return got.empty() ? std::nullopt : std::optional(std::move(got.front()));
}
std::vector<message> destructive_queue::peek(std::size_t max) const {
  return messages_of(
      asked([&](tq_result** r, tq_error** e) { return tq_peek(access::plain(*this), max, r, e); }));
}
std::size_t destructive_queue::purge() {
  std::int64_t count = 0;
  done([&](tq_error** e) { return tq_purge(access::plain(*this), nullptr, nullptr, &count, e); });
  return static_cast<std::size_t>(count);
}
queue_stats destructive_queue::stats(const stats_options& options) const {
  const c_options given = options_of(options);
  return queue_stats_of(asked([&](tq_result** r, tq_error** e) {
    return tq_queue_stats(access::plain(*this), given.get(), r, e);
  }));
}

namespace {

/// Adds one message. @return its id and the effect.
enqueued added(const where& in, payload_view payload, c_options options, const when_full& full) {
  const std::string_view bytes = payload.view();
  std::int64_t id = 0;
  int outcome = 0;
  options.set_full(full);
  done([&](tq_error** e) {
    return tq_enqueue(in.queue, in.tx(), bytes.data(), bytes.size(), options.get(), &id, &outcome,
                      e);
  });
  return {.id = {id}, .result = effect_of(outcome)};
}
template <class Message>
std::vector<enqueued> added_all(const where& in, std::span<const Message> messages,
                                const when_full& full) {
  const c_batch batch;
  for (const Message& each : messages) batch.add(each.payload, options_of(each.options).get());
  c_options call(TQ_FOR_ENQUEUE);
  call.set_full(full);
  const c_result stored = asked([&](tq_result** r, tq_error** e) {
    return tq_enqueue_batch(in.queue, in.tx(), batch.get(), call.get(), r, e);
  });
  std::vector<enqueued> out;
  for (std::size_t i = 0; i < stored.count(); ++i) {
    out.push_back({.id = {stored.number(i, "id")},
                   .result = effect_of(static_cast<int>(stored.number(i, "outcome")))});
  }
  return out;
}
std::vector<message_id> ids_of(const std::vector<enqueued>& added) {
  std::vector<message_id> out;
  for (const enqueued& each : added) out.push_back(each.id);
  return out;
}

}  // namespace

message_id plain_queue::enqueue(payload_view payload, const enqueue_options& options,
                                const when_full& full) {
  return added(access::in(*this), payload, options_of(options), full).id;
}
std::vector<message_id> plain_queue::enqueue_batch(const batch_view<new_message>& messages,
                                                   const when_full& full) {
  return ids_of(added_all(access::in(*this), messages.items(), full));
}
message_id pending_queue::enqueue(payload_view payload, const pending_options& options,
                                  const when_full& full) {
  return added(access::in(*this), payload, options_of(options), full).id;
}
std::vector<message_id> pending_queue::enqueue_batch(
    const batch_view<new_pending_message>& messages, const when_full& full) {
  return ids_of(added_all(access::in(*this), messages.items(), full));
}

// ------------------------------------------------------------------------------------------- claim

namespace {

std::int64_t setting(const claim_queue& queue, const char* name) {
  return asked([&](tq_result** r, tq_error** e) {
           return tq_queue_settings(access::of(queue).queue.get(), r, e);
         })
      .number(0, name);
}

}  // namespace

enqueued claim_queue::enqueue(payload_view payload, const claim_enqueue_options& options,
                              const when_full& full) {
  return added(access::in(*this), payload, options_of(options), full);
}
std::vector<enqueued> claim_queue::enqueue_batch(const batch_view<new_claim_message>& messages,
                                                 const when_full& full) {
  return added_all(access::in(*this), messages.items(), full);
}
std::vector<delivery> leased_queue::take(std::size_t max, const take_options& options) {
  return taken_of(take_through_c(access::in(*this), max, options));
}
std::optional<delivery> leased_queue::take_one(const take_options& options) {
  auto taken = take(1, options);
  return taken.empty() ? std::nullopt : std::optional(std::move(taken.front()));
}
settle_result leased_queue::complete(const receipt& taken) {
  return settled(access::in(*this), taken, tq_complete);
}
std::vector<settle_result> leased_queue::complete_batch(const receipts_view& taken) {
  return settled_all(access::in(*this), taken, tq_complete_batch);
}
settle_result leased_queue::fail(const receipt& taken, text_view text,
                                 const fail_options& options) {
  return failed(access::in(*this), taken, text.view(), options);
}
std::vector<settle_result> leased_queue::fail_batch(const batch_view<failure>& failures) {
  return failed_all(access::in(*this), failures.items());
}
settle_result leased_queue::release(const receipt& taken) {
  return settled(access::in(*this), taken, tq_release);
}
std::vector<settle_result> leased_queue::release_batch(const receipts_view& taken) {
  return settled_all(access::in(*this), taken, tq_release_batch);
}
settle_result leased_queue::extend(const receipt& taken, std::chrono::milliseconds lease) {
  return extended(access::in(*this), taken, lease);
}
std::vector<settle_result> leased_queue::extend_batch(const receipts_view& taken,
                                                      std::chrono::milliseconds lease) {
  return extended_all(access::in(*this), taken, lease);
}

std::vector<stored_message> claim_queue::peek(std::size_t max) const {
  return present(
      asked([&](tq_result** r, tq_error** e) { return tq_peek(access::plain(*this), max, r, e); }));
}
std::vector<stored_message> claim_queue::list(message_state state, const tableq::page& page) const {
  // C goes on after a page: the one that ends with this message is read first.
  std::optional<c_result> before;
  const c_options look = options_of(page.with);
  const std::string word(to_string(state));
  for (;;) {
    c_result got = asked([&](tq_result** r, tq_error** e) {
      return tq_list(access::plain(*this), word.c_str(), page.after ? 1 : page.max,
                     before ? before->get() : nullptr, look.get(), r, e);
    });
    if (!page.after) return present(got);
    const bool found = got.count() == 1 && got.number(0, "id") == page.after->id.value;
    if (got.count() == 0) return {};
    before.emplace(std::move(got));
    if (!found) continue;
    return present(asked([&](tq_result** r, tq_error** e) {
      return tq_list(access::plain(*this), word.c_str(), page.max, before->get(), look.get(), r, e);
    }));
  }
}
std::optional<stored_message> claim_queue::get(message_id id, const look_options& with) const {
  const where in = access::in(*this);
  const c_options look = options_of(with);
  return first(asked([&](tq_result** r, tq_error** e) {
    return tq_get(in.queue, in.tx(), id.value, look.get(), r, e);
  }));
}
std::vector<std::optional<stored_message>> claim_queue::get_batch(const batch_view<message_id>& ids,
                                                                  const look_options& with) const {
  const where in = access::in(*this);
  const c_batch batch = batch_with(ids.items());
  const c_options look = options_of(with);
  return stored_of(asked([&](tq_result** r, tq_error** e) {
    return tq_get_batch(in.queue, in.tx(), batch.get(), look.get(), r, e);
  }));
}
settle_result claim_queue::complete(const receipt& taken, payload_view result) {
  const where in = access::in(*this);
  const std::string text = to_string(taken);
  const std::string_view bytes = result.view();
  int outcome = 0;
  done([&](tq_error** e) {
    return tq_complete_with_result(in.queue, in.tx(), text.data(), text.size(), bytes.data(),
                                   bytes.size(), &outcome, e);
  });
  return settle_of(outcome);
}
void claim_queue::progress(const receipt& taken, double done, text_view note) {
  const where in = access::in(*this);
  const std::string text = to_string(taken);
  const std::string_view words = note.view();
  tableq_facade::done([&](tq_error** e) {
    return tq_progress(in.queue, text.data(), text.size(), done, words.data(), words.size(), e);
  });
}
awaited claim_queue::wait_for(message_id id, const wait_for_options& options) const {
  const c_read read(options.wait, options.stop);
  const c_result found = asked([&](tq_result** r, tq_error** e) {
    return tq_wait_for(access::plain(*this), id.value, read.get(), r, e);
  });
  return awaited_of(found);
}
std::optional<stored_message> claim_queue::find(text_view key, const look_options& with) const {
  const where in = access::in(*this);
  const c_options look = options_of(with);
  const std::string_view wanted = key.view();
  return first(asked([&](tq_result** r, tq_error** e) {
    return tq_find(in.queue, in.tx(), wanted.data(), wanted.size(), look.get(), r, e);
  }));
}
change_result claim_queue::cancel(message_id id) {
  const where in = access::in(*this);
  int outcome = 0;
  done([&](tq_error** e) { return tq_cancel(in.queue, in.tx(), id.value, &outcome, e); });
  return change_of(outcome);
}
std::vector<change_result> claim_queue::cancel_batch(const batch_view<message_id>& ids) {
  const where in = access::in(*this);
  const c_batch batch = batch_with(ids.items());
  return changes_of(asked([&](tq_result** r, tq_error** e) {
    return tq_cancel_batch(in.queue, in.tx(), batch.get(), r, e);
  }));
}
change_result claim_queue::set_priority(message_id id, std::int32_t priority) {
  const where in = access::in(*this);
  int outcome = 0;
  done([&](tq_error** e) {
    return tq_set_priority(in.queue, in.tx(), id.value, priority, &outcome, e);
  });
  return change_of(outcome);
}
std::vector<change_result> claim_queue::set_priority_batch(
    const batch_view<new_priority>& changes) {
  const where in = access::in(*this);
  const c_batch batch;
  for (const new_priority& each : changes.items()) batch.add_id(each.id, each.priority);
  return changes_of(asked([&](tq_result** r, tq_error** e) {
    return tq_set_priority_batch(in.queue, in.tx(), batch.get(), r, e);
  }));
}
std::size_t claim_queue::redrive(const batch_view<message_id>& ids) {
  const c_batch batch = batch_with(ids.items());
  std::int64_t count = 0;
  done([&](tq_error** e) { return tq_redrive(access::plain(*this), batch.get(), &count, e); });
  return static_cast<std::size_t>(count);
}
std::size_t claim_queue::purge(message_state state, const purge_options& options) {
  const c_options given = options_of(options);
  const std::string word(to_string(state));
  std::int64_t count = 0;
  done([&](tq_error** e) {
    return tq_purge(access::plain(*this), word.c_str(), given.get(), &count, e);
  });
  return static_cast<std::size_t>(count);
}
claim_stats claim_queue::stats(const stats_options& options) const {
  const c_options given = options_of(options);
  return claim_stats_of(asked([&](tq_result** r, tq_error** e) {
    return tq_queue_stats(access::plain(*this), given.get(), r, e);
  }));
}

std::chrono::milliseconds claim_queue::lease() const noexcept {
  return std::chrono::milliseconds(setting(*this, "lease_ms"));
}
int claim_queue::max_attempts() const noexcept {
  return static_cast<int>(setting(*this, "max_attempts"));
}
namespace {

/// A filter as a program in C has it: it lists dead messages, and redrives those it wants by id.
redriven redrive_chosen(claim_queue& queue, const redrive_options& options) {
  std::vector<message_id> chosen;
  for (const stored_message& each : queue.list_all(message_state::dead)) {
    if (options.stop.stop_requested()) break;
    if (options.filter(each)) chosen.push_back(each.id);
  }
  return {.count = queue.redrive(chosen)};
}

}  // namespace

message_range claim_queue::list_all(message_state state, std::size_t page_size) const {
  static_cast<void>(access::plain(*this));
  if (page_size == 0 || page_size > 10'000) {  // `tq_list` says so when a page is read.
    throw error(errc::invalid_argument, advice::never, "a page has 1 to 10,000 messages");
  }
  return {*this, state, page_size};
}
redriven claim_queue::redrive_all(const redrive_options& options) {
  if (options.filter) return redrive_chosen(*this, options);
  c_options given(TQ_FOR_REDRIVE);
  given.set("max", options.max);
  given.set("per_second", options.per_second);
  given.set_stop(options.stop);
  const c_result all = asked([&](tq_result** r, tq_error** e) {
    return tq_redrive_all(access::plain(*this), given.get(), r, e);
  });
  return {.count = static_cast<std::size_t>(all.number(0, "count")),
          .key_held = static_cast<std::size_t>(all.number(0, "key_held"))};
}

}  // namespace tableq::inline v0
