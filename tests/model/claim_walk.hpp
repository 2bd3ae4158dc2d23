#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/claim_model.hpp"
#include "model/walked.hpp"

namespace tableq_test {

/// All operations on a `claim` queue, and its model.
class claim_walk : public walked<on_each_backend, claim_model> {
 protected:
  claim_walk() : walked(claim_model({})) {}

  /// @param rules fixed for the whole walk.
  void walk_by(const tableq::claim_options& rules);

 private:
  [[nodiscard]] const backend& stands_on() const override { return *GetParam(); }
  tableq::queue& queue() override { return *queue_; }
  void close() override;
  void reopen() override;
  void change(tableq::transaction* tx) override;
  void look() override;
  std::string shown() override;
  [[nodiscard]] std::string shown_by(const claim_model& model) const override;
  void prepare_change() override;
  /// More messages are added than completed, so the queue is dropped from time to time.
  void begin_anew();

  void enqueue(tableq::transaction* tx);
  void take(tableq::transaction* tx);
  /// Whether a message of the batch has a held key and on_duplicate::reject.
  [[nodiscard]] bool rejects(const std::vector<tableq::new_claim_message>& batch) const;
  /// The effect of an enqueue on the model, and its expected result.
  /// @param id_of the id of an added message, by its index in the batch.
  std::vector<tableq::enqueued> add(const std::vector<tableq::new_claim_message>& batch,
                                    const std::function<tableq::message_id(std::size_t)>& id_of);
  /// The same for an enqueue that may not have happened.
  void enqueued_perhaps(const std::vector<tableq::new_claim_message>& batch);
  /// Messages that the model does not know, by their ids.
  [[nodiscard]] std::vector<tableq::stored_message> unknown_messages();
  /// All messages, by their ids.
  [[nodiscard]] std::vector<tableq::stored_message> all_messages();
  /// Settles receipts that may be fresh, stale, or of a take that was rolled back.
  void settle(tableq::transaction* tx);
  /// The options with the database's random delay for the failed message; fails the test if the
  /// delay is outside of the rule's bounds.
  [[nodiscard]] tableq::fail_options drawn(tableq::transaction* tx, const tableq::receipt& of,
                                           tableq::fail_options options);
  void cancel(tableq::transaction* tx);
  void set_priority(tableq::transaction* tx);
  void make_ready(tableq::transaction* tx);
  void change_by_filter();
  void get(tableq::transaction* tx);
  /// Reads one from the dead-letter queue.
  void read_letter(tableq::transaction* tx);
  /// Adds one that is not from this queue.
  void write_letter(tableq::transaction* tx);
  void limit_letters();
  void redrive();
  void purge();

  [[nodiscard]] std::string any_payload() { return "message " + std::to_string(++sent_); }
  [[nodiscard]] tableq::claim_enqueue_options any_options(const std::string& payload);
  [[nodiscard]] std::string any_key();
  [[nodiscard]] tableq::on_duplicate any_policy();
  /// An existing, former or future message.
  [[nodiscard]] tableq::message_id any_message();
  void compare_letters();

  tableq::claim_options rules_;
  std::optional<tableq::claim_queue> queue_;
  std::optional<tableq::claim_queue> letters_;
  std::int64_t identity_ = 0;
  std::vector<tableq::receipt> receipts_;
};

}  // namespace tableq_test
