#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "filter.hpp"
#include "messages.hpp"
#include "row_json.hpp"
#include "site.hpp"
#include "table.hpp"
#include "words.hpp"

namespace tool::web {

namespace {

using tableq::message_state;
using tableq::stored_message;

constexpr std::size_t page_size = 50;
constexpr std::array<message_state, 6> all_states{message_state::ready,   message_state::leased,
                                                  message_state::delayed, message_state::held,
                                                  message_state::done,    message_state::dead};

html tabs(const call& asked, const queue_view& queue, message_state now) {
  html out(R"(<nav class="tabs" aria-label="States">)");
  for (const message_state each : all_states) {
    const std::string name(to_string(each));
    const figure count = queue.find(name);
    out.put(
        R"(<a href="{}"{}>{} <span class="n">{}</span></a>)", asked.here("/messages?state=" + name),
        each == now ? literal(R"( aria-current="page")") : literal(""), name, count_words(count));
  }
  out.put("</nav>");
  return out;
}

/// The meaning of the time of a message in this state.
literal time_heading(message_state state) {
  switch (state) {
    case message_state::delayed:
      return "Due";
    case message_state::leased:
      return "Lease ends";
    case message_state::done:
      return "Finished";
    case message_state::dead:
      return "Died";
    default:
      return "";
  }
}

html filter_form(const call& asked, message_state state) {
  const bool filtered = !filter_query(asked.from.query).empty();
  return html(
      R"(<details class="more"{}><summary>Filter</summary><form class="filter" action="{}">)"
      R"(<input type="hidden" name="state" value="{}">{}<div class="buttons"><button>Show</button></div>)"
      R"(</form></details>)",
      filtered ? literal(" open") : literal(""), asked.here("/messages"),
      std::string(to_string(state)), filter_inputs(asked));
}

page claim_page(const call& asked, const queue_view& queue, const tableq::claim_queue& opened) {
  const std::string& wanted = asked.from.asked("state");
  const message_state state = wanted.empty() ? message_state::ready : parse_state(wanted);
  const selection found = select(asked, opened, state);

  page out{.title = "Messages of " + asked.queue, .body = {}, .crumbs = queue_crumbs(asked, true)};
  out.body.put("<h1>Messages</h1>");
  out.body += tabs(asked, queue, state);
  out.body += filter_form(asked, state);
  out.body += messages_table(asked, queue, found, state);
  out.body.put(R"(<p class="pager">)");
  const std::string first = asked.here("/messages?state=" + std::string(to_string(state))) +
                            filter_query(asked.from.query);
  if (!asked.from.asked("after").empty()) out.body.put(R"(<a href="{}">First page</a> )", first);
  if (!found.next.empty()) {
    out.body.put(R"(<a rel="next" href="{}">Go on</a>)", first + "&after=" + found.next);
  }
  out.body.put("</p>");
  return out;
}

html peek_table(const std::vector<tableq::message>& next, tableq::timestamp now) {
  using tableq::message;
  if (next.empty()) return {};
  return table<message>(
      "The next messages",
      {{"Message", [](const message& one) { return html("{}", one.id.value); }},
       {"Added", [&](const message& one) { return when(one.created_at, now); }},
       {"Bytes", [](const message& one) { return html("{}", number(one.payload.size())); }, "n"},
       {"Payload", [](const message& one) { return foreign_start(one.payload, 200); }, "error"}},
      next);
}

html rows_table(const std::vector<tableq::row>& next) {
  using tableq::row;
  if (next.empty()) return {};
  return table<row>("The next rows",
                    {{"Row", [](const row& one) { return foreign_start(row_json(one), 400); }}},
                    next);
}

/// The next messages of a queue that has no page for each one.
page peek_page(const call& asked, const queue_view& queue, const any_source& opened) {
  page out{.title = "Next messages of " + asked.queue,
           .body = html("<h1>Next messages</h1>"),
           .crumbs = queue_crumbs(asked, true)};
  if (!asked.site.shows_payloads) {
    out.body.put(
        R"(<p class="empty">A message of this kind has only an id, a time and a payload, and payloads are )"
        R"(hidden. Start the server with --show-payloads to see them.</p>)");
    return out;
  }
  const auto now = queue.now();
  const html rows = std::visit(
      [&]<class Queue>(const Queue& one) -> html {
        if constexpr (std::is_base_of_v<tableq::destructive_queue, Queue>) {
          return peek_table(one.peek(page_size), now);
        } else if constexpr (std::is_same_v<Queue, tableq::table_queue>) {
          return rows_table(one.peek(page_size));
        } else {
          return {};
        }
      },
      opened);
  if (rows.empty()) {
    out.body.put(R"(<p class="empty">No message is ready.</p>)");
    return out;
  }
  out.body += rows;
  out.body.put(R"(<p class="quiet">Up to {} that a read would return next.</p>)", page_size);
  return out;
}

}  // namespace

html messages_table(const call& asked, const queue_view& queue, const selection& found,
                    message_state state) {
  if (found.messages.empty()) {
    return html(R"(<p class="empty">{}</p>)",
                found.next.empty() ? literal("There is no such message.")
                                   : literal("None among the messages that were looked at."));
  }
  const auto now = queue.now();
  const bool few = found.detail == tableq::message_detail::seen;
  std::vector<column<stored_message>> columns{
      {"Message",
       [&](const stored_message& one) {
         return html(R"(<a href="{}">{}</a>)",
                     asked.here("/messages/" + std::to_string(one.id.value)), one.id.value);
       }},
      {"Priority", [](const stored_message& one) { return html("{}", one.priority); }, "n"}};
  const auto add = [&](literal name, auto cell, literal style = "") {
    columns.push_back({name, cell, style});
  };
  const auto text = [](const std::optional<std::string>& of) {
    return of ? foreign_start(*of, 40) : html();
  };
  if (!few) {
    add(
        "Attempts", [](const stored_message& one) { return html("{}", one.attempts); }, "n");
    add("Key", [&](const stored_message& one) { return text(one.key); });
    if (queue.info.groups) add("Group", [&](const stored_message& one) { return text(one.group); });
  }
  add("Added", [&](const stored_message& one) { return when(one.created_at, now); });
  if (!time_heading(state).view().empty()) {
    add(time_heading(state), [&](const stored_message& one) {
      const auto time = one.finished_at ? one.finished_at : one.due_at;
      return time ? when(*time, now) : html();
    });
  }
  if (state == message_state::leased) {
    add("Progress", [&](const stored_message& one) {
      return one.progress ? progress_words(*one.progress, now) : html();
    });
  }
  if (!few) {
    add(
        "Last error",
        [](const stored_message& one) {
          return one.errors.empty() ? html() : foreign_start(one.errors.back().error, 160);
        },
        "error");
  }
  return html("{}{}", few ? no_right("more of each message") : html(),
              table("Messages", columns, found.messages));
}

page messages_page(const call& asked) {
  const auto all = asked.watched().view();
  const queue_view& queue = view_of(asked, *all);
  const any_source opened = source_of(asked);
  if (const auto* claim = std::get_if<tableq::claim_queue>(&opened)) {
    return claim_page(asked, queue, *claim);
  }
  return peek_page(asked, queue, opened);
}

}  // namespace tool::web
