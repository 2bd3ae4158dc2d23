#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <tableq/tableq.hpp>

namespace tableq_test {

/// What a claim queue should do, in the plainest form: docs/guarantees.md as code.
class claim_model {
 public:
  claim_model(int max_attempts, bool keep) : max_attempts_(max_attempts), keep_(keep) {}

  /// The message that holds the key, if any.
  [[nodiscard]] std::optional<tableq::message_id> holder(const std::string& key) const;
  void add(tableq::message_id id, const std::string& payload,
           const tableq::claim_enqueue_options& options, tableq::timestamp now);
  /// What becomes of a message whose key that one holds.
  tableq::enqueue_result meet(tableq::message_id holder, const std::string& payload,
                              const tableq::claim_enqueue_options& options, tableq::timestamp now);

  /// The next messages in order, taken. The receipts bear the fences from before: new ones are the
  /// database's to choose, and are told by `fenced`.
  std::vector<tableq::delivery> take(std::size_t max, std::chrono::milliseconds lease,
                                     std::optional<tableq::timestamp> claimed_at,
                                     tableq::timestamp now, std::int64_t identity);
  void fenced(const tableq::receipt& r) { all_.at(r.id).fence = r.fence; }
  tableq::settled complete(const tableq::receipt& r, tableq::timestamp now);
  tableq::settled fail(const tableq::receipt& r, const std::string& error,
                       const tableq::fail_options& options, tableq::timestamp now);
  tableq::settled release(const tableq::receipt& r);
  tableq::settled extend(const tableq::receipt& r, std::chrono::milliseconds lease,
                         tableq::timestamp now);
  tableq::altered cancel(tableq::message_id id);
  tableq::altered set_priority(tableq::message_id id, std::int32_t priority);

  [[nodiscard]] std::size_t size() const { return all_.size(); }
  /// Some message that is there, the same for the same number; zero when there is none.
  [[nodiscard]] tableq::message_id some(std::uint64_t number) const;
  [[nodiscard]] std::optional<tableq::stored_message> get(tableq::message_id id) const;
  [[nodiscard]] std::vector<tableq::stored_message> peek(std::size_t max,
                                                         tableq::timestamp now) const;
  [[nodiscard]] std::vector<tableq::stored_message> list(tableq::message_state which) const;
  std::size_t redrive(const std::vector<tableq::message_id>& ids);
  std::size_t redrive_all();
  std::size_t purge(tableq::retained which, std::chrono::milliseconds older_than,
                    tableq::timestamp now);
  [[nodiscard]] tableq::claim_stats stats(tableq::timestamp now) const;

 private:
  struct entry {
    tableq::stored_message message;
    std::int64_t fence = 0;
    std::optional<int> max_attempts = {};
    tableq::retry_delays retry = {};
  };

  [[nodiscard]] bool is_last_attempt(const entry& of) const {
    return of.message.attempts >= of.max_attempts.value_or(max_attempts_);
  }

  [[nodiscard]] static bool waits(const entry& of, tableq::timestamp now);
  /// What is due becomes ready, what expired for the last time dies.
  void promote(tableq::timestamp now);
  entry* held_by(const tableq::receipt& r);
  void note(entry& in, const std::string& error, tableq::timestamp now);
  [[nodiscard]] std::vector<const entry*> in_order(tableq::timestamp now) const;

  int max_attempts_;
  bool keep_;
  std::map<tableq::message_id, entry> all_;
};

}  // namespace tableq_test
