#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "filter.hpp"
#include "site.hpp"
#include "words.hpp"

namespace tool::web {

namespace {

std::string count_of(const tableq::bulk_result& counted) {
  return number(counted.count) + (counted.stopped_at ? "+" : "");
}

/// The count of the selection, and the buttons of its actions.
html counted_selection(const call& asked, const queue_view& queue, tableq::claim_queue opened,
                       const tableq::message_filter& filter) {
  const auto counted = opened.redrive(filter, {.dry_run = true});
  html out(
      R"(<div class="banner warn"><p><strong>{}</strong> of the selection can be redriven{}.</p>)",
      count_of(counted),
      counted.key_held > 0
          ? ", and " + number(counted.key_held) + " cannot: other messages hold their keys"
          : std::string());
  if (counted.count > 0 && asked.may_change()) {
    out.put(R"(<div class="actions">)");
    out += button(asked, asked.here("/dead/redrive"), "Redrive them",
                  filter_fields(asked.from.query), "main");
    if (queue.info.dead_letters.empty()) {
      out += button(asked, asked.here("/dead/purge"), "Delete them",
                    filter_fields(asked.from.query), "bad");
    }
    out.put("</div>");
  }
  out.put("</div>");
  return out;
}

html where_they_are(const call& asked, const queue_view& queue) {
  html out;
  if (queue.info.dead_letters.empty()) return out;
  out.put(R"(<p>Dead messages of this queue move to <a href="{}">{}</a>, where {} wait. A redrive )"
          R"(brings them back.</p>)",
          asked.queue_link(asked.database, queue.info.dead_letters, "/messages"),
          queue.info.dead_letters, count_words(queue.find("dead_letters")));
  return out;
}

literal end_words(const job_view& of) {
  if (of.running) return "running";
  if (!of.trouble.empty()) return "failed";
  return of.stopped ? literal("stopped") : literal("done");
}

}  // namespace

page dead_page(const call& asked) {
  const auto all = asked.watched().view();
  const queue_view& queue = view_of(asked, *all);
  const tableq::claim_queue opened = claim_of(asked);
  tableq::message_filter filter = read_filter(asked.from.query, asked.site.shows_payloads)
                                      .value_or(tableq::message_filter{.all = true});
  filter.state = tableq::message_state::dead;
  page out{
      .title = "Dead messages of " + asked.queue, .body = {}, .crumbs = queue_crumbs(asked, true)};
  out.body.put("<h1>Dead messages</h1>");
  out.body += where_they_are(asked, queue);
  out.body.put(R"(<form class="filter" action="{}">{}<div class="buttons"><button>Show</button> )"
               R"(<button name="count" value="1">Count</button></div></form>)",
               asked.here("/dead"), filter_inputs(asked));
  if (!asked.from.asked("count").empty()) {
    out.body += counted_selection(asked, queue, opened, filter);
  } else {
    out.body.put(R"(<p class="quiet">{}</p>)",
                 asked.may_change() ? literal("Count the selection to redrive or delete it.")
                                    : literal("This server only shows."));
  }
  const selection found = select(asked, opened, tableq::message_state::dead);
  out.body += messages_table(asked, queue, found, tableq::message_state::dead);
  out.body.put(R"(<p class="pager">)");
  if (!found.next.empty()) {
    out.body.put(R"(<a rel="next" href="{}">Go on</a>)",
                 asked.here("/dead?after=" + found.next) + filter_query(asked.from.query));
  }
  if (!asked.site.actions.of(asked.here()).empty()) {
    out.body.put(R"( <a href="{}">Actions</a>)", asked.here("/actions"));
  }
  out.body.put("</p>");
  return out;
}

page actions_page(const call& asked) {
  const auto all = asked.watched().view();
  (void)view_of(asked, *all);
  page out{.title = "Actions on " + asked.queue,
           .body = html("<h1>Actions</h1>"),
           .crumbs = queue_crumbs(asked, true),
           .live = true};
  const auto found = asked.site.actions.of(asked.here());
  out.body.put(R"(<div data-live="jobs">)");
  if (found.empty()) out.body.put(R"(<p class="empty">Nothing was started here.</p>)");
  out.body.put(R"(<ul class="findings">)");
  for (const job_view& each : found) {
    out.body.put(
        R"(<li><strong>{}</strong> <span class="mark{}">{}</span><p>{}{}</p>)", each.what,
        each.running ? literal(" warn") : (each.trouble.empty() ? literal("") : literal(" bad")),
        end_words(each), messages_words(each.done.count),
        each.running ? literal(" so far") : literal(""));
    const auto left_out = each.done.running + each.done.changed + each.done.key_held;
    if (left_out > 0) {
      out.body.put(
          R"(<p class="quiet">Left as they were: {} leased, {} changed meanwhile, {} whose keys others hold.</p>)",
          each.done.running, each.done.changed, each.done.key_held);
    }
    if (!each.trouble.empty()) out.body.put("<p>{}</p>", each.trouble);
    if (each.running && asked.may_change()) {
      out.body += button(asked, asked.here("/actions/stop"), "Stop",
                         html(R"(<input type="hidden" name="job" value="{}">)", each.name));
    }
    out.body.put("</li>");
  }
  out.body.put("</ul></div>");
  return out;
}

}  // namespace tool::web
