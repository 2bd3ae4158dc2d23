#include "batch.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "options.hpp"
#include "result.hpp"

namespace tableq_c {

void refuse_sort() {
  refuse(
      "the batch has items of another sort: one batch holds messages, or rows, or receipts, or "
      "ids, or schedules, as its call needs them");
}

namespace {

bool has_failures(const tq_batch& batch) {
  return batch.size() != 0 && std::holds_alternative<tq_batch::failures>(batch.items);
}

}  // namespace

const tq_batch::receipts& receipts_of(const tq_batch& batch, tq_batch::receipts& parsed) {
  if (has_failures(batch)) refuse("only tq_fail_batch takes failures");
  if (!std::holds_alternative<tq_batch::messages>(batch.items)) {
    return items_of<tq_batch::receipts>(batch);
  }
  if (!batch.keys.empty()) refuse_sort();
  parsed.reserve(batch.size());
  for (const tableq::new_claim_message& each : items_of<tq_batch::messages>(batch)) {
    parsed.push_back(tableq::parse_receipt(each.payload));
  }
  return parsed;
}

tq_batch::failures failures_of(const tq_batch& batch) {
  if (has_failures(batch)) return items_of<tq_batch::failures>(batch);
  tq_batch::receipts parsed;
  tq_batch::failures out;
  out.reserve(batch.size());
  for (const tableq::receipt& each : receipts_of(batch, parsed)) out.push_back({.receipt = each});
  return out;
}

namespace {

/// Adds a failure if there are options or failures before it: earlier receipts become failures.
void add_receipt(tq_batch& batch, tableq::receipt receipt, const failure_values* how) {
  if (how == nullptr && !has_failures(batch)) {
    if (std::holds_alternative<tq_batch::messages>(batch.items)) {
      tq_batch::receipts parsed;
      static_cast<void>(receipts_of(batch, parsed));
      batch.items = std::move(parsed);
    }
    items_of<tq_batch::receipts>(batch).push_back(std::move(receipt));
    return;
  }
  if (!has_failures(batch)) batch.items = failures_of(batch);
  tableq::failure& added =
      items_of<tq_batch::failures>(batch).emplace_back(tableq::failure{std::move(receipt), {}, {}});
  if (how == nullptr) return;
  added.error = how->error.value_or("");
  added.options = *how;
}

// Messages are long to move: batches of up to so many never do.
constexpr std::size_t usual_messages = 128;

void add_message(tq_batch& batch, std::string_view payload, const message_values& values) {
  auto& messages = items_of<tq_batch::messages>(batch);
  for (const std::string_view key : values.keys) {
    if (key == "wait_ms") refuse("wait_ms is for the whole batch: give it to tq_enqueue_batch");
    if (std::find(batch.keys.begin(), batch.keys.end(), key) == batch.keys.end()) {
      batch.keys.push_back(key);
    }
  }
  messages.push_back({.payload = std::string(payload), .options = values.claim_options()});
}

void add(tq_batch& batch, std::string_view bytes, const tq_options* options) {
  if (options == nullptr) {
    if (has_failures(batch) ||
        (batch.size() != 0 && std::holds_alternative<tq_batch::receipts>(batch.items))) {
      add_receipt(batch, tableq::parse_receipt(bytes), nullptr);
    } else {
      auto& messages = items_of<tq_batch::messages>(batch);
      if (messages.capacity() == 0) messages.reserve(usual_messages);
      messages.emplace_back().payload = bytes;
    }
    return;
  }
  const auto& values = checked(options).values;
  if (const auto* const message = std::get_if<message_values>(&values)) {
    add_message(batch, bytes, *message);
  } else if (const auto* const how = std::get_if<failure_values>(&values)) {
    add_receipt(batch, tableq::parse_receipt(bytes), how);
  } else if (const auto* const rule = std::get_if<tableq::schedule>(&values)) {
    tableq::schedule one = *rule;
    one.payload = bytes;
    items_of<std::vector<tableq::schedule>>(batch).push_back(std::move(one));
  } else if (const auto* const row = std::get_if<tableq::row>(&values)) {
    if (!bytes.empty()) refuse("a row has no payload: its columns are its options");
    items_of<std::vector<tableq::row>>(batch).push_back(*row);
  } else {
    refuse("these options are for no item of a batch");
  }
}

}  // namespace
}  // namespace tableq_c

using namespace tableq_c;

int tq_batch_new(tq_batch** batch, tq_error** error) {
  return making(batch, error, [] { return std::make_unique<tq_batch>(); });
}
int tq_batch_add(tq_batch* batch, const void* bytes, size_t size, const tq_options* options,
                 tq_error** error) {
  return calling(error, [&] { add(checked(batch), text_of(bytes, size), options); });
}
int tq_batch_add_all(tq_batch* batch, const void* bytes, const size_t* sizes, size_t count,
                     const tq_options* options, tq_error** error) {
  return calling(error, [&] {
    tq_batch& to = checked(batch);
    if (sizes == nullptr && count > 0) refuse("the sizes of the items are NULL");
    if (options != nullptr && std::holds_alternative<tableq::row>(checked(options).values)) {
      refuse("rows are added one by one: tq_batch_add");
    }
    std::size_t all = 0;
    for (std::size_t i = 0; i < count; ++i) {
      if (sizes[i] > PTRDIFF_MAX - all) refuse("the sizes of the items are longer than any memory");
      all += sizes[i];
    }
    std::string_view rest = text_of(bytes, all);
    auto* const messages = std::get_if<tq_batch::messages>(&to.items);
    if (messages != nullptr && messages->size() + count > messages->capacity()) {
      messages->reserve(std::max(messages->size() + count, 2 * messages->capacity()));
    }
    for (std::size_t i = 0; i < count; ++i) {
      add(to, rest.substr(0, sizes[i]), options);
      rest.remove_prefix(sizes[i]);
    }
  });
}
int tq_batch_add_id(tq_batch* batch, int64_t id, int32_t priority, tq_error** error) {
  return calling(error, [&] {
    items_of<std::vector<tableq::new_priority>>(checked(batch))
        .push_back({.id = {id}, .priority = priority});
  });
}
int tq_batch_add_receipts(tq_batch* batch, const tq_result* taken, const tq_options* options,
                          tq_error** error) {
  return calling(error, [&] {
    tq_batch& to = checked(batch);
    const auto* const from = items_of<taken_row>(checked(taken));
    if (from == nullptr) refuse("this is no result of tq_take");
    const auto* const how = options == nullptr ? nullptr : &values_of<failure_values>(options);
    if (to.size() == 0 && how == nullptr) items_of<tq_batch::receipts>(to).reserve(from->size());
    for (const taken_row& each : *from) add_receipt(to, each.message->receipt, how);
  });
}
size_t tq_batch_count(const tq_batch* batch) {
  const tq_batch* const known = usable(batch);
  return known == nullptr ? 0 : known->size();
}
void tq_batch_clear(tq_batch* batch) {
  tq_batch* const known = usable(batch);
  if (known == nullptr) return;
  std::visit([](auto& all) { all.clear(); }, known->items);
  known->keys.clear();
}
void tq_batch_free(tq_batch* batch) {
  end(batch);
}
