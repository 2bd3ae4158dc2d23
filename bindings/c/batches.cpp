// Batches of messages: a message at the end of many.

#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "fields.hpp"
#include "handles.hpp"
#include "options.hpp"

namespace tableq_c {

std::optional<tableq::batch_id> batch_values::all() const {
  if (!id) {
    if (member) refuse("the receipt of a member needs the id of its batch");
    return std::nullopt;
  }
  tableq::batch_id out{.value = *id};
  if (member) out.member = tableq::parse_receipt(*member);
  return out;
}

tableq::batch_options begin_values::all(std::string_view bytes) const {
  tableq::batch_options out{.parent = parent.all(), .name = name};
  if (then) {
    if (then->empty()) refuse("then is the name of a queue");
    out.then = *this;
    out.then->queue = *then;
    out.then->payload = bytes;
  } else if (!bytes.empty() || !headers.empty() || key || group || priority != 0) {
    refuse("the message at the end needs a queue: give it as `then`");
  }
  return out;
}

namespace {

using tableq::batch_info;
constexpr std::array batch_columns = {
    member<batch_info, &batch_info::id>("batch"),
    member_as<filled, batch_info, &batch_info::name>("name"),
    member<batch_info, &batch_info::total>("total"),
    member<batch_info, &batch_info::outstanding>("outstanding"),
    member<batch_info, &batch_info::completed>("completed"),
    member<batch_info, &batch_info::dead>("dead"),
    member<batch_info, &batch_info::removed>("removed"),
    member<batch_info, &batch_info::gone>("gone"),
    member<batch_info, &batch_info::sealed>("sealed"),
    member<batch_info, &batch_info::cancelled>("cancelled"),
    member_as<filled, batch_info, &batch_info::then>("then"),
    member<batch_info, &batch_info::created_at>("created_at"),
    member<batch_info, &batch_info::finished_at>("finished_at"),
    member<batch_info, &batch_info::counted_to>("counted_to"),
};

tableq::batch batch_in(tq_database* db, tq_transaction* tx, std::int64_t id) {
  tableq::batch found = checked(db).db.batch(id);
  if (tx != nullptr) found = found.in(checked(tx).tx());
  return found;
}

}  // namespace
}  // namespace tableq_c

using namespace tableq_c;

int tq_database_batches(tq_database* db, size_t max, int64_t before, size_t count_to,
                        tq_result** batches, tq_error** error) {
  return making(batches, error, [&] {
    tableq::batch_page page{.max = max};
    if (before != 0) page.before = before;
    if (count_to != 0) page.count_to = count_to;
    return made(checked(db).db.batches(page), batch_columns);
  });
}
int tq_database_find_batch(tq_database* db, tq_transaction* tx, int64_t id, tq_result** batch,
                           tq_error** error) {
  return making(batch, error,
                [&] { return made(listed_if(batch_in(db, tx, id).get()), batch_columns); });
}
int tq_database_seal_batch(tq_database* db, tq_transaction* tx, int64_t id, tq_error** error) {
  return calling(error, [&] { batch_in(db, tx, id).seal(); });
}
int tq_database_cancel_batch(tq_database* db, int64_t id, int* open, tq_error** error) {
  return telling(open, error, [&] { return batch_in(db, nullptr, id).cancel() ? 1 : 0; });
}

int tq_queue_begin_batch(tq_queue* queue, tq_transaction* tx, const void* payload, size_t size,
                         const tq_options* options, int64_t* batch, tq_error** error) {
  return making(batch, error, [&] {
    const auto end = values_of<begin_values>(options).all(text_of(payload, size));
    return on_claim(queue, tx, "tq_queue_begin_batch",
                    [&](auto& claim) { return claim.begin_batch(end).id(); });
  });
}
int tq_queue_batch_of(tq_queue* queue, tq_transaction* tx, const char* receipt, size_t size,
                      int64_t* batch, tq_error** error) {
  return making(batch, error, [&] {
    const auto found = on_claim(queue, tx, "tq_queue_batch_of", [&](auto& claim) {
      return claim.batch_of(tableq::parse_receipt(text_of(receipt, size)));
    });
    return found ? found->value : std::int64_t{0};
  });
}
