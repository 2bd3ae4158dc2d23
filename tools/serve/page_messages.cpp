#include "pieces.hpp"
#include "row_json.hpp"
#include "selection.hpp"
#include "site.hpp"

namespace tool::web {

namespace {

using tableq::message_state;
using tableq::stored_message;

constexpr std::size_t page_size = 50;

html tabs(const call& asked, const queue_view& queue, message_state now) {
  html out(R"(<nav class="tabs" aria-label="States">)");
  for (const char* const name : {"ready", "leased", "delayed", "held", "done", "dead"}) {
    out.put(R"(<a href="{}"{}>{} <span class="n">{}</span></a>)",
            asked.here("/messages?state=") + name, current(to_string(now) == name), name,
            count_words(queue.find(name)));
  }
  return out.put("</nav>");
}

page claim_page(const call& asked, const queue_view& queue) {
  const message_state state = wanted_state(asked);
  const bool leased = state == message_state::leased;
  const selection found = select(asked, state, page_size,
                                 {.detail = tableq::message_detail::outline, .progress = leased});
  const std::string conditions = filter_query(asked.from.query);
  const std::string first =
      asked.here("/messages?state=" + std::string(to_string(state))) + conditions;
  page out{"Messages of " + asked.queue, html("<h1>Messages</h1>{}", tabs(asked, queue, state))};
  out.body.put(
      R"(<details class="more"{}><summary>Filter</summary><form class="filter" action="{}">)"
      R"({}{}<div class="buttons"><button>Show</button></div></form></details>)",
      conditions.empty() ? literal("") : literal(" open"), asked.here("/messages"),
      hidden("state", to_string(state)), filter_inputs(asked));
  out.body.put(R"({}<p class="pager">)", messages_table(asked, queue, found, state));
  if (!asked.from.asked("after").empty()) out.body.put(R"(<a href="{}">First page</a> )", first);
  if (!found.next.empty()) {
    out.body.put(R"(<a rel="next" href="{}">Go on</a>)", first + "&after=" + found.next);
  }
  out.body.put("</p>");
  return out;
}

html next_of(const tableq::destructive_queue& queue, tableq::timestamp now) {
  using one = const tableq::message&;
  const auto next = queue.peek(page_size);
  return next.empty()
             ? html()
             : table<tableq::message>(
                   "The next messages",
                   {{"Message", [](one of) { return html("{}", of.id.value); }},
                    {"Added", [&](one of) { return when(of.created_at, now); }},
                    {"Bytes", [](one of) { return html("{}", number(of.payload.size())); }, "n"},
                    {"Payload", [](one of) { return foreign(of.payload, 200); }, "error"}},
                   next);
}

html next_of(const tableq::table_queue& queue, tableq::timestamp /*now*/) {
  const auto next = queue.peek(page_size);
  return next.empty()
             ? html()
             : table<tableq::row>(
                   "The next rows",
                   {{"Row", [](const tableq::row& of) { return foreign(row_json(of), 400); }}},
                   next);
}

html next_of(const tableq::claim_queue& /*it has a page of its own*/, tableq::timestamp /*now*/) {
  return {};
}

html actions_of(const call& asked, const stored_message& one) {
  const bool waits = one.state == message_state::ready || one.state == message_state::delayed ||
                     one.state == message_state::held;
  const bool dead = one.state == message_state::dead;
  if (!asked.may_change() || (!waits && !dead)) return {};
  const std::string here = asked.here("/messages/" + asked.item);
  html out(R"(<div class="actions">)");
  if (dead) out += button(asked, here + "/redrive", "Redrive", {}, "main");
  if (one.state == message_state::delayed) {
    out += button(asked, here + "/ready", "Ready now", {}, "main");
  }
  if (waits) {
    out += button(
        asked, here + "/priority", "Set priority",
        html(
            R"(<label class="unseen" for="priority">Priority</label><input id="priority" )"
            R"(name="priority" type="number" value="{}" min="-2147483648" max="2147483647" required>)",
            one.priority));
  }
  return out.put("{}</div>", danger(asked, here + "/cancel", "Cancel", "Delete this message"));
}

html facts_of(const stored_message& one, tableq::timestamp now, bool few) {
  html out;
  if (one.key) fact(out, "Key", foreign(*one.key));
  if (one.group) fact(out, "Group", foreign(*one.group));
  fact(out, "Priority", one.priority);
  if (!few) fact(out, "Attempts", one.attempts);
  if (one.progress) fact(out, "Progress", progress_words(*one.progress, now));
  const auto time = [&](literal name, const std::optional<tableq::timestamp>& at) {
    if (at) fact(out, name, when(at, now));
  };
  time("Added", one.created_at);
  time(one.state == message_state::leased    ? literal("Lease ends")
       : one.state == message_state::delayed ? literal("Due")
                                             : literal("Ready since"),
       one.due_at);
  time("Taken at, by its taker", one.claimed_at);
  time("Expires", one.expires_at);
  time("Finished", one.finished_at);
  if (few)
    return section(
        "State", fact_list(out) += no_right("its key, group, errors, headers, payload and result"));
  return section("State", fact_list(out));
}

html errors_of(const stored_message& one, tableq::timestamp now) {
  if (one.errors.empty()) return section("Errors", quiet("None."));
  html out;
  const std::vector newest(one.errors.rbegin(), one.errors.rend());
  for (const auto& each : newest) {
    out.put("<li>{}<p>{}</p></li>", when(each.at, now), foreign(each.error));
  }
  return section("Errors", html(R"({}<ol class="errors">{}</ol>)",
                                quiet("The last {}, newest first.", one.errors.size()), out));
}

/// A section that is as secret as the payload.
html secret_section(const call& asked, literal title, const html& content) {
  if (asked.site.shows_payloads) return section(title, content);
  return section(title, quiet("Hidden. Start the server with --show-payloads to see it."));
}

html headers_of(const stored_message& one) {
  if (one.unread_headers) {
    return html("<p>This is no list of headers:</p><pre>{}</pre>", foreign(*one.unread_headers));
  }
  html out;
  for (const auto& [name, value] : one.headers) fact(out, foreign(name), foreign(value));
  return out.empty() ? quiet("None.") : fact_list(out);
}

html payload_of(const call& asked, const stored_message& one) {
  const literal fitting = fitting_form(one.payload);
  const std::string& wanted = asked.from.asked("as");
  const std::string_view form =
      wanted == "text" || wanted == "hex" ? std::string_view(wanted) : fitting.view();
  html out(R"(<nav class="tabs" aria-label="Forms of the payload">)");
  for (const literal each : {literal("json"), literal("text"), literal("hex")}) {
    if (each.view() == "json" && fitting.view() != "json") continue;
    out.put(R"(<a href="{}?as={}"{}>{}</a>)", asked.here("/messages/" + asked.item), each,
            current(each.view() == form), each);
  }
  return out.put(R"(<span class="quiet">{} bytes</span></nav>{})", number(one.payload.size()),
                 payload_block(one.payload, form, "Payload"));
}

}  // namespace

page messages_page(const call& asked) {
  const auto all = asked.watched().view();
  const queue_view& queue = view_of(asked, *all);
  const any_source opened = source_of(asked);
  if (std::holds_alternative<tableq::claim_queue>(opened)) return claim_page(asked, queue);
  page out{"Next messages of " + asked.queue, html("<h1>Next messages</h1>")};
  if (!asked.site.shows_payloads) {
    out.body.put(
        R"(<p class="empty">A message of this kind has only an id, a time and a payload, and )"
        R"(payloads are hidden. Start the server with --show-payloads to see them.</p>)");
    return out;
  }
  const html rows = std::visit([&](const auto& one) { return next_of(one, queue.now()); }, opened);
  out.body += rows.empty() ? html(R"(<p class="empty">No message is ready.</p>)") : rows;
  if (!rows.empty()) out.body += quiet("Up to {} that a read would return next.", page_size);
  return out;
}

page message_page(const call& asked) {
  const auto all = asked.watched().view();
  const queue_view& queue = view_of(asked, *all);
  const selection found = found_message(asked);
  const stored_message& one = found.messages.front();
  const auto now = queue.figures ? queue.now() : one.created_at;
  const std::string state(to_string(one.state));
  page out{"Message " + asked.item + " of " + asked.queue, {}};
  out.body.put(R"(<div class="head"><h1>Message {} <span class="state {}">{}</span></h1>{}</div>)",
               one.id.value, state, state, actions_of(asked, one));
  if (found.few) {
    out.body += facts_of(one, now, true);
    return out;
  }
  out.body.put(R"(<div class="columns">{}{}</div>)", facts_of(one, now, false),
               secret_section(asked, "Headers", headers_of(one)));
  out.body += errors_of(one, now);
  out.body += secret_section(asked, "Payload", payload_of(asked, one));
  if (one.state == message_state::done) {
    const html result = one.result
                            ? payload_block(*one.result, fitting_form(*one.result).view(), "Result")
                            : quiet("None.");
    out.body += secret_section(asked, "Result", result);
  }
  return out;
}

}  // namespace tool::web
