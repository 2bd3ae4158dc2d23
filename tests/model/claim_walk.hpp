#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "model/claim_model.hpp"
#include "model/walked.hpp"

namespace tableq_test {

/// All that can be done with a `claim` queue, and its model.
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
  /// More is added than is completed: now and then the queue is dropped with all that is in it.
  void begin_anew();

  void enqueue(tableq::transaction* tx);
  void take(tableq::transaction* tx);
  /// Whether one of the batch meets a held key and is to be rejected.
  [[nodiscard]] bool rejects(const std::vector<tableq::new_claim_message>& batch) const;
  /// What an enqueue does to the model, and should answer.
  /// @param id_of the id of a message that is added, by its place in the batch.
  std::vector<tableq::enqueued> add(const std::vector<tableq::new_claim_message>& batch,
                                    const std::function<tableq::message_id(std::size_t)>& id_of);
  /// The same where the enqueue may not have happened.
  void enqueued_perhaps(const std::vector<tableq::new_claim_message>& batch);
  /// Messages that the model does not know, by their ids.
  [[nodiscard]] std::vector<tableq::stored_message> unknown_messages();
  /// All that are there, by their ids.
  [[nodiscard]] std::vector<tableq::stored_message> all_messages();
  /// Settles receipts that may be fresh, stale, or of a take that was rolled back.
  void settle(tableq::transaction* tx);
  /// The options with the delay that the database has drawn for the message, which was failed so;
  /// fails the test where that is not within the bounds of the rule.
  [[nodiscard]] tableq::fail_options drawn(tableq::transaction* tx, const tableq::receipt& of,
                                           tableq::fail_options options);
  void cancel(tableq::transaction* tx);
  void set_priority(tableq::transaction* tx);
  void get(tableq::transaction* tx);
  /// Reads one from the dead-letter queue.
  void read_letter(tableq::transaction* tx);
  /// Puts one beside them that is not this queue's.
  void write_letter(tableq::transaction* tx);
  void limit_letters();
  void redrive();
  void purge();

  [[nodiscard]] std::string any_payload() { return "message " + std::to_string(++sent_); }
  [[nodiscard]] tableq::claim_enqueue_options any_options(const std::string& payload);
  [[nodiscard]] std::string any_key();
  [[nodiscard]] tableq::on_duplicate any_policy();
  /// One that is there, or one that was or will be.
  [[nodiscard]] tableq::message_id any_message();
  void compare_letters();

  tableq::claim_options rules_;
  std::optional<tableq::claim_queue> queue_;
  std::optional<tableq::claim_queue> letters_;
  std::int64_t identity_ = 0;
  std::vector<tableq::receipt> receipts_;
};

}  // namespace tableq_test
