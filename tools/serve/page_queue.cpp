#include <algorithm>
#include <array>
#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include "chart.hpp"
#include "format.hpp"
#include "site.hpp"
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
      out.put("<dt>Counts</dt><dd>stop at {}, shown with a +</dd>",
              number(static_cast<std::int64_t>(*counted)));
    }
  }
  out.put("</dl>");
  return out;
}

void fact(html& out, literal name, const std::string& value) {
  out.put("<dt>{}</dt><dd>{}</dd>", name, value);
}

html limits_of(const queue_view& queue) {
  html out(R"(<section><h2>Limits</h2><dl class="facts">)");
  const auto& limits = queue.limits;
  if (!limits) {
    out.put("<dt>Limits</dt><dd>{}</dd></dl></section>",
            queue.info.kind == kind::table ? "a table has none" : "not read yet");
    return out;
  }
  const auto or_none = [](const auto& value) {
    return value ? number(static_cast<std::int64_t>(*value)) : std::string("none");
  };
  fact(out, "Capacity", or_none(limits->capacity));
  fact(out, "Rate", limits->rate ? rate_words(*limits->rate) + " each second" : "none");
  if (limits->burst) fact(out, "Burst", or_none(limits->burst));
  if (queue.info.kind == kind::claim) fact(out, "Concurrency", or_none(limits->concurrency));
  out.put("</dl></section>");
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

html groups_of(const call& asked, const queue_view& queue) {
  html out;
  if (!queue.info.groups) return out;
  out.put(R"(<section><h2>Groups that wait longest</h2>)");
  if (queue.groups.empty()) {
    out.put(R"(<p class="quiet">None, or not read yet.</p></section>)");
    return out;
  }
  out.put(R"(<dl class="facts">)");
  for (const tableq::waiting_group& each : queue.groups) {
    out.put(
        R"(<dt><a href="{}">{}</a></dt><dd>{}, for {}</dd>)",
        asked.here("/messages?state=held&group=" + escaped(each.group)),
        foreign_start(each.group, 60), messages_words(each.waiting),
        span_words(std::max(queue.figures->as_of() - each.oldest, std::chrono::milliseconds{0})));
  }
  out.put(R"(</dl><p class="quiet">Among the first 10,000 ready and held messages.</p></section>)");
  return out;
}

html actions_of(const call& asked, const queue_view& queue) {
  html out;
  if (!asked.may_change() || queue.info.kind == kind::table) return out;
  out.put(R"(<div class="actions">)");
  out += queue.paused ? button(asked, asked.here("/resume"), "Resume", {}, "main")
                      : button(asked, asked.here("/pause"), "Pause");
  if (queue.info.kind == kind::claim) {
    out.put(R"(<details class="danger"><summary>Delete done messages</summary>)"
            R"(<form method="post" action="{}"><input type="hidden" name="form" value="{}">)"
            R"(<label for="older">That finished at least this long ago</label>)"
            R"(<input id="older" name="older" value="7d" size="6" required>)"
            R"(<button class="bad">Delete</button></form></details>)",
            asked.here("/purge"), asked.by.form_token);
  } else {
    out.put(R"(<details class="danger"><summary>Delete every message</summary>)"
            R"(<form method="post" action="{}"><input type="hidden" name="form" value="{}">)"
            R"(<label for="name">The queue's name, to confirm</label>)"
            R"(<input id="name" name="name" required autocomplete="off">)"
            R"(<button class="bad">Delete every message</button></form></details>)",
            asked.here("/purge"), asked.by.form_token);
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
  out.body.put(R"(<div data-live="groups">{}</div>)", groups_of(asked, queue));
  out.body += limits_of(queue);
  out.body += options_of(asked, queue.info);
  out.body.put("</div>");
  return out;
}

}  // namespace tool::web
