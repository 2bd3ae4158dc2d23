#pragma once

#include <string_view>
#include <variant>
#include <vector>

#include <tableq/tableq.hpp>

#include "call.hpp"

/// The items of one call, of one sort.
struct tq_batch : tableq_c::handle<tq_batch> {
  static constexpr const char* name_of_type = "tq_batch";
  using messages = std::vector<tableq::new_claim_message>;
  using receipts = std::vector<tableq::receipt>;
  using failures = std::vector<tableq::failure>;

  [[nodiscard]] std::size_t size() const noexcept {
    return std::visit([](const auto& all) { return all.size(); }, items);
  }

  /// Of `messages` the payloads, with the options of messages; or, without any, texts of receipts:
  /// what they are is known when they are used.
  std::variant<messages, receipts, failures, std::vector<tableq::row>,
               std::vector<tableq::new_priority>, std::vector<tableq::schedule>>
      items;
  std::vector<std::string_view> keys;  ///< Those of all messages' options, each once.
};

namespace tableq_c {

[[noreturn]] void refuse_sort();

/// The items for a call, or to add to.
/// @throws tableq::error errc::invalid_argument if they are of another sort.
template <class Items>
[[nodiscard]] const Items& items_of(const tq_batch& batch) {
  static const Items none;
  const auto* const found = std::get_if<Items>(&batch.items);
  if (found == nullptr && batch.size() != 0) refuse_sort();
  return found == nullptr ? none : *found;
}
template <class Items>
[[nodiscard]] Items& items_of(tq_batch& batch) {
  if (batch.size() == 0 && !std::holds_alternative<Items>(batch.items)) batch.items = Items();
  return const_cast<Items&>(items_of<Items>(std::as_const(batch)));  // They are the batch's own.
}
/// The same of receipts; those that are texts are parsed into `parsed`, which is empty.
/// @throws tableq::error errc::invalid_argument also for failures.
[[nodiscard]] const tq_batch::receipts& receipts_of(const tq_batch& batch,
                                                    tq_batch::receipts& parsed);
/// The same of failures; a receipt is one without options.
[[nodiscard]] tq_batch::failures failures_of(const tq_batch& batch);

}  // namespace tableq_c
