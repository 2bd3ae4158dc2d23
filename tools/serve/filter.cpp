#include "filter.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "cursor.hpp"
#include "exit_status.hpp"
#include "parse.hpp"

namespace tool::web {

namespace {

struct condition {
  const char* name;
  literal words;
  literal hint;
};

constexpr std::array<condition, 6> conditions{{
    {"key", "Key begins with", ""},
    {"group", "Group", ""},
    {"error", "Last error has", ""},
    {"older", "Older than", "such as 10m or 7d"},
    {"header", "Header", "its name"},
    {"value", "Value of the header", ""},
}};

/// Other fields of pages with a filter.
constexpr std::array<std::string_view, 5> others{"after", "count", "form", "said", "state"};

std::string value_of(const fields& from, std::string_view name) {
  const auto found = from.find(name);
  return found == from.end() ? std::string() : found->second;
}

bool concerns_headers(std::string_view name) {
  return name == "header" || name == "value";
}

}  // namespace

std::optional<tableq::message_filter> read_filter(const fields& from, bool with_headers) {
  // A condition with a wrong name would select all.
  for (const auto& [name, value] : from) {
    const bool known =
        std::any_of(conditions.begin(), conditions.end(),
                    [&wanted = name](const condition& each) { return each.name == wanted; });
    if (!known && std::find(others.begin(), others.end(), name) == others.end()) {
      throw usage_error("There is no condition " + in_quotes(name) + ".");
    }
  }
  tableq::message_filter out;
  bool any = false;
  const auto text = [&](const char* name) -> std::optional<std::string> {
    std::string value = value_of(from, name);
    if (value.empty()) return std::nullopt;
    any = true;
    return value;
  };
  out.key_prefix = text("key");
  out.group = text("group");
  out.error = text("error");
  if (const auto older = text("older")) out.older_than = parse_duration("The time", *older);
  if (const auto header = text("header")) {
    if (!with_headers) throw usage_error("Headers are hidden, so they cannot be asked for.");
    out.header = {.name = *header, .value = value_of(from, "value")};
  }
  if (!out.header && !value_of(from, "value").empty()) {
    throw usage_error("The value of a header goes with its name.");
  }
  return any ? std::optional(out) : std::nullopt;
}

std::string filter_query(const fields& from) {
  std::string out;
  for (const condition& each : conditions) {
    const std::string value = value_of(from, each.name);
    if (!value.empty()) out += std::string("&") + each.name + "=" + escaped(value);
  }
  return out;
}

html filter_fields(const fields& from) {
  html out;
  for (const condition& each : conditions) {
    const std::string value = value_of(from, each.name);
    if (value.empty()) continue;
    out.put(R"(<input type="hidden" name="{}" value="{}">)", each.name, value);
  }
  return out;
}

html filter_inputs(const call& asked) {
  html out;
  for (const condition& each : conditions) {
    if (concerns_headers(each.name) && !asked.site.shows_payloads) continue;
    out.put(
        R"(<div><label for="f-{}">{}</label><input id="f-{}" name="{}" value="{}" placeholder="{}"></div>)",
        each.name, each.words, each.name, each.name, value_of(asked.from.query, each.name),
        each.hint);
  }
  return out;
}

selection select(const call& asked, const tableq::claim_queue& opened,
                 tableq::message_state state) {
  constexpr std::size_t most = 50;
  const bool leased = state == tableq::message_state::leased;
  selection out;
  if (auto filter = read_filter(asked.from.query, asked.site.shows_payloads)) {
    filter->state = state;
    // A filter reads more than a viewer may: then the page says so.
    auto found = opened.list(
        *filter, {.max = most,
                  .after = read_place(asked.from.asked("after")),
                  .with = {.detail = tableq::message_detail::outline, .progress = leased}});
    out.messages = std::move(found.messages);
    if (found.next) out.next = place_text(*found.next);
    return out;
  }
  const auto after = read_cursor(asked.from.asked("after"), state);
  out.detail = read_as_allowed(tableq::message_detail::outline, [&](tableq::message_detail detail) {
    out.messages = opened.list(
        state, {.max = most + 1, .after = after, .with = {.detail = detail, .progress = leased}});
  });
  if (out.messages.size() > most) {
    out.messages.pop_back();
    out.next = cursor_of(out.messages.back());
  }
  return out;
}

std::string place_text(const tableq::filter_place& place) {
  return std::to_string(place.part) + "." + std::to_string(place.at) + "." +
         std::to_string(place.id) + "." + std::to_string(place.until);
}

std::optional<tableq::filter_place> read_place(const std::string& text) {
  if (text.empty()) return std::nullopt;
  const auto numbers = read_numbers<4>(text);
  if (numbers[0] < 0 || numbers[0] > 1) throw usage_error("This address is not whole.");
  return tableq::filter_place{.part = static_cast<int>(numbers[0]),
                              .at = numbers[1],
                              .id = numbers[2],
                              .until = numbers[3]};
}

}  // namespace tool::web
