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

/// What a claim queue should do, in the plainest form: docs/guarantees.md as code. Its dead-letter
/// queue, if it has one, is part of it.
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
  /// An enqueue with keys frees those whose window is over.
  void forget_keys(tableq::timestamp now);
  void add(tableq::message_id id, const std::string& payload,
           const tableq::claim_enqueue_options& options, tableq::timestamp now);
  /// What becomes of a message whose key that one holds.
  /// @param touched gets the group that this may let go.
  tableq::enqueue_result meet(tableq::message_id holder, const std::string& payload,
                              const tableq::claim_enqueue_options& options, tableq::timestamp now,
                              group_names& touched);

  [[nodiscard]] group_names groups_of(std::span<const tableq::message_id> ids) const;
  /// Makes ready what is held and has room in its group: the end of each call that touches groups.
  void let_go(const group_names& groups);
  /// A group of which more are ready or leased than may be; empty when there is none.
  [[nodiscard]] std::optional<std::string> crowded() const;

  /// Called where an operation of several units of work has ended one of them.
  using unit_ended = std::function<void()>;

  /// The next messages in order, taken. The receipts bear the fences from before: new ones are the
  /// database's to choose, and are told by `fenced`.
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
  /// How long the message may rest when it fails now, and the call does not say. Nothing when the
  /// receipt holds none.
  [[nodiscard]] std::optional<rest> rest_after(const tableq::receipt& r) const;
  tableq::settle_result release(const tableq::receipt& r);
  tableq::settle_result extend(const tableq::receipt& r, std::chrono::milliseconds lease,
                               tableq::timestamp now);
  tableq::change_result cancel(tableq::message_id id);
  tableq::change_result set_priority(tableq::message_id id, std::int32_t priority);

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// The highest id that there was.
  [[nodiscard]] tableq::message_id last() const { return last_; }
  /// Those that a capacity counts.
  [[nodiscard]] std::size_t waiting_or_running() const;
  /// Some message that is there, the same for the same number; zero when there is none.
  [[nodiscard]] tableq::message_id some(std::uint64_t number) const;
  [[nodiscard]] std::optional<tableq::stored_message> get(tableq::message_id id) const;
  /// All that are there, by their ids.
  [[nodiscard]] std::vector<tableq::stored_message> all() const;
  [[nodiscard]] std::vector<tableq::stored_message> peek(std::size_t max,
                                                         tableq::timestamp now) const;
  [[nodiscard]] std::vector<tableq::stored_message> list(tableq::message_state which) const;
  std::size_t redrive(const std::vector<tableq::message_id>& ids);
  /// Those that are dead here; what has moved to the dead-letter queue comes back by `adopt`.
  std::size_t redrive_all();

  /// What is in the dead-letter queue, by its payload; the ids are that queue's to choose.
  [[nodiscard]] const std::map<std::string, tableq::stored_message>& letters() const {
    return letters_;
  }
  void remove_letter(const std::string& payload) { letters_.erase(payload); }
  /// Somebody puts a message of his own beside the letters.
  void add_letter(const std::string& payload, tableq::timestamp now);
  /// Of the dead-letter queue: letters count, and are not refused.
  [[nodiscard]] limits_model& limits_of_letters() { return limits_of_letters_; }
  /// How many of the letters are this queue's.
  [[nodiscard]] std::size_t own_letters() const;
  /// How many of these redrive_all brings back: of those with one key the first, if it is free.
  /// Forgets keys whose windows are over, if it looks at any.
  std::size_t letters_that_come_back(tableq::timestamp now);
  /// A letter comes back, under a new id.
  void adopt(tableq::message_id id, const std::string& payload);

  /// @param batch how many are deleted in one unit of work.
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
  /// Whether it is done, and its window is over.
  [[nodiscard]] bool is_past(const entry& of, tableq::timestamp now) const;
  /// What is due becomes ready, what expired for the last time dies.
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
