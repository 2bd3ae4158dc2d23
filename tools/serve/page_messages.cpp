#include <array>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "filter.hpp"
#include "messages.hpp"
#include "row_json.hpp"
#include "site.hpp"
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

html message_row(const call& asked, const stored_message& one, message_state state,
                 tableq::timestamp now, bool groups, bool few) {
  html out(R"(<tr><th scope="row"><a href="{}">{}</a></th>)",
           asked.here("/messages/" + std::to_string(one.id.value)), one.id.value);
  out.put(R"(<td class="n" data-label="Priority">{}</td>)", one.priority);
  if (!few) {
    out.put(R"(<td class="n" data-label="Attempts">{}</td><td data-label="Key">{}</td>)",
            one.attempts, one.key ? foreign_start(*one.key, 40) : html());
  }
  if (groups && !few) {
    out.put(R"(<td data-label="Group">{}</td>)",
            one.group ? foreign_start(*one.group, 40) : html());
  }
  out.put(R"(<td data-label="Added">{}</td>)", when(one.created_at, now));
  const auto time = one.finished_at ? one.finished_at : one.due_at;
  if (!time_heading(state).view().empty()) {
    out.put(R"(<td data-label="{}">{}</td>)", time_heading(state),
            time ? when(*time, now) : html());
  }
  if (!few) {
    out.put(R"(<td class="error" data-label="Last error">{}</td>)",
            one.errors.empty() ? html() : foreign_start(one.errors.back().error, 120));
  }
  out.put("</tr>");
  return out;
}

html table_of(const call& asked, const selection& found, message_state state, tableq::timestamp now,
              bool groups) {
  const bool few = found.detail == tableq::message_detail::seen;
  html out;
  if (few) out += no_right("more of each message");
  out.put(R"(<table class="messages"><caption class="unseen">Messages</caption><thead><tr>)"
          R"(<th scope="col">Message</th><th scope="col" class="n">Priority</th>)");
  if (!few) out.put(R"(<th scope="col" class="n">Attempts</th><th scope="col">Key</th>)");
  if (groups && !few) out.put(R"(<th scope="col">Group</th>)");
  out.put(R"(<th scope="col">Added</th>)");
  if (!time_heading(state).view().empty()) {
    out.put(R"(<th scope="col">{}</th>)", time_heading(state));
  }
  if (!few) out.put(R"(<th scope="col">Last error</th>)");
  out.put("</tr></thead><tbody>");
  for (const stored_message& each : found.messages) {
    out += message_row(asked, each, state, now, groups, few);
  }
  out.put("</tbody></table>");
  return out;
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
  const auto now = queue.figures ? queue.figures->as_of() : tableq::timestamp();

  page out{.title = "Messages of " + asked.queue, .body = {}, .crumbs = queue_crumbs(asked, true)};
  out.body.put("<h1>Messages</h1>");
  out.body += tabs(asked, queue, state);
  out.body += filter_form(asked, state);
  if (found.messages.empty()) {
    out.body.put(R"(<p class="empty">{}</p>)",
                 found.next.empty() ? literal("There is no such message.")
                                    : literal("None among the messages that were looked at."));
  } else {
    out.body += table_of(asked, found, state, now, queue.info.groups.has_value());
  }
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

/// The payload in one line, if it may be shown.
html peek_row(const tableq::message& one, tableq::timestamp now) {
  return html(
      R"(<tr><th scope="row">{}</th><td data-label="Added">{}</td><td data-label="Bytes" class="n">{}</td>)"
      R"(<td class="error" data-label="Payload">{}</td></tr>)",
      one.id.value, when(one.created_at, now),
      number(static_cast<std::int64_t>(one.payload.size())), foreign_start(one.payload, 200));
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
  const auto now = queue.figures ? queue.figures->as_of() : tableq::timestamp();
  html rows;
  std::visit(
      [&]<class Queue>(const Queue& one) {
        if constexpr (std::is_base_of_v<tableq::destructive_queue, Queue>) {
          for (const auto& each : one.peek(page_size)) rows += peek_row(each, now);
        } else if constexpr (std::is_same_v<Queue, tableq::table_queue>) {
          for (const auto& each : one.peek(page_size)) {
            rows.put(R"(<tr><td class="error" colspan="4">{}</td></tr>)",
                     foreign_start(row_json(each), 400));
          }
        }
      },
      opened);
  if (rows.empty()) {
    out.body.put(R"(<p class="empty">No message is ready.</p>)");
    return out;
  }
  out.body.put(
      R"(<table class="messages"><caption class="unseen">The next messages</caption><thead><tr>)"
      R"(<th scope="col">Message</th><th scope="col">Added</th><th scope="col" class="n">Bytes</th>)"
      R"(<th scope="col">Payload</th></tr></thead><tbody>{}</tbody></table>)",
      rows);
  out.body.put(R"(<p class="quiet">Up to {} that a read would return next.</p>)", page_size);
  return out;
}

}  // namespace

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
