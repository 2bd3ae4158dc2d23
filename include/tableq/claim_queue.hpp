#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <future>
#include <optional>
#include <string>
#include <vector>

#include <tableq/batch_options.hpp>
#include <tableq/batch_view.hpp>
#include <tableq/claim_options.hpp>
#include <tableq/export.hpp>
#include <tableq/fwd.hpp>
#include <tableq/leased_queue.hpp>
#include <tableq/limits.hpp>
#include <tableq/message.hpp>
#include <tableq/message_filter.hpp>
#include <tableq/message_range.hpp>
#include <tableq/options.hpp>
#include <tableq/outcome.hpp>
#include <tableq/payload.hpp>
#include <tableq/scoped_delivery.hpp>
#include <tableq/stats.hpp>
#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// A queue whose reads lease a message instead of deleting it; `complete` removes it, or marks it
/// done.
///
/// Delivery is at least once. Receipts are fenced: a worker that lost its lease can no longer
/// settle the message. Messages come by priority, then by id, or in turns of their groups
/// (group_options::by_turns). A lease that ends unsettled counts as a failed attempt; the next
/// `take` may return the message, or makes it dead after its last attempt. docs/guarantees.md shows
/// the states.
///
/// Shares the sessions of its database and keeps them open. Takes and settlements: see
/// `leased_queue`; threads, transactions and the errors of every operation: see `queue`.
class TABLEQ_EXPORT claim_queue : public leased_queue {
 public:
  /// A handle of this queue inside the transaction; see `queue`.
  [[nodiscard]] claim_queue in(transaction& tx) const noexcept { return bound(*this, tx); }
  [[nodiscard]] claim_queue in(const enlistment& joined) const noexcept {
    return bound(*this, joined);
  }
  /// A handle of this queue for work beside a transaction of this thread; see `queue`.
  [[nodiscard]] claim_queue outside() const noexcept { return unbound(*this); }

  /// Adds one message. It is stored when the call returns; inside a transaction, when that commits.
  /// @param full the action when the queue is at its capacity, even if a message holds the key.
  ///   Inside a transaction there is no waiting: it would hold its locks.
  /// @return the id, and whether the message is new: an earlier one may hold the key.
  /// @throws error errc::too_large, queue_full, duplicate_key (with on_duplicate::reject), or
  ///   invalid_argument for options out of range; then nothing is stored.
  enqueued enqueue(payload_view payload, const claim_enqueue_options& options = {},
                   const when_full& full = {});

  /// Adds all messages whose keys are free, in order, in one transaction. Of two messages with the
  /// same key it adds the first. Any number of messages; none: nothing is sent.
  /// @return one result per message, in order.
  /// @throws error as enqueue, for any of the messages.
  std::vector<enqueued> enqueue_batch(const batch_view<new_claim_message>& messages,
                                      const when_full& full = {});

  /// As plain_queue::enqueue_async. A delay and a time to live begin when the message is stored.
  [[nodiscard]] std::future<enqueued> enqueue_async(std::string payload,
                                                    const claim_enqueue_options& options = {});
  /// The same, with a function that gets the outcome.
  /// @param done as in plain_queue::enqueue_async.
  void enqueue_async(std::string payload, const claim_enqueue_options& options,
                     std::function<void(outcome<enqueued>)> done);

  /// Begins a batch, to which messages of all queues with claim_options::batches may be added; see
  /// `batch`.
  /// @throws error errc::not_found when the queue of `then` is not there; errc::invalid_argument
  ///   for a `then` that could not be enqueued, and for a parent that takes no members;
  ///   errc::unsupported when the catalogue is of an older layout: run `tableq migrate`.
  [[nodiscard]] batch begin_batch(const batch_options& options = {});
  /// The batch of a message that this receipt holds, with which its handler adds messages to it.
  /// Empty: the message belongs to none.
  [[nodiscard]] std::optional<batch_id> batch_of(const receipt& taken) const;

  /// As take_one; the destructor releases an unsettled message, which is then ready at once.
  [[nodiscard]] std::optional<scoped_delivery> take_scoped(const take_options& options = {});

  using leased_queue::complete;
  /// As leased_queue::complete, with a result for who waits for the message: up to 64 KiB, kept
  /// with it until it is purged. Only in a queue with keep_completed.
  /// @throws error errc::unsupported in a queue of a layout before 3 (`tableq migrate`),
  ///   errc::invalid_argument in one without keep_completed, errc::too_large; nothing has changed.
  [[nodiscard]] settle_result complete(const receipt& taken, payload_view result);

  /// Says how far the message is; looks at it show that. Asks no database: it is stored with the
  /// next extension of the lease through this `database` object (a worker's or keeper's heartbeat,
  /// `extend`), or with `fail` and `release`, if the lease still holds then. A later call replaces
  /// what was not stored yet. A retry keeps it, a completion clears it.
  /// @param done from 0 to 1; beyond, the nearest.
  /// @param note cut at 500 bytes of UTF-8, without blanks at both ends.
  /// @throws error errc::unsupported in a queue of a layout before 3 (`tableq migrate`).
  void progress(const receipt& taken, double done, text_view note = "");

  /// Waits until a message is done or dead. In a queue without keep_completed a completed message
  /// is gone, and so is one that was cancelled, purged or moved to the dead-letter queue, or whose
  /// enqueue is not committed: then it returns at once.
  ///
  /// Settlements through this `database` object wake it. For all others it looks: soon at first,
  /// later every half second, or at each poll_interval if that is shorter.
  /// @throws error errc::invalid_argument for a wait out of range.
  [[nodiscard]] awaited wait_for(message_id id, const wait_for_options& options = {}) const;

  /// Reads up to `max` ready messages (1 to 10,000) in the order of takes, without locks. Of the
  /// messages that fell due or whose lease ended since the last take, it considers only the first
  /// `max` by that time.
  /// @throws error errc::invalid_argument for max out of range.
  [[nodiscard]] std::vector<stored_message> peek(std::size_t max = 1) const;

  /// Pages through the messages in one state: ready and held ones in the order of takes, delayed
  /// and leased ones by due_at, done and dead ones by the time they finished. Every page costs the
  /// same. The pages are no snapshot: a message that changes meanwhile may be missed or listed
  /// twice. A due message stays delayed or leased until a take finds it.
  /// @throws error errc::invalid_argument for page.max out of range.
  [[nodiscard]] std::vector<stored_message> list(message_state state,
                                                 const tableq::page& page = {}) const;

  /// All messages in one state, in the order of `list`, which reads them page by page:
  /// `for (const tableq::stored_message& m : jobs.list_all(tableq::message_state::dead))`.
  /// @param page_size messages per read, 1 to 10,000.
  /// @throws error errc::invalid_argument for another page_size.
  [[nodiscard]] message_range list_all(message_state state, std::size_t page_size = 100) const;

  /// Lists the messages that fit, in any state unless the filter names one; done or dead ones by
  /// the time they finished if it names that state, all others by id. Each call reads at most
  /// 10,000 messages, and says where it stopped: also a filter that nothing fits ends a call in
  /// time. What is added after the first page is not listed.
  /// @throws error errc::invalid_argument for a filter or a page out of range.
  [[nodiscard]] filtered_messages list(const message_filter& filter,
                                       const filter_page& page = {}) const;

  /// Returns a message in any state. On SQL Server it waits for transactions that change the
  /// message. `get` and `find` in a transaction with a snapshot read from that snapshot.
  [[nodiscard]] std::optional<stored_message> get(message_id id,
                                                  const look_options& with = {}) const;
  /// Results in the order of `ids`.
  [[nodiscard]] std::vector<std::optional<stored_message>> get_batch(
      const batch_view<message_id>& ids, const look_options& with = {}) const;

  /// The groups whose oldest message waits longest, among those of the first 10,000 ready and as
  /// many held messages.
  /// @param max the most groups, 1 to 10,000.
  /// @throws error errc::invalid_argument for max out of range.
  [[nodiscard]] std::vector<waiting_group> groups(std::size_t max = 20) const;

  /// Replaces the limits of a group, in every process within a second: docs/limits.md. Only in
  /// queues with groups. Running messages go on; the others have followed when the call returns.
  /// @param limits a group with its own has nothing of the others'. Empty: none of its own.
  /// @param group empty: each group without limits of its own.
  /// @throws error errc::invalid_argument; errc::unsupported in a catalogue of an older layout.
  void set_group_limits(const tableq::group_limits& limits, text_view group = "");
  /// A page of the limits of groups, as they stand in the database now.
  /// @throws error errc::invalid_argument for page.max out of range.
  [[nodiscard]] limited_groups group_limits(const group_limits_page& page = {}) const;

  /// Returns the message that holds a key. A done message holds its key for the key_window, if any.
  /// @throws error errc::invalid_argument for an invalid key.
  [[nodiscard]] std::optional<stored_message> find(text_view key,
                                                   const look_options& with = {}) const;

  /// Removes a message that is ready, delayed, held or dead, and frees its key. A leased message
  /// stays, even after the end of its lease, until a take finds it. Only purge removes done
  /// messages.
  change_result cancel(message_id id);
  /// All in one transaction. Results in the order of `ids`. Of two equal ids the first has the
  /// effect.
  std::vector<change_result> cancel_batch(const batch_view<message_id>& ids);

  /// Changes the priority of a message that is ready, delayed or held. Any number is a priority.
  /// @throws error errc::conflict as complete.
  change_result set_priority(message_id id, std::int32_t priority);
  /// Results in the order of `changes`. Of two changes to one message the first counts for both.
  std::vector<change_result> set_priority_batch(const batch_view<new_priority>& changes);

  /// Makes a delayed message ready now, also one that rests before its next attempt, as if it fell
  /// due: attempts and time to live stay, and one that others of its group have passed waits its
  /// turn. A ready message stays as it is.
  change_result make_ready(message_id id);
  /// All in one transaction. Results in the order of `ids`.
  std::vector<change_result> make_ready_batch(const batch_view<message_id>& ids);

  // Actions by filter: each reads what fits, and changes it in steps of up to 1,000 messages. Each
  // step is its own transaction, and looks at the states again. Messages that come while the action
  // runs are left alone. Not inside a transaction.
  // @throws error errc::invalid_argument for a filter without a condition and without `all`, for a
  //   state that the action does not change, or for options out of range.

  /// As cancel, for all that fit; without a state those that are ready, delayed, held or dead.
  bulk_result cancel(const message_filter& filter, const bulk_options& options = {});
  /// As set_priority, for all that fit; without a state those that are ready, delayed or held.
  bulk_result set_priority(const message_filter& filter, std::int32_t priority,
                           const bulk_options& options = {});
  /// As make_ready, for all delayed messages that fit.
  bulk_result make_ready(const message_filter& filter, const bulk_options& options = {});
  /// As redrive, for all dead messages that fit; in a queue with dead_letters also for those that
  /// were moved there from this queue and are ready there, as redrive_all. Their age there is that
  /// since their enqueue, and they have no group.
  bulk_result redrive(const message_filter& filter, const bulk_options& options = {});
  /// Deletes the done or dead messages that fit; without a state both.
  bulk_result purge(const message_filter& filter, const bulk_options& options = {});

  /// Makes dead messages ready again, with no attempts counted and without a time to live; their
  /// error history stays.
  /// @return how many of `ids` were dead and are ready now.
  std::size_t redrive(const batch_view<message_id>& ids);
  /// Redrives the dead messages that the options select, in several transactions. In a queue with
  /// dead_letters this includes the messages that were moved there from this queue and are ready
  /// there. They return with payload, headers, priority and history, with a new id, and without a
  /// group and rules of their own (max_attempts, retry, time to live). With
  /// key_scope::active a message takes its key again; it stays in the dead-letter queue while
  /// another message of this queue holds the key. Messages with unreadable headers stay there, too.
  /// @return how many returned, and how many stayed because of their keys.
  /// @throws error errc::invalid_argument for options out of range; errc::conflict when other
  ///   threads repeatedly took a key meanwhile.
  redriven redrive_all(const redrive_options& options = {});

  /// Deletes done or dead messages by age, in small batches. @return how many.
  /// @param state message_state::done or message_state::dead.
  /// @throws error errc::invalid_argument for another state (cancel removes waiting messages), or
  ///   for options out of range.
  std::size_t purge(message_state state, const purge_options& options = {});

  /// Counts messages, by default up to 10,000 per figure: cheap enough for once a second.
  /// @throws error errc::invalid_argument for options out of range.
  [[nodiscard]] claim_stats stats(const stats_options& options = {}) const;

  /// The lease of takes that do not give one, 1 ms to 365 days. As this handle has it: the database
  /// is not asked.
  [[nodiscard]] std::chrono::milliseconds lease() const noexcept;
  /// The number of failed or expired attempts after which a message without its own number is dead,
  /// 1 to 1,000,000. As this handle has it.
  [[nodiscard]] int max_attempts() const noexcept;

 private:
  friend class core::access;
  friend class database;
  using leased_queue::leased_queue;
};

}  // namespace tableq::inline v0
