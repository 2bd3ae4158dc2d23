#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <tableq/tableq.hpp>

#include "options.hpp"

/// The items of one call, of one sort.
struct tq_batch : tableq_c::handle<tq_batch> {
  static constexpr const char* name_of_type = "tq_batch";
  /// Payloads with the options of their messages; or, without options, texts of receipts: what they
  /// are is known when they are used.
  std::vector<tableq::new_claim_message> messages;
  std::vector<std::string_view> keys;     ///< Those of all messages' options, each once.
  std::vector<tableq::receipt> receipts;  ///< If there are any, no text is left in `messages`.
  std::vector<tableq_c::failure_values> failures;  ///< As many as receipts, or none.
  std::vector<tableq::row> rows;
  std::vector<tableq::new_priority> ids;
  std::vector<tableq::schedule> schedules;
};

namespace tableq_c {

// The items as a call needs them; refused if they are of another sort.

[[nodiscard]] const std::vector<tableq::new_claim_message>& messages_of(const tq_batch& batch);
[[nodiscard]] std::vector<tableq::new_message> plain_messages_of(const tq_batch& batch);
[[nodiscard]] std::vector<tableq::new_pending_message> pending_messages_of(const tq_batch& batch);
[[nodiscard]] const std::vector<tableq::row>& rows_of(const tq_batch& batch);
[[nodiscard]] std::vector<tableq::receipt> receipts_of(const tq_batch& batch);
[[nodiscard]] std::vector<tableq::failure> failures_of(const tq_batch& batch);
[[nodiscard]] std::vector<tableq::message_id> ids_of(const tq_batch& batch);
[[nodiscard]] const std::vector<tableq::new_priority>& priorities_of(const tq_batch& batch);
[[nodiscard]] const std::vector<tableq::schedule>& schedules_of(const tq_batch& batch);

}  // namespace tableq_c
