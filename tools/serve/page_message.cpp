#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "filter.hpp"
#include "payload.hpp"
#include "site.hpp"
#include "words.hpp"

namespace tool::web {

namespace {

using tableq::message_state;
using tableq::stored_message;

html actions_of(const call& asked, const stored_message& one) {
  html out;
  const bool waits = one.state == message_state::ready || one.state == message_state::delayed ||
                     one.state == message_state::held;
  const bool dead = one.state == message_state::dead;
  if (!asked.may_change() || (!waits && !dead)) return out;
  const std::string here = asked.here("/messages/" + std::to_string(one.id.value));
  out.put(R"(<div class="actions">)");
  if (dead) out += button(asked, here + "/redrive", "Redrive", {}, "main");
  if (one.state == message_state::delayed)
    out += button(asked, here + "/ready", "Ready now", {}, "main");
  if (waits) {
    out += button(
        asked, here + "/priority", "Set priority",
        html(
            R"(<label class="unseen" for="priority">Priority</label><input id="priority" )"
            R"(name="priority" type="number" value="{}" min="-2147483648" max="2147483647" required>)",
            one.priority));
  }
  out.put("{}</div>", danger(asked, here + "/cancel", "Cancel", "Delete this message"));
  return out;
}

html facts_of(const stored_message& one, tableq::timestamp now, bool few) {
  html out(R"(<dl class="facts">)");
  if (one.key) fact(out, "Key", foreign(*one.key));
  if (one.group) fact(out, "Group", foreign(*one.group));
  fact(out, "Priority", one.priority);
  if (!few) fact(out, "Attempts", one.attempts);
  if (one.progress) fact(out, "Progress", progress_words(*one.progress, now));
  fact(out, "Added", when(one.created_at, now));
  if (one.due_at) {
    const literal words =
        one.state == message_state::leased
            ? literal("Lease ends")
            : (one.state == message_state::delayed ? literal("Due") : literal("Ready since"));
    fact(out, words, when(*one.due_at, now));
  }
  if (one.claimed_at) fact(out, "Taken at, by its taker", when(*one.claimed_at, now));
  if (one.expires_at) fact(out, "Expires", when(*one.expires_at, now));
  if (one.finished_at) fact(out, "Finished", when(*one.finished_at, now));
  out.put("</dl>");
  return out;
}

html errors_of(const stored_message& one, tableq::timestamp now) {
  html out("<section><h2>Errors</h2>");
  if (one.errors.empty()) {
    out.put(R"(<p class="quiet">None.</p></section>)");
    return out;
  }
  out.put(R"(<p class="quiet">The last {}, newest first.</p><ol class="errors">)",
          one.errors.size());
  const std::vector newest(one.errors.rbegin(), one.errors.rend());
  for (const auto& each : newest)
    out.put("<li>{}<p>{}</p></li>", when(each.at, now), foreign(each.error));
  out.put("</ol></section>");
  return out;
}

/// A section that is as secret as the payload.
html secret_section(const call& asked, literal title, const html& content) {
  const html hidden(
      R"(<p class="quiet">Hidden. Start the server with --show-payloads to see it.</p>)");
  return html("<section><h2>{}</h2>{}</section>", title,
              asked.site.shows_payloads ? content : hidden);
}

html headers_of(const stored_message& one) {
  if (one.unread_headers) {
    return html(R"(<p>This is no list of headers:</p><pre><bdi>{}</bdi></pre>)",
                *one.unread_headers);
  }
  if (one.headers.empty()) return html(R"(<p class="quiet">None.</p>)");
  html out(R"(<dl class="facts">)");
  for (const auto& [name, value] : one.headers) {
    out.put("<dt>{}</dt><dd>{}</dd>", foreign(name), foreign(value));
  }
  out.put("</dl>");
  return out;
}

html result_of(const stored_message& one) {
  if (!one.result) return html(R"(<p class="quiet">None.</p>)");
  return payload_block(*one.result, fitting_form(*one.result), "Result");
}

html payload_of(const call& asked, const stored_message& one) {
  const payload_form fitting = fitting_form(one.payload);
  const std::string& wanted = asked.from.asked("as");
  payload_form form = fitting;
  if (wanted == "text") form = payload_form::text;
  if (wanted == "hex") form = payload_form::hex;
  const std::string here = asked.here("/messages/" + std::to_string(one.id.value));
  html out(R"(<nav class="tabs" aria-label="Forms of the payload">)");
  const auto tab = [&](payload_form which, literal name) {
    out.put(R"(<a href="{}?as={}"{}>{}</a>)", here, name,
            form == which ? literal(R"( aria-current="page")") : literal(""), name);
  };
  if (fitting == payload_form::json) tab(payload_form::json, "json");
  tab(payload_form::text, "text");
  tab(payload_form::hex, "hex");
  out.put(R"(<span class="quiet">{} bytes</span></nav>{})", number(one.payload.size()),
          payload_block(one.payload, form, "Payload"));
  return out;
}

}  // namespace

page message_page(const call& asked, const std::string& id) {
  const auto all = asked.watched().view();
  const queue_view& queue = view_of(asked, *all);
  const tableq::claim_queue opened = claim_of(asked);
  const tableq::message_id wanted_id = id_of(id);
  std::optional<stored_message> found;
  const auto wanted =
      asked.site.shows_payloads ? tableq::message_detail::all : tableq::message_detail::outline;
  const bool few =
      tableq::message_detail::seen == read_as_allowed(wanted, [&](auto detail) {
        found = opened.get(wanted_id, {.detail = detail,
                                       .progress = true,
                                       .result = asked.site.shows_payloads && detail == wanted});
      });
  if (!found) {
    throw page_error(404, "Message " + id + " is not in the queue: it was completed or removed.");
  }
  const auto now = queue.figures ? queue.figures->as_of() : found->created_at;
  page out{.title = "Message " + id + " of " + asked.queue,
           .body = {},
           .crumbs = queue_crumbs(asked, true)};
  out.body.put(R"(<div class="head"><h1>Message {} {}</h1>{}</div>)", wanted_id.value,
               state_mark(found->state), actions_of(asked, *found));
  if (few) {
    out.body.put(R"(<section><h2>State</h2>{}{}</section>)", facts_of(*found, now, few),
                 no_right("its key, group, errors, headers, payload and result"));
    return out;
  }
  out.body.put(R"(<div class="columns"><section><h2>State</h2>{}</section>{}</div>)",
               facts_of(*found, now, few), secret_section(asked, "Headers", headers_of(*found)));
  out.body += errors_of(*found, now);
  out.body += secret_section(asked, "Payload", payload_of(asked, *found));
  if (found->state == message_state::done) {
    out.body += secret_section(asked, "Result", result_of(*found));
  }
  return out;
}

}  // namespace tool::web
