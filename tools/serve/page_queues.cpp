#include <algorithm>
#include <charconv>

#include "pieces.hpp"
#include "site.hpp"

namespace tool::web {

namespace {

constexpr std::size_t rows_of_a_page = 200;

struct row {
  std::size_t database;
  const queue_view* queue;

  [[nodiscard]] const queue_view* operator->() const { return queue; }
};

/// Adds counts, of which some may be lower bounds; those that are not known add nothing.
figure sum_of(std::initializer_list<figure> all) {
  figure out{"", std::nullopt};
  for (const figure& each : all) {
    if (each.count) out.count = out.count.value_or(0) + *each.count;
    out.at_least = out.at_least || each.at_least;
  }
  return out;
}

/// Dead messages of the queue, wherever they are.
figure dead_of(const queue_view& of) {
  return sum_of({of.find("dead"), of.find("dead_letters")});
}

/// The largest comes first.
double place_of(const std::string& by, const queue_view& of) {
  if (by == "ready") return static_cast<double>(of.find("ready").count.value_or(0));
  if (by == "dead") return static_cast<double>(dead_of(of).count.value_or(0));
  if (by == "oldest") return of.oldest() ? static_cast<double>(of.oldest()->count()) : -1;
  if (by == "rate") return of.rates.enqueued.value_or(-1);
  return 0;  // They are in the order of their names.
}

html tiles(const std::vector<row>& rows) {
  figure ready{"", 0};
  figure leased{"", 0};
  figure delayed{"", 0};
  figure dead{"", 0};
  double in = 0;
  double out_rate = 0;
  for (const row& each : rows) {
    ready = sum_of({ready, each->find("ready")});
    leased = sum_of({leased, each->find("leased")});
    delayed = sum_of({delayed, each->find("delayed")});
    dead = sum_of({dead, dead_of(*each.queue)});
    in += each->rates.enqueued.value_or(0);
    out_rate += each->rates.left.value_or(0);
  }
  html out(R"(<ul class="tiles" data-live="tiles">)");
  const auto tile = [&](literal name, const std::string& value, bool bad = false) {
    out.put(R"(<li class="{}"><span class="dt">{}</span> <span class="dd">{}</span></li>)",
            bad ? literal("bad") : literal(""), name, value);
  };
  tile("Queues", number(rows.size()));
  tile("Ready", count_words(ready));
  tile("Leased", count_words(leased));
  tile("Delayed", count_words(delayed));
  tile("Dead", count_words(dead), dead.count > 0U);
  tile("In, a second", rate_words(in));
  tile("Out, a second", rate_words(out_rate));
  return out.put("</ul>");
}

/// A value, which is quiet if it is zero or not there.
html cell(const std::string& words, bool none, bool bad = false) {
  return html(R"(<span class="{}">{}</span>)",
              none           ? literal("none")
              : words == "0" ? literal("zero")
              : bad          ? literal("bad")
                             : literal(""),
              words);
}

std::vector<column<row>> columns_of(const call& asked) {
  const auto count = [](literal name, const char* which, literal by = "") -> column<row> {
    return {name,
            [which](const row& of) {
              return cell(count_words(of->find(which)), !of->find(which).count);
            },
            "n", by};
  };
  const auto rate = [](literal name, auto which, literal by = "") -> column<row> {
    return {
        name,
        [which](const row& of) { return cell(rate_words(of->rates.*which), !(of->rates.*which)); },
        "n", by};
  };
  std::vector<column<row>> out{
      {"Queue",
       [&](const row& of) {
         html name(R"(<a href="{}">{}</a> <span class="marks"><span class="kind">{}</span>)",
                   asked.queue_link(of.database, of->name()), of->name(), to_string(of->info.kind));
         if (of->paused) name.put(R"( <span class="mark warn">paused</span>)");
         if (!of->trouble.empty()) {
           name.put(R"( <span class="mark bad" title="{}">unreadable</span>)", of->trouble);
         }
         return name.put("</span>");
       },
       "", "name"},
      count("Ready", "ready", "ready"),
      count("Delayed", "delayed"),
      count("Leased", "leased"),
      count("Held", "held"),
      {"Dead",
       [](const row& of) {
         const figure dead = dead_of(*of.queue);
         return cell(count_words(dead), !dead.count, true);
       },
       "n", "dead"},
      {"Oldest",
       [](const row& of) {
         const auto oldest = of->oldest();
         return cell(oldest ? span_words(*oldest) : count_words({}), !oldest);
       },
       "n", "oldest"},
      rate("In/s", &tableq::queue_rates::enqueued, "rate"),
      rate("Out/s", &tableq::queue_rates::left),
      {"Ready over time", [](const row& of) { return sparkline(of->past.get()); }, "wide"}};
  if (asked.site.databases.size() > 1) {
    out.insert(out.begin() + 1, {"Database", [&](const row& of) {
                                   return html("{}", asked.site.databases[of.database]->label());
                                 }});
  }
  return out;
}

html pager(const std::string& link, std::size_t from, std::size_t shown, std::size_t count) {
  if (shown >= count) return {};
  html out(R"(<p class="pager"><span>{} to {} of {} queues</span>)", from + 1, from + shown, count);
  if (from > 0) {
    out.put(R"( <a rel="prev" href="{}&from={}">Back</a>)", link,
            from - std::min(from, rows_of_a_page));
  }
  if (from + shown < count) {
    out.put(R"( <a rel="next" href="{}&from={}">Next</a>)", link, from + shown);
  }
  return out.put("</p>");
}

}  // namespace

page queues_page(const call& asked) {
  page out{.title = "Queues", .body = {}, .live = true};
  const std::string& find = asked.from.asked("find");
  const std::string by = asked.from.asked("by").empty() ? "name" : asked.from.asked("by");
  out.body.put(
      R"(<div class="head"><h1>Queues</h1><form class="find" role="search" action="{}">{})"
      R"(<label class="unseen" for="find">Part of a name</label><input id="find" name="find" )"
      R"(type="search" value="{}" placeholder="Part of a name"><button>Find</button></form></div>)",
      asked.link("/"), hidden("by", by), find);
  std::vector<std::shared_ptr<const database_view>> views;
  std::vector<row> rows;
  for (const auto& each : asked.site.databases) {
    views.push_back(each->view());
    out.body.put(R"(<div data-live="trouble{}">{}</div>)", views.size(),
                 trouble_banner(*views.back(), each->label()));
    for (const queue_view& queue : views.back()->queues) {
      if (queue.name().find(find) != std::string::npos) rows.push_back({views.size() - 1, &queue});
    }
  }
  std::ranges::stable_sort(rows, std::ranges::greater(),
                           [&](const row& each) { return place_of(by, *each.queue); });
  out.body += tiles(rows);
  if (rows.empty()) {
    out.body.put(R"(<p class="empty">{}</p>)",
                 find.empty() ? literal("There is no queue yet. Make one: tableq create fifo mail")
                              : literal("No queue has this in its name."));
    return out;
  }
  const std::string& first = asked.from.asked("from");
  std::size_t from = 0;
  std::from_chars(first.data(), first.data() + first.size(), from);
  from = std::min(from, rows.size());
  const std::size_t count = rows.size();
  const std::size_t shown = std::min(rows_of_a_page, count - from);
  rows = {rows.begin() + static_cast<std::ptrdiff_t>(from),
          rows.begin() + static_cast<std::ptrdiff_t>(from + shown)};
  const std::string link = asked.link("/?find=") + escaped(find) + "&by=";
  out.body += table(
      "Queues and their messages", columns_of(asked), rows,
      {.live = [](const row& of) { return "q" + std::to_string(of.database) + "-" + of->name(); },
       .by = by,
       .link = link});
  out.body += pager(link + escaped(by), from, shown, count);
  return out;
}

}  // namespace tool::web
