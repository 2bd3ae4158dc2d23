#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "chart.hpp"
#include "site.hpp"
#include "words.hpp"

namespace tool::web {

namespace {

constexpr std::size_t rows_of_a_page = 200;

struct row {
  std::size_t database;
  const queue_view* queue;
  double place = 0;  ///< The largest comes first.
};

/// A sum of figures, of which some may be lower bounds.
struct total {
  std::int64_t count = 0;
  bool at_least = false;

  void add(const figure& one) {
    count += static_cast<std::int64_t>(one.count.value_or(0));
    at_least = at_least || one.at_least;
  }
  [[nodiscard]] std::string words() const { return number(count) + (at_least ? "+" : ""); }
};

std::size_t dead_of(const queue_view& of) {
  return of.find("dead").count.value_or(0) + of.find("dead_letters").count.value_or(0);
}

double place_of(const std::string& by, const queue_view& of) {
  if (by == "ready") return static_cast<double>(of.find("ready").count.value_or(0));
  if (by == "dead") return static_cast<double>(dead_of(of));
  if (by == "oldest") return of.oldest() ? static_cast<double>(of.oldest()->count()) : -1;
  if (by == "rate") return of.rates.enqueued.value_or(-1);
  return 0;  // They are in the order of their names.
}

html tiles(const std::vector<row>& rows) {
  total ready;
  total leased;
  total delayed;
  total dead;
  double in = 0;
  double out_rate = 0;
  for (const row& each : rows) {
    ready.add(each.queue->find("ready"));
    leased.add(each.queue->find("leased"));
    delayed.add(each.queue->find("delayed"));
    // Those that have moved are ready messages of their dead-letter queue.
    dead.add(each.queue->find("dead"));
    dead.add(each.queue->find("dead_letters"));
    in += each.queue->rates.enqueued.value_or(0);
    out_rate += each.queue->rates.left.value_or(0);
  }
  html out(R"(<dl class="tiles" data-live="tiles">)");
  out.put("<div><dt>Queues</dt><dd>{}</dd></div>", number(rows.size()));
  out.put("<div><dt>Ready</dt><dd>{}</dd></div>", ready.words());
  out.put("<div><dt>Leased</dt><dd>{}</dd></div>", leased.words());
  out.put("<div><dt>Delayed</dt><dd>{}</dd></div>", delayed.words());
  out.put("<div{}><dt>Dead</dt><dd>{}</dd></div>",
          dead.count > 0 ? literal(R"( class="bad")") : literal(""), dead.words());
  out.put("<div><dt>In, a second</dt><dd>{}</dd></div>", rate_words(in));
  out.put("<div><dt>Out, a second</dt><dd>{}</dd></div>", rate_words(out_rate));
  out.put("</dl>");
  return out;
}

html number_cell(literal label, const figure& of, bool bad = false) {
  literal style = bad ? literal("n bad") : literal("n");
  if (!of.count) style = "n none";
  if (of.count == 0U) style = "n zero";
  return html(R"(<td class="{}" data-label="{}">{}</td>)", style, label, count_words(of));
}

html rate_cell(literal label, const std::optional<double>& rate) {
  const std::string words = rate_words(rate);
  return html(R"(<td class="n{}" data-label="{}">{}</td>)",
              words == "0" ? literal(" zero") : (rate ? literal("") : literal(" none")), label,
              words);
}

html marks_of(const queue_view& of) {
  html out = kind_mark(of.info.kind);
  if (of.paused) out.put(R"( <span class="mark warn">paused</span>)");
  if (!of.trouble.empty())
    out.put(R"( <span class="mark bad" title="{}">unreadable</span>)", of.trouble);
  return out;
}

html queue_row(const call& asked, const row& of) {
  const queue_view& queue = *of.queue;
  html out(
      R"(<tr data-live="q{}-{}"><th scope="row"><a href="{}">{}</a> <span class="marks">{}</span></th>)",
      of.database, queue.name(), asked.queue_link(of.database, queue.name()), queue.name(),
      marks_of(queue));
  out += number_cell("Ready", queue.find("ready"));
  out += number_cell("Delayed", queue.find("delayed"));
  out += number_cell("Leased", queue.find("leased"));
  out += number_cell("Held", queue.find("held"));
  figure dead = queue.find("dead");
  const figure letters = queue.find("dead_letters");
  if (letters.count) {
    dead = {"dead", dead.count.value_or(0) + *letters.count, dead.at_least || letters.at_least};
  }
  out += number_cell("Dead", dead, true);
  const auto oldest = queue.oldest();
  out.put(R"(<td class="n{}" data-label="Oldest">{}</td>)", oldest ? literal("") : literal(" none"),
          oldest ? span_words(*oldest) : "\xe2\x80\x93");
  out += rate_cell("In/s", queue.rates.enqueued);
  out += rate_cell("Out/s", queue.rates.left);
  out.put(R"(<td class="wide">{}</td></tr>)", sparkline(queue.past.get()));
  return out;
}

html heading(const call& asked, const std::string& by, literal key, literal words, literal style) {
  const std::string name(key.view());
  const bool by_name = name == "name";
  const bool sorted = by == name || (by.empty() && by_name);
  const literal order =
      by_name ? literal(R"( aria-sort="ascending")") : literal(R"( aria-sort="descending")");
  std::string target = asked.link("/?by=") + name;
  if (!asked.from.asked("find").empty()) target += "&find=" + escaped(asked.from.asked("find"));
  return html(R"(<th scope="col" class="{}"{}><a href="{}">{}</a></th>)", style,
              sorted ? order : literal(""), target, words);
}

html pager(const call& asked, std::size_t from, std::size_t shown, std::size_t count) {
  html out;
  if (shown >= count) return out;
  std::string target = asked.link("/?");
  for (const auto& name : {"by", "find"}) {
    const std::string& value = asked.from.asked(name);
    if (!value.empty()) target += std::string(name) + "=" + escaped(value) + "&";
  }
  out.put(R"(<p class="pager"><span>{} to {} of {} queues</span>)", from + 1, from + shown, count);
  if (from > 0) {
    out.put(R"( <a rel="prev" href="{}from={}">Back</a>)", target,
            from < rows_of_a_page ? 0 : from - rows_of_a_page);
  }
  if (from + shown < count)
    out.put(R"( <a rel="next" href="{}from={}">Next</a>)", target, from + shown);
  out.put("</p>");
  return out;
}

std::size_t number_asked(const std::string& text) {
  std::size_t out = 0;
  for (const char c : text.substr(0, 7)) {
    if (c < '0' || c > '9') return 0;
    out = out * 10 + static_cast<std::size_t>(c - '0');
  }
  return out;
}

}  // namespace

page queues_page(const call& asked) {
  page out{.title = "Queues", .body = {}, .live = true};
  const std::string& find = asked.from.asked("find");
  const std::string& by = asked.from.asked("by");
  std::vector<std::shared_ptr<const database_view>> views;
  std::vector<row> rows;
  for (std::size_t i = 0; i < asked.site.databases.size(); ++i) {
    views.push_back(asked.site.databases[i]->view());
    for (const queue_view& each : views.back()->queues) {
      if (each.name().find(find) != std::string::npos)
        rows.push_back({i, &each, place_of(by, each)});
    }
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const row& a, const row& b) { return a.place > b.place; });

  out.body.put(R"(<div class="head"><h1>Queues</h1><form class="find" role="search" action="{}">)",
               asked.link("/"));
  if (!by.empty()) out.body.put(R"(<input type="hidden" name="by" value="{}">)", by);
  out.body.put(
      R"(<label class="unseen" for="find">Part of a name</label><input id="find" name="find" )"
      R"(type="search" value="{}" placeholder="Part of a name"><button>Find</button></form></div>)",
      find);
  for (std::size_t i = 0; i < views.size(); ++i) {
    out.body.put(R"(<div data-live="trouble{}">{}</div>)", i,
                 trouble_banner(*views[i], asked.site.databases[i]->label()));
  }
  out.body += tiles(rows);

  const std::size_t from = std::min(number_asked(asked.from.asked("from")), rows.size());
  const std::size_t shown = std::min(rows_of_a_page, rows.size() - from);
  if (rows.empty()) {
    out.body.put(R"(<p class="empty">{}</p>)",
                 find.empty() ? "There is no queue yet. Make one: tableq create fifo mail"
                              : "No queue has this in its name.");
    return out;
  }
  out.body.put(
      R"(<table class="queues"><caption class="unseen">Queues and their messages</caption><thead><tr>)");
  out.body += heading(asked, by, "name", "Queue", "");
  out.body += heading(asked, by, "ready", "Ready", "n");
  out.body.put(R"(<th scope="col" class="n">Delayed</th><th scope="col" class="n">Leased</th>)"
               R"(<th scope="col" class="n">Held</th>)");
  out.body += heading(asked, by, "dead", "Dead", "n");
  out.body += heading(asked, by, "oldest", "Oldest", "n");
  out.body += heading(asked, by, "rate", "In/s", "n");
  out.body.put(
      R"(<th scope="col" class="n">Out/s</th><th scope="col" class="wide">Ready, {}</th></tr></thead>)",
      span_words(views.front()->span));
  const bool several = asked.site.databases.size() > 1;
  std::size_t last = asked.site.databases.size();
  out.body.put("<tbody>");
  for (std::size_t i = from; i < from + shown; ++i) {
    if (several && by.empty() && rows[i].database != last) {
      last = rows[i].database;
      out.body.put(R"(<tr class="group"><th colspan="10" scope="rowgroup">{}</th></tr>)",
                   asked.site.databases[last]->label());
    }
    out.body += queue_row(asked, rows[i]);
  }
  out.body.put("</tbody></table>");
  out.body += pager(asked, from, shown, rows.size());
  return out;
}

}  // namespace tool::web
