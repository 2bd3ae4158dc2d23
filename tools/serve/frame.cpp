#include "site.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "parse.hpp"
#include "serve_assets.hpp"
#include "words.hpp"

namespace tool::web {

namespace {

html head(const std::string& prefix, const std::string& title) {
  return html(R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{} - tableq</title>
<link rel="icon" href="{}/assets/icon.svg" type="image/svg+xml">
<link rel="stylesheet" href="{}/assets/style.css?v={}">
<script src="{}/assets/live.js?v={}" defer></script>
</head>
)",
              title, prefix, prefix, assets_version, prefix, assets_version);
}

html navigation(const call& asked) {
  const bool on_queues = asked.from.path.empty();
  html out;
  out.put(R"(<nav class="bar" aria-label="Pages"><a class="brand" href="{}">tableq</a>)",
          asked.link("/"));
  out.put(R"(<a href="{}"{}>Queues</a>)", asked.link("/"),
          on_queues ? literal(R"( aria-current="page")") : literal(""));
  const bool one = asked.site.databases.size() == 1;
  for (std::size_t i = 0; i < asked.site.databases.size(); ++i) {
    const bool here =
        asked.from.path.size() == 3 && asked.from.path[2] == "doctor" && asked.database == i;
    out.put(R"(<a href="{}"{}>Doctor{}</a>)", asked.database_link(i, "/doctor"),
            here ? literal(R"( aria-current="page")") : literal(""),
            one ? std::string() : " " + std::to_string(i + 1));
  }
  out.put(R"(<span class="push"></span>)");
  if (!asked.may_change()) out.put(R"(<span class="note">read only</span>)");
  if (!asked.by.session.empty()) {
    out.put(R"(<form method="post" action="{}"><input type="hidden" name="form" value="{}">)"
            R"(<button class="plain">Log out</button></form>)",
            asked.link("/logout"), asked.by.form_token);
  }
  out.put("</nav>\n");
  return out;
}

/// How old the figures are: those of the database that has not answered for longest.
html freshness(const call& asked) {
  html out;
  out.put(R"(<p class="fresh" data-live="fresh">)");
  bool first = true;
  for (const auto& each : asked.site.databases) {
    const auto all = each->view();
    if (!first) out.put("<br>");
    first = false;
    if (asked.site.databases.size() > 1) out.put("{}: ", each->label());
    if (!all->looked_at) {
      out.put("No figures yet.");
    } else {
      const bool often = all->every < std::chrono::seconds{1};
      out.put("Figures {} old, read {}.", span_words(all->age()),
              often ? "several times a second" : "every " + span_words(all->every));
    }
  }
  out.put("</p>\n");
  return out;
}

}  // namespace

response framed(const call& asked, page content, unsigned status) {
  html out = head(asked.site.prefix, content.title);
  out.put(R"(<body{}>
<a class="skip" href="#main">To the content</a>
)",
          content.live ? literal(R"( class="live")") : literal(""));
  out += navigation(asked);
  out.put(R"(<main id="main">)");
  if (!content.crumbs.empty()) {
    out.put(R"(<nav class="crumbs" aria-label="Above this page">{}</nav>)", content.crumbs);
  }
  const std::string said = asked.site.guard->notice(asked.from.asked("said"));
  if (!said.empty()) out.put(R"(<p class="notice" role="status">{}</p>)", said);
  if (content.body.empty()) {
    out.put(R"(<h1>{}</h1><p><a href="{}">To the queues</a></p>)", content.title, asked.link("/"));
  } else if (status != 200) {
    out.put("<h1>{}</h1>{}", content.title, content.body);
  } else {
    out += content.body;
  }
  out.put("</main>\n<footer>");
  if (content.live) {
    out.put(R"(<p class="switch" hidden><button id="live" type="button" aria-pressed="true">)"
            R"(Live</button> <span id="live-trouble"></span></p>)");
  }
  out += freshness(asked);
  out.put("</footer>\n</body>\n</html>\n");
  return {.status = status, .body = out.release()};
}

response framed_alone(const std::string& prefix, page content, unsigned status) {
  html out = head(prefix, content.title);
  out.put(R"(<body class="alone"><main id="main"><p class="brand">tableq</p>)");
  if (content.body.empty()) {
    out.put(R"(<h1>{}</h1><p><a href="{}/">To the queues</a></p>)", content.title, prefix);
  } else {
    out += content.body;
  }
  out.put("</main></body></html>\n");
  return {.status = status, .body = out.release()};
}

page login_page(const std::string& form_token, const std::string& prefix, const std::string& target,
                const std::string& trouble) {
  page out{.title = "Log in", .body = {}};
  out.body.put(R"(<h1>Log in</h1>)");
  if (!trouble.empty()) out.body.put(R"(<p class="banner bad" role="alert">{}</p>)", trouble);
  out.body.put(R"(<form method="post" action="{}/login" class="login">
<input type="hidden" name="form" value="{}"><input type="hidden" name="to" value="{}">
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button class="main">Log in</button>
</form>
<p class="quiet">The token is in the file that the server was started with.</p>)",
               prefix, form_token, target);
  return out;
}

html button(const call& asked, const std::string& target, literal words, const html& inputs,
            literal style) {
  return html(R"(<form method="post" action="{}" class="action"><input type="hidden" name="form" )"
              R"(value="{}">{}<button class="{}">{}</button></form>)",
              target, asked.by.form_token, inputs, style, words);
}

html danger(const call& asked, const std::string& target, literal summary, literal words,
            const html& inputs) {
  return html(R"(<details class="danger"><summary>{}</summary>{}</details>)", summary,
              button(asked, target, words, inputs, "bad"));
}

html state_mark(tableq::message_state state) {
  const auto name = std::string(tableq::to_string(state));
  return html(R"(<span class="state {}">{}</span>)", name, name);
}

html kind_mark(tableq::kind kind) {
  return html(R"(<span class="kind">{}</span>)", std::string(tableq::to_string(kind)));
}

html queue_crumbs(const call& asked, bool with_queue) {
  html out(R"(<a href="{}">Queues</a>)", asked.link("/"));
  if (asked.site.databases.size() > 1) out.put(" <span>/</span> {}", asked.watched().label());
  if (with_queue) {
    out.put(R"( <span>/</span> <a href="{}">{}</a>)", asked.here(), asked.queue);
  }
  return out;
}

const queue_view& view_of(const call& asked, const database_view& all) {
  if (const queue_view* found = all.find(asked.queue)) return *found;
  if (!all.trouble.empty()) throw page_error(503, all.trouble);
  if (!all.looked_at) throw page_error(503, "The queues are not read yet. Load the page again.");
  throw page_error(404, "There is no such queue in the database.");
}

any_source source_of(const call& asked) {
  const auto all = asked.watched().view();
  const queue_view& queue = view_of(asked, *all);
  auto opened = asked.watched().queue(asked.queue);
  if (!opened) throw page_error(503, "The queue could not be opened: " + queue.trouble);
  return std::move(*opened);
}

tableq::claim_queue claim_of(const call& asked) {
  any_source opened = source_of(asked);
  auto* claim = std::get_if<tableq::claim_queue>(&opened);
  if (claim == nullptr) throw page_error(404, "Only claim queues have such a page.");
  return *claim;
}

std::size_t database_number(const call& asked, const std::string& text) {
  for (std::size_t i = 0; i < asked.site.databases.size(); ++i) {
    if (text == std::to_string(i + 1)) return i;
  }
  throw page_error(404, "There is no such database.");
}

tableq::message_id id_of(const std::string& text) {
  return {parse_number("The message's id", text, 1, std::numeric_limits<std::int64_t>::max())};
}

html no_right(literal what) {
  return html(R"(<p class="quiet">No right: the user of the database may not read {}.</p>)", what);
}

html trouble_banner(const database_view& all, const std::string& label) {
  html out;
  if (all.trouble.empty()) return out;
  out.put(
      R"(<div class="banner bad" role="status"><strong>{} does not answer.</strong> <span>{}</span>)",
      label, all.trouble);
  if (all.looked_at) {
    const auto time = std::chrono::floor<std::chrono::milliseconds>(all.looked_at_time);
    out.put(" <span>The figures are those of {}, {} ago.</span>",
            time_words(tableq::timestamp(time.time_since_epoch())), span_words(all.age()));
  }
  out.put(" <span>It is tried again by itself.</span></div>");
  return out;
}

}  // namespace tool::web
