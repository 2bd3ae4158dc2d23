#include "pieces.hpp"
#include "selection.hpp"
#include "site.hpp"

namespace tool::web {

namespace {

/// The count of the selection, and the buttons of its actions.
html counted_selection(const call& asked, const queue_view& queue) {
  auto filter = read_filter(asked.from.query, asked.site.shows_payloads)
                    .value_or(tableq::message_filter{.all = true});
  filter.state = tableq::message_state::dead;
  const auto counted = claim_of(asked).redrive(filter, {.dry_run = true});
  html out(
      R"(<div class="banner warn"><p><strong>{}{}</strong> of the selection can be redriven{}.</p>)",
      number(counted.count), counted.stopped_at ? literal("+") : literal(""),
      counted.key_held > 0
          ? ", and " + number(counted.key_held) + " cannot: other messages hold their keys"
          : std::string());
  if (counted.count > 0 && asked.may_change()) {
    const html conditions = filter_fields(asked.from.query);
    out.put(R"(<div class="actions">{}{}</div>)",
            button(asked, asked.here("/dead/redrive"), "Redrive them", conditions, "main"),
            queue.info.dead_letters.empty()
                ? button(asked, asked.here("/dead/purge"), "Delete them", conditions, "bad")
                : html());
  }
  return out.put("</div>");
}

}  // namespace

page dead_page(const call& asked) {
  const auto all = asked.watched().view();
  const queue_view& queue = view_of(asked, *all);
  const selection found =
      select(asked, tableq::message_state::dead, 50, {.detail = tableq::message_detail::outline});
  page out{"Dead messages of " + asked.queue, html("<h1>Dead messages</h1>")};
  if (!queue.info.dead_letters.empty()) {
    out.body.put(R"(<p>Dead messages of this queue move to <a href="{}">{}</a>, where {} wait. )"
                 R"(A redrive brings them back.</p>)",
                 asked.queue_link(asked.database, queue.info.dead_letters, "/messages"),
                 queue.info.dead_letters, count_words(queue.find("dead_letters")));
  }
  out.body.put(R"(<form class="filter" action="{}">{}<div class="buttons"><button>Show</button> )"
               R"(<button name="count" value="1">Count</button></div></form>)",
               asked.here("/dead"), filter_inputs(asked));
  if (!asked.from.asked("count").empty()) {
    out.body += counted_selection(asked, queue);
  } else {
    out.body += asked.may_change() ? quiet("Count the selection to redrive or delete it.")
                                   : quiet("This server only shows.");
  }
  const std::string next = asked.here("/dead?after=" + found.next) + filter_query(asked.from.query);
  out.body.put(R"({}<p class="pager">{}{}</p>)",
               messages_table(asked, queue, found, tableq::message_state::dead),
               found.next.empty() ? html() : html(R"(<a rel="next" href="{}">Go on</a>)", next),
               actions_link(asked));
  return out;
}

page actions_page(const call& asked) {
  const auto all = asked.watched().view();
  static_cast<void>(view_of(asked, *all));
  html list;
  for (const job_view& each : asked.site.actions.of(asked.here())) {
    const bool failed = !each.trouble.empty();
    list.put(R"(<li><strong>{}</strong> <span class="mark{}">{}</span><p>{}{}</p>)", each.what,
             each.running ? literal(" warn")
             : failed     ? literal(" bad")
                          : literal(""),
             each.running   ? literal("running")
             : failed       ? literal("failed")
             : each.stopped ? literal("stopped")
                            : literal("done"),
             messages_words(each.done.count), each.running ? literal(" so far") : literal(""));
    if (each.done.running + each.done.changed + each.done.key_held > 0) {
      list +=
          quiet("Left as they were: {} leased, {} changed meanwhile, {} whose keys others hold.",
                each.done.running, each.done.changed, each.done.key_held);
    }
    if (failed) list.put("<p>{}</p>", each.trouble);
    if (each.running && asked.may_change()) {
      list += button(asked, asked.here("/actions/stop"), "Stop", hidden("job", each.name));
    }
    list.put("</li>");
  }
  return {.title = "Actions on " + asked.queue,
          .body = html(R"(<h1>Actions</h1><div data-live="jobs">{}</div>)",
                       list.empty() ? html(R"(<p class="empty">Nothing was started here.</p>)")
                                    : html(R"(<ul class="findings">{}</ul>)", list)),
          .live = true};
}

page doctor_page(const call& asked) {
  html good;
  html warnings;
  html problems;
  std::size_t fine = 0;
  for (const tableq::finding& each : asked.watched().open().inspect()) {
    if (each.severity == tableq::finding::level::ok) {
      ++fine;
      good.put("<li>{}: {}</li>", each.subject, each.what);
      continue;
    }
    const bool bad = each.severity == tableq::finding::level::problem;
    (bad ? problems : warnings)
        .put(R"(<li><span class="mark {}">{}</span> <strong>{}</strong><p>{}</p>{}</li>)",
             bad ? literal("bad") : literal("warn"), to_string(each.severity), each.subject,
             each.what, each.fix.empty() ? html() : html(R"(<p class="fix">{}</p>)", each.fix));
  }
  const bool nothing = problems.empty() && warnings.empty();
  return {
      "Doctor",
      html(R"(<h1>Doctor <span class="kind">{}</span></h1>{})"
           R"(<details><summary>{} checks found nothing</summary><ul>{}</ul></details>)",
           asked.watched().label(),
           nothing ? html(R"(<p class="empty">Nothing to mend: {} checks have found nothing.</p>)",
                          fine)
                   : html(R"(<ul class="findings">{}{}</ul>)", problems, warnings),
           fine, good)};
}

}  // namespace tool::web
