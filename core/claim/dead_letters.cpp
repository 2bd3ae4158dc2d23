#include "core/claim/dead_letters.hpp"

#include <charconv>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/claim/operations.hpp"
#include "core/database/transaction_state.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/effects.hpp"
#include "core/queue/queue_hook.hpp"
#include "core/seam/statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// Takes messages out of one queue and puts them into another, ready. One of them is a dead-letter
/// queue.
/// @param state messages in other states stay.
/// @param holds_keys whether they hold their keys there.
/// @param edit changes the headers of each message.
/// @return their new ids, in the order of the calls of `edit`.
template <class Edit>
std::vector<message_id> move_messages(const queue_state& source, const queue_state& target,
                                      transaction_state& tx, message_state state,
                                      std::span<const message_id> ids, bool holds_keys, Edit edit) {
  auto rows = source.execute(&tx, statements::claim_remove, {.states = bit_of(state)}, ids);
  std::vector<restore_item> items;
  items.reserve(rows.size());
  for (const auto& row : rows) {
    std::optional<headers> read = to_headers(row.headers);
    if (!read) read = headers{{std::string(unread_header), to_plain_utf8(*row.headers)}};
    headers& values = *read;
    edit(values, row.id);
    restore_item one{.payload = row.payload,
                     .priority = row.priority,
                     .created_at = row.created_at,
                     .errors = row.errors};
    (holds_keys && row.key && is_key(*row.key) ? one.key : one.past_key) = row.key;
    if (!values.empty()) one.headers = encode_headers(values, source.database().narrow_texts());
    items.push_back(std::move(one));
  }
  if (items.empty()) return {};
  const auto added = target.execute(&tx, statements::claim_adopt, {}, items);
  if (added.size() < items.size()) {
    tx.spoil();
    throw error(errc::conflict, advice::transaction,
                "a row of the queue " + target.name() +
                    " has the key or the id of the message: another one has taken the key "
                    "meanwhile, or the database draws ids that are taken, which `tableq doctor` "
                    "tells");
  }
  apply(source, &tx, {.left = true});
  apply(target, &tx, {.readable = items.size(), .readmitted = true});
  std::vector<message_id> out(items.size());
  for (const auto& row : added) out[row.item] = row.id;
  return out;
}

}  // namespace

void forget_keys(const queue_state& queue, transaction_state& tx, std::span<const key_item> keys) {
  if (keys.empty() || !queue.info().key_windows) return;
  queue.execute(&tx,
                queue.info().keep_completed ? statements::claim_free : statements::claim_forget, {},
                keys);
}

std::set<std::string_view> held_keys(const queue_state& queue, transaction_state& tx,
                                     const std::set<std::string_view>& keys) {
  std::vector<key_item> items;
  items.reserve(keys.size());
  for (const std::string_view key : keys) items.push_back({key});
  forget_keys(queue, tx, items);
  std::set<std::string_view> held;
  for (const auto& row : queue.execute(&tx, statements::claim_find_key, {}, items)) {
    held.insert(items[row.item].key);
  }
  return held;
}

void move_to_dead_letters(const queue_state& queue, transaction_state& tx,
                          std::span<const message_id> ids) {
  on_dead_letters(queue, [&] {
    return move_messages(queue, *queue.dead_letters(), tx, message_state::dead, ids, false,
                         [&](headers& values, message_id id) {
                           values.insert_or_assign(std::string(source_header), queue.name());
                           if (!queue.info().batches) return;
                           values.insert_or_assign(std::string(source_id_header),
                                                   std::to_string(queue.info().identity) + "/" +
                                                       std::to_string(id.value));
                         });
  });
}

redriven move_back(const queue_state& queue, transaction_state& tx,
                   std::span<const stored_message> letters) {
  // A message that was taken has lost its key for good in key_scope::waiting.
  const bool holds_keys = queue.info().keys == key_scope::active;
  std::set<std::string_view> taken;
  if (holds_keys) {
    std::set<std::string_view> keys;
    for (const stored_message& each : letters) {
      if (each.key) keys.insert(*each.key);
    }
    taken = held_keys(queue, tx, keys);
  }
  std::vector<message_id> ids;
  for (const stored_message& each : letters) {
    // Of two messages with one key the first returns.
    if (!holds_keys || !each.key || taken.insert(*each.key).second) ids.push_back(each.id);
  }
  std::vector<rejoin_item> returned;
  const auto edit = [&](headers& values, message_id /*id*/) {
    if (const auto at = values.find(source_header); at != values.end()) values.erase(at);
    returned.emplace_back();
    const auto former = values.find(source_id_header);
    if (former == values.end()) return;
    // In a queue that was created anew, or in another database, the number is another message's.
    const std::string mine = std::to_string(queue.info().identity) + "/";
    const std::string& text = former->second;
    if (text.starts_with(mine)) {
      std::from_chars(text.data() + mine.size(), text.data() + text.size(),
                      returned.back().former.value);
    }
    values.erase(former);
  };
  const std::vector<message_id> back =
      move_messages(*queue.dead_letters(), queue, tx, message_state::ready, ids, holds_keys, edit);
  if (queue_hook* const hook = hook_of(queue)) {
    for (std::size_t i = 0; i < back.size(); ++i) returned[i].id = back[i];
    std::erase_if(returned, [](const rejoin_item& each) { return each.former.value == 0; });
    if (!returned.empty()) hook->returned(queue, tx, returned);
  }
  return {.count = back.size(), .key_held = letters.size() - ids.size()};
}

bool came_from(const queue_state& queue, const stored_message& letter) {
  const auto source = letter.headers.find(source_header);
  return source != letter.headers.end() && source->second == queue.name() &&
         !letter.headers.contains(unread_header);
}

std::optional<letters_row> letters_in(const queue_state& letters, std::string_view source,
                                      std::size_t max) {
  try {
    return letters.execute(nullptr, statements::claim_letters, {.max = max, .source = source})
        .at(0);
  } catch (const error& failure) {
    const bool unread =
        failure.code() == errc::permission_denied || failure.code() == errc::not_found;
    if (!unread) throw;
    return std::nullopt;
  }
}

void refuse_dead_letters(const queue_state& queue, const error& failure) {
  throw error(errc::not_found, advice::never,
              "the dead-letter queue " + queue.dead_letters()->name() + " of the queue " +
                  queue.name() +
                  " is missing; create it again with `tableq create claim`, or open " +
                  queue.name() + " anew, which creates it where that is allowed",
              {.backend = queue.database().name(),
               .sqlstate = failure.sqlstate(),
               .native = failure.native()});
}

}  // namespace tableq::inline v0::core
