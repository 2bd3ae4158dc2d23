#pragma once

#include <chrono>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

#include "model/limits_model.hpp"

namespace tableq_test {

/// The specification of a claim queue in its simplest form: docs/guarantees.md as code. Its
/// dead-letter queue, if it has one, is part of it.
class claim_model {
 public:
  static constexpr const char* name = "jobs";
  using group_names = std::set<std::string>;

  /// @param rules as the queue is opened.
  explicit claim_model(tableq::claim_options rules) : rules_(std::move(rules)) {}

  [[nodiscard]] limits_model& limits() { return limits_; }
  [[nodiscard]] const limits_model& limits() const { return limits_; }

  /// The message that holds the key, if any.
  [[nodiscard]] std::optional<tableq::message_id> holder(const std::string& key,
                                                         tableq::timestamp now) const;
  /// An enqueue with keys frees keys whose window has ended.
  void forget_keys(tableq::timestamp now);
  void add(tableq::message_id id, const std::string& payload,
           const tableq::claim_enqueue_options& options, tableq::timestamp now);
  /// The effect of an enqueue whose key this message holds.
  /// @param touched gets the group in which this may make room.
  tableq::enqueue_result meet(tableq::message_id holder, const std::string& payload,
                              const tableq::claim_enqueue_options& options, tableq::timestamp now,
                              group_names& touched);

  [[nodiscard]] group_names groups_of(std::span<const tableq::message_id> ids) const;
  /// Makes held messages ready if their group has room: the end of each call that affects groups.
  void let_go(const group_names& groups, tableq::timestamp now);
  /// A group of which more are ready or leased than may be; empty when there is none.
  [[nodiscard]] std::optional<std::string> crowded() const;

  /// Called when an operation of several units of work has ended one of them.
  using unit_ended = std::function<void()>;

  /// The next messages in order, taken. The receipts have the old fences: the database chooses new
  /// ones, and `fenced` sets them.
  std::vector<tableq::delivery> take(std::size_t max, std::chrono::milliseconds lease,
                                     std::optional<tableq::timestamp> claimed_at,
                                     tableq::timestamp now, std::int64_t identity,
                                     const unit_ended& ended);
  void fenced(const tableq::receipt& r) { all_.at(r.id).fence = r.fence; }
  tableq::settle_result complete(const tableq::receipt& r, tableq::timestamp now);
  tableq::settle_result fail(const tableq::receipt& r, const std::string& error,
                             const tableq::fail_options& options, tableq::timestamp now);
  struct rest {
    std::chrono::milliseconds least{0};
    std::chrono::milliseconds most{0};
  };
  /// The possible delays of the message if it fails now and the call gives none. Empty if the
  /// receipt is not valid.
  [[nodiscard]] std::optional<rest> rest_after(const tableq::receipt& r) const;
  tableq::settle_result release(const tableq::receipt& r, tableq::timestamp now);
  tableq::settle_result extend(const tableq::receipt& r, std::chrono::milliseconds lease,
                               tableq::timestamp now);
  tableq::change_result cancel(tableq::message_id id, tableq::timestamp now);
  tableq::change_result set_priority(tableq::message_id id, std::int32_t priority);
  tableq::change_result make_ready(tableq::message_id id, tableq::timestamp now);

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// The highest id so far.
  [[nodiscard]] tableq::message_id last() const { return last_; }
  /// The messages that a capacity counts.
  [[nodiscard]] std::size_t waiting_or_running() const;
  /// An existing message, the same for the same number; zero when there is none.
  [[nodiscard]] tableq::message_id some(std::uint64_t number) const;
  [[nodiscard]] std::optional<tableq::stored_message> get(tableq::message_id id) const;
  /// All messages, by their ids.
  [[nodiscard]] std::vector<tableq::stored_message> all() const;
  [[nodiscard]] std::vector<tableq::stored_message> peek(std::size_t max,
                                                         tableq::timestamp now) const;
  [[nodiscard]] std::vector<tableq::stored_message> list(tableq::message_state which) const;
  std::size_t redrive(const std::vector<tableq::message_id>& ids, tableq::timestamp now);
  /// The dead messages of this queue; `adopt` returns those in the dead-letter queue.
  std::size_t redrive_all(tableq::timestamp now);

  /// The contents of the dead-letter queue, by payload; that queue chooses the ids.
  [[nodiscard]] const std::map<std::string, tableq::stored_message>& letters() const {
    return letters_;
  }
  void remove_letter(const std::string& payload) { letters_.erase(payload); }
  /// Another producer adds a message to the letters.
  void add_letter(const std::string& payload, tableq::timestamp now);
  /// The capacity of the dead-letter queue: letters count, and are not refused.
  [[nodiscard]] limits_model& limits_of_letters() { return limits_of_letters_; }
  /// The number of this queue's letters.
  [[nodiscard]] std::size_t own_letters() const;
  /// The number of these that redrive_all returns: of those with one key the first, if it is free.
  /// Frees keys whose windows have ended, if it checks a key.
  std::size_t letters_that_come_back(tableq::timestamp now);
  /// A letter comes back, under a new id.
  void adopt(tableq::message_id id, const std::string& payload);

  /// @param batch deletions in one unit of work.
  std::size_t purge(tableq::message_state which, const tableq::purge_options& options,
                    tableq::timestamp now, const unit_ended& ended);
  [[nodiscard]] tableq::claim_stats stats(tableq::timestamp now) const;

 private:
  struct entry {
    tableq::stored_message message;
    std::int64_t fence = 0;
    bool holds_key = true;
    std::optional<int> max_attempts = {};
    std::optional<tableq::retry_delays> retry = {};
  };

  [[nodiscard]] bool is_last_attempt(const entry& of) const {
    return of.message.attempts >= of.max_attempts.value_or(*rules_.max_attempts);
  }
  [[nodiscard]] std::chrono::milliseconds key_window() const {
    return rules_.key_window.value_or(std::chrono::milliseconds{0});
  }
  [[nodiscard]] bool groups_pass() const {
    return rules_.groups.enabled && rules_.groups.on_failure == tableq::group_policy::pass;
  }
  [[nodiscard]] std::optional<tableq::timestamp> expiry(
      const tableq::claim_enqueue_options& options, tableq::timestamp now) const;

  [[nodiscard]] static bool waits(const entry& of, tableq::timestamp now);
  /// Whether it is done, and its window has ended.
  [[nodiscard]] bool is_past(const entry& of, tableq::timestamp now) const;
  /// The time of a message that is ready from now on: where groups take turns, its place.
  [[nodiscard]] std::optional<tableq::timestamp> since(tableq::timestamp now) const;
  /// The message becomes ready.
  void line_up(entry& of, tableq::timestamp now) const;
  /// Due messages become ready; those whose last lease expired die.
  void promote(tableq::timestamp now);
  void die(tableq::message_id id, tableq::timestamp now);
  [[nodiscard]] const entry* held_by(const tableq::receipt& r) const;
  entry* held_by(const tableq::receipt& r);
  void note(entry& in, const std::string& error, tableq::timestamp now);
  [[nodiscard]] std::vector<const entry*> in_order(tableq::timestamp now) const;
  [[nodiscard]] std::size_t count(const std::string& group,
                                  std::initializer_list<tableq::message_state> states) const;

  tableq::claim_options rules_;
  limits_model limits_;
  limits_model limits_of_letters_;
  std::map<tableq::message_id, entry> all_;
  std::map<std::string, tableq::stored_message> letters_;
  tableq::message_id last_;
};

}  // namespace tableq_test
