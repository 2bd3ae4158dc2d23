// Takes and settlements of claim queues and tables.

#include <array>
#include <utility>

#include <tableq/tableq.hpp>

#include "batch.hpp"
#include "fields.hpp"
#include "handles.hpp"
#include "options.hpp"

namespace tableq_c {
namespace {

using tableq::delivery;
template <auto... Path>
constexpr column<taken_row> of_taken(std::string_view name) {
  return member<taken_row, &taken_row::message, Path...>(name);
}
constexpr std::array taken_columns = {
    member<taken_row, &taken_row::receipt>("receipt"),
    of_taken<&delivery::receipt, &tableq::receipt::id>("id"),
    member_as<bytes, taken_row, &taken_row::message, &delivery::payload>("payload"),
    member<taken_row, &taken_row::headers>("headers"),
    of_taken<&delivery::key>("key"),
    of_taken<&delivery::group>("group"),
    of_taken<&delivery::priority>("priority"),
    of_taken<&delivery::attempt>("attempt"),
    of_taken<&delivery::created_at>("created_at"),
    of_taken<&delivery::claimed_at>("claimed_at"),
    of_taken<&delivery::lease_until>("lease_until"),
    member<taken_row, &taken_row::row>("row"),
};
/// The messages as the take gave them, and rows that point at them.
class taken_rows final : public rows<taken_row> {
 public:
  explicit taken_rows(std::vector<delivery> messages)
      : rows(rows_for(messages), taken_columns), messages_(std::move(messages)) {}

 private:
  static std::vector<taken_row> rows_for(const std::vector<delivery>& messages) {
    std::vector<taken_row> out;
    out.reserve(messages.size());
    for (const delivery& each : messages) {
      out.push_back({&each, to_string(each.receipt), listed_headers(each.headers),
                     each.row.empty() ? result() : result_of_columns(each.row)});
    }
    return out;
  }

  std::vector<delivery> messages_;
};

/// Runs `work` on a queue whose reads lease, in the transaction if there is one.
/// @param call its name.
template <class Work>
auto on_leases(tq_queue* queue, tq_transaction* tx, const char* call, Work work) {
  using found = std::invoke_result_t<Work&, tableq::claim_queue&>;
  return on(queue, tx, [&](auto& bound) -> found {
    if constexpr (leases<std::remove_reference_t<decltype(bound)>>) {
      return work(bound);
    } else {
      refuse_kind(bound, call, "claim queues and tables");
    }
  });
}

int outcome_of(tableq::settle_result effect) noexcept {
  return effect == tableq::settle_result::applied ? TQ_OUTCOME_APPLIED : TQ_OUTCOME_LEASE_LOST;
}

/// One settlement of a receipt. @param work `(queue, receipt)`.
template <class Work>
int settle(tq_queue* queue, tq_transaction* tx, const char* call, const char* receipt, size_t size,
           int* outcome, tq_error** error, Work work) {
  return making(outcome, error, [&] {
    const tableq::receipt taken = tableq::parse_receipt(text_of(receipt, size));
    return outcome_of(on_leases(queue, tx, call, [&](auto& bound) { return work(bound, taken); }));
  });
}
/// Settlements of a batch. @param work `(queue)`.
template <class Work>
int settle_all(tq_queue* queue, tq_transaction* tx, const char* call, tq_result** outcomes,
               tq_error** error, Work work) {
  return making(outcomes, error, [&] {
    const std::vector<tableq::settle_result> settled = on_leases(queue, tx, call, work);
    std::vector<int> out;
    out.reserve(settled.size());
    for (const tableq::settle_result each : settled) out.push_back(outcome_of(each));
    return result_of_outcomes(std::move(out));
  });
}

}  // namespace
}  // namespace tableq_c

using namespace tableq_c;

int tq_take(tq_queue* queue, tq_transaction* tx, size_t max, const tq_options* options,
            tq_result** taken, tq_error** error) {
  return making(taken, error, [&] {
    const auto& wanted = values_of<read_values>(options);
    return std::make_unique<taken_rows>(
        on_leases(queue, tx, "tq_take", [&](auto& bound) { return bound.take(max, wanted); }));
  });
}

int tq_complete(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size, int* outcome,
                tq_error** error) {
  return settle(queue, tx, "tq_complete", receipt, size, outcome, error,
                [](auto& bound, const tableq::receipt& taken) { return bound.complete(taken); });
}
int tq_complete_with_result(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size,
                            const void* result, size_t result_size, int* outcome,
                            tq_error** error) {
  return making(outcome, error, [&] {
    const tableq::receipt taken = tableq::parse_receipt(text_of(receipt, size));
    return outcome_of(on_claim(queue, tx, "tq_complete_with_result", [&](auto& claim) {
      return claim.complete(taken, text_of(result, result_size));
    }));
  });
}
int tq_progress(tq_queue* queue, const char* receipt, size_t size, double done, const char* note,
                size_t note_size, tq_error** error) {
  return calling(error, [&] {
    const tableq::receipt taken = tableq::parse_receipt(text_of(receipt, size));
    on_claim(queue, nullptr, "tq_progress",
             [&](auto& claim) { claim.progress(taken, done, text_of(note, note_size)); });
  });
}
int tq_complete_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* receipts,
                      tq_result** outcomes, tq_error** error) {
  tq_batch::receipts parsed;
  return settle_all(queue, tx, "tq_complete_batch", outcomes, error, [&](auto& bound) {
    return bound.complete_batch(receipts_of(checked(receipts), parsed));
  });
}
int tq_fail(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size, const char* text,
            size_t text_size, const tq_options* options, int* outcome, tq_error** error) {
  return settle(queue, tx, "tq_fail", receipt, size, outcome, error,
                [&](auto& bound, const tableq::receipt& taken) {
                  const auto& how = values_of<failure_values>(options);
                  if (how.error) refuse("the error is a parameter of tq_fail, and no option");
                  return bound.fail(taken, text_of(text, text_size), how);
                });
}
int tq_fail_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* failures,
                  tq_result** outcomes, tq_error** error) {
  return settle_all(queue, tx, "tq_fail_batch", outcomes, error,
                    [&](auto& bound) { return bound.fail_batch(failures_of(checked(failures))); });
}
int tq_release(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size, int* outcome,
               tq_error** error) {
  return settle(queue, tx, "tq_release", receipt, size, outcome, error,
                [](auto& bound, const tableq::receipt& taken) { return bound.release(taken); });
}
int tq_release_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* receipts,
                     tq_result** outcomes, tq_error** error) {
  tq_batch::receipts parsed;
  return settle_all(queue, tx, "tq_release_batch", outcomes, error, [&](auto& bound) {
    return bound.release_batch(receipts_of(checked(receipts), parsed));
  });
}
int tq_extend(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size,
              int64_t lease_ms, int* outcome, tq_error** error) {
  return settle(queue, tx, "tq_extend", receipt, size, outcome, error,
                [&](auto& bound, const tableq::receipt& taken) {
                  return bound.extend(taken, std::chrono::milliseconds(lease_ms));
                });
}
int tq_extend_batch(tq_queue* queue, tq_transaction* tx, const tq_batch* receipts, int64_t lease_ms,
                    tq_result** outcomes, tq_error** error) {
  tq_batch::receipts parsed;
  return settle_all(queue, tx, "tq_extend_batch", outcomes, error, [&](auto& bound) {
    return bound.extend_batch(receipts_of(checked(receipts), parsed),
                              std::chrono::milliseconds(lease_ms));
  });
}
