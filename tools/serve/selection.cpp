#include "selection.hpp"

#include <algorithm>
#include <initializer_list>
#include <limits>

#include "exit_status.hpp"
#include "messages.hpp"
#include "parse.hpp"

namespace tool::web {

using tableq::message_detail;
using tableq::message_state;
using tableq::stored_message;

namespace {

/// Other fields of pages with a filter.
constexpr std::array<std::string_view, 5> others{"after", "count", "form", "said", "state"};

// Places: where a page ended, as a part of an address.

std::string place_of(std::initializer_list<std::int64_t> numbers) {
  std::string out;
  for (const std::int64_t each : numbers) out += (out.empty() ? "" : ".") + std::to_string(each);
  return out;
}

/// So many numbers; none for an empty text. usage_error for another one.
std::vector<std::int64_t> numbers_of(const std::string& text, std::size_t count) {
  using all = std::numeric_limits<std::int64_t>;
  std::vector<std::int64_t> out;
  if (text.empty()) return out;
  for (const std::string& each : split(text, '.')) {
    out.push_back(parse_number("Each part of \"after\"", each, all::min(), all::max()));
  }
  if (out.size() == count) return out;
  throw usage_error("\"after\" is no place in this list. Begin at its first page.");
}

std::optional<stored_message> last_of(const std::string& text, message_state state) {
  const auto at = numbers_of(text, 3);
  if (at.empty()) return std::nullopt;
  stored_message out;
  out.id.value = at[0];
  out.priority = static_cast<std::int32_t>(at[1]);
  const bool finished = state == message_state::done || state == message_state::dead;
  (finished ? out.finished_at : out.due_at) = tableq::timestamp{std::chrono::milliseconds{at[2]}};
  return out;
}

std::optional<tableq::filter_place> filter_place_of(const std::string& text) {
  const auto at = numbers_of(text, 4);
  if (at.empty()) return std::nullopt;
  return tableq::filter_place{
      .part = static_cast<int>(at[0]), .at = at[1], .id = at[2], .until = at[3]};
}

/// Reads with this detail; what a viewer may read, if the user has no right to more.
/// @return whether it is that.
template <class Read>
bool read_as_allowed(tableq::look_options with, const Read& read) {
  try {
    read(with);
    return false;
  } catch (const tableq::error& failure) {
    if (failure.code() != tableq::errc::permission_denied) throw;
  }
  with.detail = message_detail::seen;
  with.result = false;
  read(with);
  return true;
}

/// The filter in a query or a form; nothing if it has no condition. usage_error for a wrong one.
std::optional<tableq::message_filter> read_filter(const call& asked, const fields& from) {
  // A condition with a wrong name would select all.
  for (const auto& [name, value] : from) {
    if (std::ranges::find(others, name) != others.end()) continue;
    if (std::ranges::find(conditions, name, &condition::name) == conditions.end()) {
      throw usage_error("There is no condition " + in_quotes(name) + ".");
    }
  }
  if (filter_query(from).empty()) return std::nullopt;
  const auto text = [&](const char* name) -> std::optional<std::string> {
    const std::string& value = from[name];
    return value.empty() ? std::nullopt : std::optional(value);
  };
  tableq::message_filter out{
      .group = text("group"), .key_prefix = text("key"), .error = text("error")};
  if (const auto older = text("older")) out.older_than = parse_duration("\"Older than\"", *older);
  if (const auto header = text("header")) {
    if (!asked.rules().shows_payloads)
      throw usage_error("Headers are hidden, so no filter can ask for them.");
    auto [name, value] = parse_assignment("The header", *header);
    out.header = {.name = std::move(name), .value = std::move(value)};
  }
  return out;
}

}  // namespace

tableq::message_filter dead_filter(const call& asked, const fields& from) {
  auto out = read_filter(asked, from).value_or(tableq::message_filter{.all = true});
  out.state = message_state::dead;
  return out;
}

std::string filter_query(const fields& from) {
  std::string out;
  for (const condition& each : conditions) {
    const std::string& value = from[each.name];
    if (!value.empty()) out += std::string("&") + each.name + "=" + escaped(value);
  }
  return out;
}

message_state wanted_state(const call& asked) {
  const std::string& wanted = asked.from.query["state"];
  return wanted.empty() ? message_state::ready : parse_state("a state", wanted);
}

selection select(const call& asked, message_state state, std::size_t most,
                 const tableq::look_options& with) {
  const tableq::claim_queue opened = claim_of(asked);
  const std::string& after = asked.from.query["after"];
  selection out;
  if (auto filter = read_filter(asked, asked.from.query)) {
    filter->state = state;
    // A filter reads more than a viewer may: then the page says so.
    auto found = opened.list(*filter, {.max = most, .after = filter_place_of(after), .with = with});
    out.messages = std::move(found.messages);
    if (const auto& next = found.next) {
      out.next = place_of({next->part, next->at, next->id, next->until});
    }
    return out;
  }
  const auto last = last_of(after, state);
  out.few = read_as_allowed(with, [&](const tableq::look_options& allowed) {
    out.messages = opened.list(state, {.max = most + 1, .after = last, .with = allowed});
  });
  if (out.messages.size() > most) {
    out.messages.pop_back();
    const stored_message& end = out.messages.back();
    const auto time =
        (end.finished_at ? end.finished_at : end.due_at).value_or(tableq::timestamp());
    out.next = place_of({end.id.value, end.priority, time.time_since_epoch().count()});
  }
  return out;
}

selection found_message(const call& asked) {
  const tableq::claim_queue opened = claim_of(asked);
  const tableq::message_id id = id_of(asked);
  std::optional<stored_message> found;
  selection out;
  out.few = read_as_allowed(
      {.detail = detail_for(asked), .progress = true, .result = asked.rules().shows_payloads},
      [&](const tableq::look_options& allowed) { found = opened.get(id, allowed); });
  if (!found) {
    throw page_error(
        404, "Message " + asked.item + " is not in the queue: it was completed or removed.");
  }
  out.messages.push_back(std::move(*found));
  return out;
}

}  // namespace tool::web
