#include <algorithm>

#include "format.hpp"
#include "limits.hpp"
#include "pieces.hpp"
#include "site.hpp"

namespace tool::web {

namespace {

using tableq::kind;

/// The states of a claim queue, in the order of a message's life.
html state_tiles(const call& asked, const queue_view& queue) {
  html out(R"(<ul class="tiles states" data-live="tiles">)");
  const auto tile = [&](std::string_view style, const std::string& name, const figure& of) {
    if (!of.count) return;
    const html words(R"(<span class="dt">{}</span> <span class="dd">{}</span>)", name,
                     count_words(of));
    const bool dead = style == "dead";
    const std::string target =
        asked.here(dead ? "/dead" : "/messages?state=" + std::string(of.name));
    out.put(R"(<li class="{}{}">{}</li>)", style,
            dead && *of.count > 0 ? literal(" bad") : literal(""),
            queue.info.kind == kind::claim ? html(R"(<a href="{}">{}</a>)", target, words) : words);
  };
  for (const char* const name : {"ready", "leased", "delayed", "held", "done", "dead"}) {
    tile(name, name, queue.find(name));
  }
  tile("dead", "dead, in " + queue.info.dead_letters, queue.find("dead_letters"));
  return out.put("</ul>");
}

html facts_now(const queue_view& queue) {
  const auto oldest = queue.oldest();
  html out;
  fact(out, "Oldest ready message", oldest ? "waits for " + span_words(*oldest) : "none");
  fact(out, "In each second", rate_words(queue.rates.enqueued));
  fact(out, "Out each second", rate_words(queue.rates.left));
  const auto counted =
      queue.figures
          ? std::visit([](const auto& stats) { return stats.counted_to; }, queue.figures->found)
          : std::nullopt;
  if (counted) fact(out, "Counts", "stop at " + number(*counted) + ", shown with a +");
  return section("Now", html(R"(<div data-live="now">{}</div>)", fact_list(out)));
}

/// The inputs of limits: their names are those of the command's options.
html limit_inputs(const json& limits, const html& before = {}) {
  html out = quiet("Empty: as it is. none: no limit.");
  out += before;
  for (const auto& [name, value] : limits.items()) {
    out.put(R"(<label>{} <input name="{}" size="8"></label>)", label(name), name);
  }
  return out;
}

html limits_section(const call& asked, const queue_view& queue) {
  if (!queue.limits) {
    const bool table = queue.info.kind == kind::table;
    return section("Limits", table ? quiet("A table has none.") : quiet("Not read yet."));
  }
  json limits = limits_json(*queue.limits);
  if (queue.info.kind != kind::claim) limits.erase("concurrency");
  if (queue.limits->rate) limits["rate"] = rate_words(queue.limits->rate) + " each second";
  html forms;
  if (asked.may_change()) {
    forms = danger(asked, asked.here("/limits"), "Change the limits", "Set the limits",
                   limit_inputs(limits));
    if (queue.info.groups) {
      forms += danger(
          asked, asked.here("/group-limits"), "Change limits of groups", "Set the group's limits",
          limit_inputs(
              limits_json(tableq::group_limits()),
              html(R"(<label>Group; empty: each without its own <input name="group"></label>)")));
    }
  }
  return section("Limits", html("{}{}", fact_list(facts(limits)), forms));
}

/// The options by the words of `tableq list`.
html options_section(const call& asked, const tableq::queue_info& info) {
  html out;
  fact(out, "Kind", to_string(info.kind));
  const std::string options = options_text(info);
  // The name of a table may have blanks.
  const char between_options = info.kind == kind::table ? '\n' : ' ';
  for (const std::string& each : split(options, between_options)) {
    const std::size_t middle = std::min(each.find('='), each.size());
    const std::string name = each.substr(0, middle);
    const std::string value = each.substr(std::min(middle + 1, each.size()));
    if (name.empty()) continue;
    fact(out, label(name),
         name != "dead_letters"
             ? html("{}", value.empty() ? "yes" : value)
             : html(R"(<a href="{}">{}</a>)", asked.queue_link(asked.database, value), value));
  }
  fact(out, "Made", time_words(info.created_at));
  fact(out, "Layout", info.layout);
  return section("Options", fact_list(out));
}

html groups_section(const call& asked, const queue_view& queue) {
  if (!queue.info.groups) return {};
  using one = const group_view&;
  return section_of("Groups", "groups", queue.groups, [&](auto groups) {
    const auto rule = groups.front().limits;
    groups.erase(groups.begin());
    const std::vector<column<group_view>> columns{
        {"Group",
         [&](one of) {
           return html(R"(<a href="{}">{}</a>)",
                       asked.here("/messages?state=held&group=" + escaped(of.name)),
                       foreign(of.name, 60));
         }},
        {"Waiting",
         [](one of) { return of.waiting ? html("{}", number(of.waiting->waiting)) : html(); }, "n"},
        {"For",
         [&](one of) {
           return of.waiting ? html("{}", span_words(between(of.waiting->oldest, queue.now())))
                             : html();
         }},
        {"Leased", [](one of) { return html("{}", number(of.leased)); }, "n"},
        {"Its limits",
         [](one of) { return html("{}", of.limits ? limit_words(*of.limits) : std::string()); }}};
    return html(
        "<p>Each without its own limits: {}.</p>{}{}",
        rule ? limit_words(*rule) : number(queue.info.groups->limit) + " at a time",
        table("Groups", columns, groups),
        quiet("The ten that wait longest, among the first 10,000 ready and held messages, and the "
              "first 20 with limits of their own. Leased: among the first 1,000."));
  });
}

html schedules_section(const call& asked, const queue_view& queue, const database_view& all) {
  if (!queue.info.schedules) return {};
  using one = const tableq::schedule_info&;
  const auto now = queue.now();
  std::vector<column<tableq::schedule_info>> columns{
      {"Schedule", [](one of) { return foreign(of.rule.name); }},
      {"When",
       [](one of) {
         return of.rule.cron.empty() ? html("every {}", times_of(of.rule))
                                     : html("{}, {}", of.rule.cron, of.rule.zone);
       }},
      {"Next",
       [&](one of) {
         html out;
         for (std::size_t i = 0; i < std::min<std::size_t>(of.next.size(), 3); ++i) {
           out.put("{}{}", i == 0 ? literal("") : literal(", "), when(of.next[i], now));
         }
         return out;
       }},
      {"Last", [&](one of) { return when(of.last, now); }},
      {"State", [](one of) { return foreign(state_of(of), 200); }}};
  if (asked.may_change()) {
    columns.push_back({"Actions",
                       [&](one of) {
                         const html name = hidden("name", of.rule.name);
                         const std::string here = asked.here("/schedules/");
                         return html(R"(<div class="actions">{}{}</div>)",
                                     of.enabled ? button(asked, here + "pause", "Pause it", name)
                                                : button(asked, here + "resume", "Resume it", name),
                                     button(asked, here + "run", "Run now", name));
                       },
                       "acts"});
  }
  return section_of("Schedules", "schedules", all.schedules, [&](auto found) {
    std::erase_if(found, [&](one each) { return each.rule.queue != queue.name(); });
    return table("Schedules", columns, found);
  });
}

html batches_section(const call& asked, const queue_view& queue, const database_view& all) {
  if (!queue.info.batches && !queue.info.batch_ends) return {};
  using tableq::batch_info;
  using one = const batch_info&;
  const auto now = queue.now();
  const auto at_least = [](literal name, std::size_t batch_info::*which) -> column<batch_info> {
    return {name,
            [which](one of) {
              return html("{}{}", number(of.*which), of.counted_to ? literal("+") : literal(""));
            },
            "n"};
  };
  const std::vector<column<batch_info>> columns{
      {"Batch", [](one of) { return html("{}", of.id); }},
      {"Name", [](one of) { return html("{}", of.name); }},
      {"State", [](one of) { return html("{}", state_of(of)); }},
      {"Total", [](one of) { return html("{}", number(of.total)); }, "n"},
      at_least("Outstanding", &batch_info::outstanding),
      {"Completed",
       [](one of) {
         return html("{}{}", of.counted_to ? literal("at most ") : literal(""),
                     number(of.completed));
       },
       "n"},
      at_least("Dead", &batch_info::dead),
      at_least("Removed", &batch_info::removed),
      at_least("Gone", &batch_info::gone),
      {"At its end to",
       [&](one of) {
         const std::string link = asked.queue_link(asked.database, of.then);
         return of.then.empty() ? html() : html(R"(<a href="{}">{}</a>)", link, of.then);
       }},
      {"Begun", [&](one of) { return when(of.created_at, now); }},
      {"Ended", [&](one of) { return when(of.finished_at, now); }}};
  return section_of("Batches", "batches", all.batches, [&](auto found) {
    if (!queue.info.batches) {
      std::erase_if(found, [&](one each) { return each.then != queue.name(); });
    }
    return html("{}{}", table("Batches", columns, found),
                queue.info.batches
                    ? quiet("The newest 20 of the database. A batch may have messages of several "
                            "queues.")
                    : quiet("Of the newest 20 of the database, those that end here."));
  });
}

html actions_of(const call& asked, const queue_view& queue) {
  if (!asked.may_change() || queue.info.kind == kind::table) return {};
  return html(
      R"(<div class="actions">{}{}</div>)",
      queue.paused ? button(asked, asked.here("/resume"), "Resume", {}, "main")
                   : button(asked, asked.here("/pause"), "Pause"),
      queue.info.kind == kind::claim
          ? danger(asked, asked.here("/purge"), "Delete done messages", "Delete",
                   html(R"(<label for="older">That finished at least this long ago</label>)"
                        R"(<input id="older" name="older" value="7d" size="6" required>)"))
          : danger(asked, asked.here("/purge"), "Delete every message", "Delete every message",
                   html(R"(<label for="name">The queue's name, to confirm</label>)"
                        R"(<input id="name" name="name" required autocomplete="off">)")));
}

}  // namespace

page queue_page(const call& asked) {
  const auto all = asked.watched().view();
  const queue_view& queue = view_of(asked, *all);
  asked.watched().attend(queue.name());
  page out{.title = queue.name(), .body = {}, .live = true};
  out.body.put(
      R"(<div class="head"><h1>{} <span class="kind">{}</span><span data-live="paused">{}</span></h1>{}</div>)",
      queue.name(), to_string(queue.info.kind),
      queue.paused ? literal(R"( <span class="mark warn">paused</span>)") : literal(""),
      actions_of(asked, queue));
  out.body.put(R"(<div data-live="trouble">{})", trouble_banner(*all, asked.watched().label()));
  if (!queue.trouble.empty()) {
    out.body.put(R"(<p class="banner bad"><strong>This queue cannot be read.</strong> {}</p>)",
                 queue.trouble);
  }
  const bool claim = queue.info.kind == kind::claim;
  out.body.put(R"(</div>{}<p class="ways"><a href="{}">{}</a>{}{}</p>)", state_tiles(asked, queue),
               asked.here("/messages"), claim ? literal("Messages") : literal("Next messages"),
               claim ? html(R"( <a href="{}">Dead messages</a>)", asked.here("/dead")) : html(),
               actions_link(asked));
  const history* const past = queue.past.get();
  out.body.put(
      R"(<div class="charts" data-live="charts">{}{}</div><div class="columns">{}{}{}</div>)",
      chart(past, all->span, "Ready", &sample::ready, "ready"),
      chart(past, all->span, "Each second", &sample::enqueued, "in", &sample::left, "out"),
      facts_now(queue), limits_section(asked, queue), options_section(asked, queue.info));
  out.body.put(R"(<div data-live="groups">{}</div><div data-live="schedules">{}</div>)"
               R"(<div data-live="batches">{}</div>)",
               groups_section(asked, queue), schedules_section(asked, queue, *all),
               batches_section(asked, queue, *all));
  return out;
}

}  // namespace tool::web
