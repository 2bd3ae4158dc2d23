#include "batch.hpp"

#include <algorithm>
#include <utility>

#include "result.hpp"

namespace tableq_c {
namespace {

enum class sort { messages, receipts, rows, ids, schedules };

/// @throws tableq::error errc::invalid_argument if the batch has items of another sort.
void expect(const tq_batch& batch, sort wanted) {
  const bool texts = wanted == sort::receipts && batch.keys.empty();
  const bool fits = (batch.messages.empty() || wanted == sort::messages || texts) &&
                    (batch.receipts.empty() || wanted == sort::receipts) &&
                    (batch.rows.empty() || wanted == sort::rows) &&
                    (batch.ids.empty() || wanted == sort::ids) &&
                    (batch.schedules.empty() || wanted == sort::schedules);
  if (!fits) {
    refuse(
        "the batch has items of another sort: one batch holds messages, or rows, or receipts, or "
        "ids, or schedules, as its call needs them");
  }
}

std::vector<tableq::receipt> read_receipts(const tq_batch& batch) {
  expect(batch, sort::receipts);
  std::vector<tableq::receipt> out = batch.receipts;
  out.reserve(out.size() + batch.messages.size());
  for (const tableq::new_claim_message& each : batch.messages) {
    out.push_back(tableq::parse_receipt(each.payload));
  }
  return out;
}
/// From now on the batch holds receipts: texts without options are read.
void expect_receipts(tq_batch& batch) {
  if (batch.messages.empty()) return expect(batch, sort::receipts);
  std::vector<tableq::receipt> all = read_receipts(batch);
  batch.receipts.swap(all);
  batch.messages.clear();
}

/// @param failure null: none.
void add_receipt(tq_batch& batch, tableq::receipt one, const failure_values* failure) {
  if (failure != nullptr || !batch.failures.empty()) {
    batch.failures.resize(batch.receipts.size());
    batch.failures.push_back(failure != nullptr ? *failure : failure_values());
  }
  batch.receipts.push_back(std::move(one));
}

void add_text(tq_batch& batch, std::string_view bytes) {
  if (!batch.receipts.empty()) return add_receipt(batch, tableq::parse_receipt(bytes), nullptr);
  batch.messages.emplace_back().payload = bytes;
}

void add_message(tq_batch& batch, std::string_view payload, const message_values& values) {
  if (!batch.receipts.empty()) expect(batch, sort::messages);
  for (const std::string_view key : values.keys) {
    if (key == "wait_ms") refuse("wait_ms is for the whole batch: give it to tq_enqueue_batch");
    if (std::find(batch.keys.begin(), batch.keys.end(), key) == batch.keys.end()) {
      batch.keys.push_back(key);
    }
  }
  batch.messages.push_back({.payload = std::string(payload), .options = values.claim_options()});
}

void add(tq_batch& batch, std::string_view bytes, const tq_options* options) {
  if (options == nullptr) return add_text(batch, bytes);
  const auto& values = checked(options).values;
  if (const auto* const message = std::get_if<message_values>(&values)) {
    return add_message(batch, bytes, *message);
  }
  if (const auto* const failure = std::get_if<failure_values>(&values)) {
    expect_receipts(batch);
    return add_receipt(batch, tableq::parse_receipt(bytes), failure);
  }
  if (const auto* const rule = std::get_if<tableq::schedule>(&values)) {
    batch.schedules.push_back(*rule);
    batch.schedules.back().payload = bytes;
    return;
  }
  const auto* const row = std::get_if<tableq::row>(&values);
  if (row == nullptr) refuse("these options are for no item of a batch");
  if (!bytes.empty()) refuse("a row has no payload: its columns are its options");
  batch.rows.push_back(*row);
}

/// For kinds with fewer options.
template <class Message, class Options>
std::vector<Message> narrowed(const tq_batch& batch, Options options_of) {
  expect(batch, sort::messages);
  message_values all;
  all.keys = batch.keys;
  static_cast<void>(options_of(all));  // Refuses keys that these kinds do not have.
  std::vector<Message> out;
  out.reserve(batch.messages.size());
  for (const tableq::new_claim_message& each : batch.messages) {
    message_values one;
    static_cast<tableq::claim_enqueue_options&>(one) = each.options;
    out.push_back({.payload = each.payload, .options = options_of(one)});
  }
  return out;
}

}  // namespace

const std::vector<tableq::new_claim_message>& messages_of(const tq_batch& batch) {
  expect(batch, sort::messages);
  return batch.messages;
}
std::vector<tableq::new_message> plain_messages_of(const tq_batch& batch) {
  return narrowed<tableq::new_message>(
      batch, [](const message_values& values) { return values.plain_options(); });
}
std::vector<tableq::new_pending_message> pending_messages_of(const tq_batch& batch) {
  return narrowed<tableq::new_pending_message>(
      batch, [](const message_values& values) { return values.pending_options(); });
}
const std::vector<tableq::row>& rows_of(const tq_batch& batch) {
  expect(batch, sort::rows);
  return batch.rows;
}
std::vector<tableq::receipt> receipts_of(const tq_batch& batch) {
  if (!batch.failures.empty()) refuse("only tq_fail_batch takes failures");
  return read_receipts(batch);
}
std::vector<tableq::failure> failures_of(const tq_batch& batch) {
  std::vector<tableq::failure> out;
  for (tableq::receipt& each : read_receipts(batch)) {
    tableq::failure& one = out.emplace_back();
    one.receipt = std::move(each);
    if (batch.failures.empty()) continue;
    const failure_values& how = batch.failures[out.size() - 1];
    one.error = how.error.value_or(std::string());
    one.options = how;
  }
  return out;
}
const std::vector<tableq::new_priority>& priorities_of(const tq_batch& batch) {
  expect(batch, sort::ids);
  return batch.ids;
}
const std::vector<tableq::schedule>& schedules_of(const tq_batch& batch) {
  expect(batch, sort::schedules);
  return batch.schedules;
}
std::vector<tableq::message_id> ids_of(const tq_batch& batch) {
  std::vector<tableq::message_id> out;
  out.reserve(batch.ids.size());
  for (const tableq::new_priority& each : priorities_of(batch)) out.push_back(each.id);
  return out;
}

}  // namespace tableq_c

using tableq_c::calling;
using tableq_c::checked;

int tq_batch_new(tq_batch** batch, tq_error** error) {
  return tableq_c::making(batch, error, [] { return std::make_unique<tq_batch>(); });
}
int tq_batch_add(tq_batch* batch, const void* bytes, size_t size, const tq_options* options,
                 tq_error** error) {
  return calling(error,
                 [&] { tableq_c::add(checked(batch), tableq_c::text_of(bytes, size), options); });
}
int tq_batch_add_all(tq_batch* batch, const void* bytes, const size_t* sizes, size_t count,
                     const tq_options* options, tq_error** error) {
  return calling(error, [&] {
    tq_batch& to = checked(batch);
    if (sizes == nullptr && count > 0) tableq_c::refuse("the sizes of the items are NULL");
    if (options != nullptr && std::holds_alternative<tableq::row>(checked(options).values)) {
      tableq_c::refuse("rows are added one by one: tq_batch_add");
    }
    std::size_t all = 0;
    for (std::size_t i = 0; i < count; ++i) all += sizes[i];
    std::string_view rest = tableq_c::text_of(bytes, all);
    const std::size_t needed = to.messages.size() + count;
    if (needed > to.messages.capacity()) {
      to.messages.reserve(std::max(needed, 2 * to.messages.capacity()));
    }
    for (std::size_t i = 0; i < count; ++i) {
      tableq_c::add(to, rest.substr(0, sizes[i]), options);
      rest.remove_prefix(sizes[i]);
    }
  });
}
int tq_batch_add_id(tq_batch* batch, int64_t id, int32_t priority, tq_error** error) {
  return calling(error, [&] { checked(batch).ids.push_back({.id = {id}, .priority = priority}); });
}
int tq_batch_add_receipts(tq_batch* batch, const tq_result* taken, const tq_options* options,
                          tq_error** error) {
  return calling(error, [&] {
    tq_batch& to = checked(batch);
    const tq_result& from = checked(taken);
    const tableq_c::failure_values* const failure =
        options == nullptr ? nullptr : &tableq_c::values_of<tableq_c::failure_values>(options);
    const std::vector<tableq::delivery>* const all = tableq_c::deliveries_of(from);
    if (all == nullptr) tableq_c::refuse("this is no result of tq_take");
    tableq_c::expect_receipts(to);
    to.receipts.reserve(to.receipts.size() + all->size());
    for (const tableq::delivery& each : *all) tableq_c::add_receipt(to, each.receipt, failure);
  });
}
size_t tq_batch_count(const tq_batch* batch) {
  const tq_batch* const known = tableq_c::usable(batch);
  return known == nullptr ? 0
                          : known->messages.size() + known->receipts.size() + known->rows.size() +
                                known->ids.size() + known->schedules.size();
}
void tq_batch_clear(tq_batch* batch) {
  tq_batch* const known = tableq_c::usable(batch);
  if (known == nullptr) return;
  known->messages.clear();
  known->keys.clear();
  known->receipts.clear();
  known->failures.clear();
  known->rows.clear();
  known->ids.clear();
  known->schedules.clear();
}
void tq_batch_free(tq_batch* batch) {
  tableq_c::end(batch);
}
