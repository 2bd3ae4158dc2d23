#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "chart.hpp"
#include "format.hpp"
#include "site.hpp"
#include "table.hpp"
#include "words.hpp"

namespace tool::web {

namespace {

using tableq::kind;

/// The states of a claim queue, in the order of a message's life.
constexpr std::array<const char*, 6> states{"ready", "leased", "delayed", "held", "done", "dead"};

html state_tiles(const call& asked, const queue_view& queue) {
  html out(R"(<ul class="tiles states" data-live="tiles">)");
  const bool claim = queue.info.kind == kind::claim;
  for (const char* const name : states) {
    const figure each = queue.find(name);
    if (!each.count) continue;
    const bool bad = std::string_view(name) == "dead" && *each.count > 0;
    out.put(R"(<li class="{}{}">)", name, bad ? literal(" bad") : literal(""));
    if (claim) {
      const std::string target = std::string_view(name) == "dead"
                                     ? asked.here("/dead")
                                     : asked.here("/messages?state=") + name;
      out.put(R"(<a href="{}"><span class="dt">{}</span> <span class="dd">{}</span></a></li>)",
              target, name, count_words(each));
    } else {
      out.put(R"(<span class="dt">{}</span> <span class="dd">{}</span></li>)", name,
              count_words(each));
    }
  }
  const figure letters = queue.find("dead_letters");
  if (letters.count) {
    out.put(R"(<li class="dead{}"><a href="{}"><span class="dt">dead, in {}</span> )"
            R"(<span class="dd">{}</span></a></li>)",
            *letters.count > 0 ? literal(" bad") : literal(""), asked.here("/dead"),
            queue.info.dead_letters, count_words(letters));
  }
  out.put("</ul>");
  return out;
}

html facts_now(const queue_view& queue) {
  const auto oldest = queue.oldest();
  html out(R"(<dl class="facts" data-live="now">)");
  out.put("<dt>Oldest ready message</dt><dd>{}</dd>",
          oldest ? "waits for " + span_words(*oldest) : std::string("none"));
  out.put("<dt>In each second</dt><dd>{}</dd>", rate_words(queue.rates.enqueued));
  out.put("<dt>Out each second</dt><dd>{}</dd>", rate_words(queue.rates.left));
  if (queue.figures) {
    const auto* claim = std::get_if<tableq::claim_stats>(&queue.figures->found);
    const auto counted = claim != nullptr
                             ? claim->counted_to
                             : std::get<tableq::queue_stats>(queue.figures->found).counted_to;
    if (counted) {
      out.put("<dt>Counts</dt><dd>stop at {}, shown with a +</dd>", number(*counted));
    }
  }
  out.put("</dl>");
  return out;
}

/// The input of a limit. Its name is that of the command's option.
struct limit_input {
  literal name;
  literal words;
};

html limit_inputs(const std::vector<limit_input>& names, literal form) {
  html out(R"(<p class="quiet">Empty: as it is. none: no limit.</p>)");
  for (const auto& [name, words] : names) {
    out.put(R"(<label for="{}-{}">{}</label><input id="{}-{}" name="{}" size="8">)", form, name,
            words, form, name, name);
  }
  return out;
}

html limit_forms(const call& asked, const queue_view& queue) {
  if (!asked.may_change()) return {};
  const bool claim = queue.info.kind == kind::claim;
  std::vector<limit_input> names{{"capacity", "Capacity"}, {"rate", "Rate"}, {"burst", "Burst"}};
  if (claim) names.push_back({"concurrency", "Concurrency"});
  html out = danger(asked, asked.here("/limits"), "Change the limits", "Set the limits",
                    limit_inputs(names, "limit"));
  if (queue.info.groups) {
    out += danger(asked, asked.here("/group-limits"), "Change limits of groups",
                  "Set the group's limits",
                  limit_inputs({{"group", "Group; empty: each without its own"},
                                {"running", "At a time"},
                                {"rate", "Starts a second"},
                                {"burst", "Starts at once"},
                                {"weight", "Weight of its turns"}},
                               "group"));
  }
  return out;
}

html limits_of(const call& asked, const queue_view& queue) {
  html out(R"(<section><h2>Limits</h2><dl class="facts">)");
  const auto& limits = queue.limits;
  if (!limits) {
    fact(out, "Limits", queue.info.kind == kind::table ? "a table has none" : "not read yet");
    out.put("</dl></section>");
    return out;
  }
  const auto or_none = [](const auto& value) {
    return value ? number(*value) : std::string("none");
  };
  fact(out, "Capacity", or_none(limits->capacity));
  fact(out, "Rate", limits->rate ? rate_words(*limits->rate) + " each second" : "none");
  if (limits->burst) fact(out, "Burst", or_none(limits->burst));
  if (queue.info.kind == kind::claim) fact(out, "Concurrency", or_none(limits->concurrency));
  out.put("</dl>{}</section>", limit_forms(asked, queue));
  return out;
}

std::string retries_of(const tableq::retry_delays& retry) {
  std::string out;
  for (const auto each : retry.after) out += (out.empty() ? "" : ", ") + brief(each);
  return out.empty() ? "at once" : out;
}

html options_of(const call& asked, const tableq::queue_info& info) {
  html out(R"(<section><h2>Options</h2><dl class="facts">)");
  fact(out, "Kind", std::string(to_string(info.kind)));
  if (info.kind == kind::fifo || info.kind == kind::lifo) {
    fact(out, "Order", std::string(to_string(info.ordering)));
  }
  if (info.kind == kind::claim) {
    fact(out, "Lease", brief(info.lease));
    fact(out, "Attempts", std::to_string(info.max_attempts));
    fact(out, "Retries after", retries_of(info.retry));
    fact(out, "Keeps completed", info.keep_completed ? "yes" : "no");
    fact(out, "Time to live", info.time_to_live ? brief(*info.time_to_live) : "forever");
    if (info.key_window.count() > 0) fact(out, "Key window", brief(info.key_window));
    if (info.keys == tableq::key_scope::waiting) fact(out, "Keys", "free after the first take");
    if (info.groups) {
      std::string words = number(info.groups->limit) + " at a time";
      if (info.groups->on_failure == tableq::group_policy::pass) words += ", others pass a failure";
      if (info.groups->by_turns) words += ", by turns";
      fact(out, "Groups", words);
    }
    if (!info.dead_letters.empty()) {
      out.put(R"(<dt>Dead letters</dt><dd><a href="{}">{}</a></dd>)",
              asked.queue_link(asked.database, info.dead_letters), info.dead_letters);
    }
  }
  if (info.kind == kind::table && info.table) fact(out, "Table", info.table->table);
  fact(out, "Made", time_words(info.created_at));
  fact(out, "Layout", std::to_string(info.layout));
  out.put("</dl></section>");
  return out;
}

std::string words_of(const tableq::group_limits& limits) {
  std::string out;
  if (limits.running) out = number(*limits.running) + " at a time";
  if (limits.rate) out += (out.empty() ? "" : ", ") + rate_words(*limits.rate) + " starts a second";
  if (limits.burst) out += ", " + number(*limits.burst) + " at once";
  if (limits.weight) out += (out.empty() ? "" : ", ") + ("weight " + number(*limits.weight));
  return out;
}

html groups_section(const call& asked, const queue_view& queue) {
  if (!queue.info.groups) return {};
  return section_of("Groups", "groups", queue.groups, [&](auto groups) {
    const auto rule = groups.front().limits;
    groups.erase(groups.begin());
    std::vector<column<group_view>> columns{
        {"Group",
         [&](const group_view& one) {
           return html(R"(<a href="{}">{}</a>)",
                       asked.here("/messages?state=held&group=" + escaped(one.name)),
                       foreign_start(one.name, 60));
         }},
        {"Waiting",
         [](const group_view& one) {
           return html("{}", one.waiting ? number(one.waiting->waiting) : std::string());
         },
         "n"},
        {"For",
         [&](const group_view& one) {
           return html("{}", one.waiting
                                 ? span_words(between(one.waiting->oldest, queue.figures->as_of()))
                                 : std::string());
         }},
        {"Leased", [](const group_view& one) { return html("{}", number(one.leased)); }, "n"},
        {"Its limits", [](const group_view& one) {
           return html("{}", one.limits ? words_of(*one.limits) : std::string());
         }}};
    return html(R"(<p>Each without its own limits: {}.</p>{}<p class="quiet">The ten that wait )"
                R"(longest, among the first 10,000 ready and held messages, and the first 20 with )"
                R"(limits of their own. Leased: among the first 1,000.</p>)",
                rule ? words_of(*rule) : number(queue.info.groups->limit) + " at a time",
                table("Groups", columns, groups));
  });
}

html schedules_of(const call& asked, const queue_view& queue, const database_view& all) {
  if (!queue.info.schedules) return {};
  using tableq::schedule_info;
  const auto now = queue.now();
  std::vector<column<schedule_info>> columns{
      {"Schedule", [](const schedule_info& one) { return foreign(one.rule.name); }},
      {"When",
       [](const schedule_info& one) {
         return one.rule.cron.empty() ? html("every {}", brief(one.rule.every))
                                      : html("{}, {}", one.rule.cron, one.rule.zone);
       }},
      {"Next",
       [&](const schedule_info& one) {
         html out;
         for (std::size_t i = 0; i < std::min<std::size_t>(one.next.size(), 3); ++i) {
           out.put("{}{}", i == 0 ? literal("") : literal(", "), when(one.next[i], now));
         }
         return out;
       }},
      {"Last", [&](const schedule_info& one) { return one.last ? when(*one.last, now) : html(); }},
      {"State", [](const schedule_info& one) { return foreign_start(state_of(one), 200); }}};
  if (asked.may_change()) {
    columns.push_back(
        {"Actions",
         [&](const schedule_info& one) {
           const html name(R"(<input type="hidden" name="name" value="{}">)", one.rule.name);
           const std::string here = asked.here("/schedules/");
           return html(R"(<div class="actions">{}{}</div>)",
                       one.enabled ? button(asked, here + "pause", "Pause it", name)
                                   : button(asked, here + "resume", "Resume it", name),
                       button(asked, here + "run", "Run now", name));
         },
         "acts"});
  }
  return section_of("Schedules", "schedules", all.schedules, [&](auto found) {
    std::erase_if(found, [&](const auto& each) { return each.rule.queue != queue.name(); });
    return table("Schedules", columns, found);
  });
}

html batches_of(const call& asked, const queue_view& queue, const database_view& all) {
  if (!queue.info.batches && !queue.info.batch_ends) return {};
  using tableq::batch_info;
  const auto now = queue.now();
  const auto at_least = [](literal name, std::size_t batch_info::*which) -> column<batch_info> {
    return {name,
            [which](const batch_info& one) {
              const auto count = static_cast<std::int64_t>(one.*which);
              return html("{}{}", number(count), one.counted_to ? literal("+") : literal(""));
            },
            "n"};
  };
  const std::vector<column<batch_info>> columns{
      {"Batch", [](const batch_info& one) { return html("{}", one.id); }},
      {"Name", [](const batch_info& one) { return html("{}", one.name); }},
      {"State", [](const batch_info& one) { return html("{}", state_of(one)); }},
      {"Total", [](const batch_info& one) { return html("{}", number(one.total)); }, "n"},
      at_least("Outstanding", &batch_info::outstanding),
      {"Completed",
       [](const batch_info& one) {
         return html("{}{}", one.counted_to ? literal("at most ") : literal(""),
                     number(one.completed));
       },
       "n"},
      at_least("Dead", &batch_info::dead),
      at_least("Removed", &batch_info::removed),
      at_least("Gone", &batch_info::gone),
      {"At its end to",
       [&](const batch_info& one) {
         return one.then.empty() ? html()
                                 : html(R"(<a href="{}">{}</a>)",
                                        asked.queue_link(asked.database, one.then), one.then);
       }},
      {"Begun", [&](const batch_info& one) { return when(one.created_at, now); }},
      {"Ended", [&](const batch_info& one) {
         return one.finished_at ? when(*one.finished_at, now) : html();
       }}};
  return section_of("Batches", "batches", all.batches, [&](auto found) {
    if (!queue.info.batches) {
      std::erase_if(found, [&](const auto& each) { return each.then != queue.name(); });
    }
    return html(R"({}<p class="quiet">{}</p>)", table("Batches", columns, found),
                queue.info.batches
                    ? literal("The newest 20 of the database. A batch may have messages of several "
                              "queues.")
                    : literal("Of the newest 20 of the database, those that end here."));
  });
}

html actions_of(const call& asked, const queue_view& queue) {
  html out;
  if (!asked.may_change() || queue.info.kind == kind::table) return out;
  out.put(R"(<div class="actions">)");
  out += queue.paused ? button(asked, asked.here("/resume"), "Resume", {}, "main")
                      : button(asked, asked.here("/pause"), "Pause");
  if (queue.info.kind == kind::claim) {
    out += danger(asked, asked.here("/purge"), "Delete done messages", "Delete",
                  html(R"(<label for="older">That finished at least this long ago</label>)"
                       R"(<input id="older" name="older" value="7d" size="6" required>)"));
  } else {
    out += danger(asked, asked.here("/purge"), "Delete every message", "Delete every message",
                  html(R"(<label for="name">The queue's name, to confirm</label>)"
                       R"(<input id="name" name="name" required autocomplete="off">)"));
  }
  out.put("</div>");
  return out;
}

}  // namespace

page queue_page(const call& asked) {
  const auto all = asked.watched().view();
  const queue_view& queue = view_of(asked, *all);
  asked.watched().attend(queue.name());
  page out{.title = queue.name(), .body = {}, .crumbs = queue_crumbs(asked, false), .live = true};
  out.body.put(R"(<div class="head"><h1>{} {}<span data-live="paused">{}</span></h1>{}</div>)",
               queue.name(), kind_mark(queue.info.kind),
               queue.paused ? literal(R"( <span class="mark warn">paused</span>)") : literal(""),
               actions_of(asked, queue));
  out.body.put(R"(<div data-live="trouble">{})", trouble_banner(*all, asked.watched().label()));
  if (!queue.trouble.empty()) {
    out.body.put(R"(<p class="banner bad"><strong>This queue cannot be read.</strong> {}</p>)",
                 queue.trouble);
  }
  out.body.put("</div>");
  out.body += state_tiles(asked, queue);
  if (queue.info.kind == kind::claim) {
    out.body.put(R"(<p class="ways"><a href="{}">Messages</a> <a href="{}">Dead messages</a>)",
                 asked.here("/messages"), asked.here("/dead"));
  } else {
    out.body.put(R"(<p class="ways"><a href="{}">Next messages</a>)", asked.here("/messages"));
  }
  if (!asked.site.actions.of(asked.here()).empty()) {
    out.body.put(R"( <a href="{}">Actions</a>)", asked.here("/actions"));
  }
  out.body.put("</p>");
  out.body.put(R"(<div class="charts" data-live="charts">)");
  out.body += chart(queue.past.get(), all->span, "Ready", &sample::ready, "ready");
  out.body += chart(queue.past.get(), all->span, "Each second", &sample::enqueued, "in",
                    &sample::left, "out");
  out.body.put(R"(</div><div class="columns"><section><h2>Now</h2>{}</section>)", facts_now(queue));
  out.body += limits_of(asked, queue);
  out.body += options_of(asked, queue.info);
  out.body.put(R"(</div><div data-live="groups">{}</div><div data-live="schedules">{}</div>)"
               R"(<div data-live="batches">{}</div>)",
               groups_section(asked, queue), schedules_of(asked, queue, *all),
               batches_of(asked, queue, *all));
  return out;
}

}  // namespace tool::web
