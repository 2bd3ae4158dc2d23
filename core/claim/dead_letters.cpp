#include "core/claim/dead_letters.hpp"

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "core/claim/items.hpp"
#include "core/input/codec.hpp"
#include "core/input/utf8.hpp"
#include "core/queue/effects.hpp"
#include "core/seam/claim_statements.hpp"

namespace tableq::inline v0::core {
namespace {

/// Takes messages out of one queue and puts them into another, ready.
/// @param state what they must be; others are left.
/// @param edit changes the headers on the way.
template <class Edit>
std::size_t move_messages(const queue_state& from, const queue_state& to, transaction_state& tx,
                          message_state state, std::span<const message_id> ids, Edit edit) {
  auto rows = from.execute(&tx, statements::claim_remove, {.state = state}, items_of(ids));
  std::deque<std::string> texts;  // keeps its elements where they are
  std::vector<adopt_item> items;
  items.reserve(rows.size());
  for (const auto& row : rows) {
    std::optional<headers> read = to_headers(row.headers);
    if (!read) read = headers{{std::string(unread_header), to_plain_utf8(*row.headers)}};
    headers& values = *read;
    edit(values);
    adopt_item one{.payload = row.payload,
                   .priority = row.priority,
                   .created_at = row.created_at,
                   .key = row.key,
                   .errors = row.errors};
    if (!values.empty()) one.headers = texts.emplace_back(encode_headers(values));
    items.push_back(one);
  }
  if (items.empty()) return 0;
  to.execute(&tx, statements::claim_adopt, {}, items);
  apply(to, &tx, {.readable = items.size(), .readmitted = true});
  return items.size();
}

}  // namespace

void move_to_dead_letters(const queue_state& of, transaction_state& tx,
                          std::span<const message_id> ids) {
  move_messages(of, *of.dead_letters(), tx, message_state::dead, ids, [&](headers& values) {
    values.insert_or_assign(std::string(source_header), of.name());
  });
}

std::size_t move_back(const queue_state& of, transaction_state& tx,
                      std::span<const message_id> ids) {
  return move_messages(*of.dead_letters(), of, tx, message_state::ready, ids, [](headers& values) {
    if (const auto at = values.find(source_header); at != values.end()) values.erase(at);
  });
}

}  // namespace tableq::inline v0::core
