#include <algorithm>

#include "pieces.hpp"
#include "serve_assets.hpp"
#include "site.hpp"

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
  html out(R"(<nav class="bar" aria-label="Pages"><a class="brand" href="{}">tableq</a>)"
           R"(<a href="{}"{}>Queues</a>)",
           asked.link("/"), asked.link("/"), current(asked.from.path.empty()));
  const std::size_t count = asked.site.databases.size();
  for (std::size_t i = 0; i < count; ++i) {
    const bool here = asked.from.path.size() == 3 && asked.database == i;
    out.put(R"(<a href="{}"{}>Doctor{}</a>)", asked.database_link(i, "/doctor"), current(here),
            count == 1 ? std::string() : " " + std::to_string(i + 1));
  }
  out.put(R"(<span class="push"></span>)");
  if (!asked.may_change()) out.put(R"(<span class="note">read only</span>)");
  if (!asked.by.session.empty()) {
    out.put(R"(<form method="post" action="{}">{}<button class="plain">Log out</button></form>)",
            asked.link("/logout"), hidden("form", asked.by.form_token));
  }
  return out.put("</nav>\n");
}

/// The pages above one of a queue.
html crumbs(const call& asked) {
  if (asked.queue.empty()) return {};
  html out(R"(<nav class="crumbs" aria-label="Above this page"><a href="{}">Queues</a>)",
           asked.link("/"));
  if (asked.site.databases.size() > 1) out.put(" <span>/</span> {}", asked.watched().label());
  if (asked.from.path.size() > 4) {
    out.put(R"( <span>/</span> <a href="{}">{}</a>)", asked.here(), asked.queue);
  }
  return out.put("</nav>");
}

/// How old the figures are.
html freshness(const call& asked) {
  html out(R"(<p class="fresh" data-live="fresh">)");
  const auto& databases = asked.site.databases;
  for (const auto& each : databases) {
    const auto all = each->view();
    if (&each != &databases.front()) out.put("<br>");
    if (databases.size() > 1) out.put("{}: ", each->label());
    if (!all->looked_at) {
      out.put("No figures yet.");
    } else {
      const bool often = all->every < std::chrono::seconds{1};
      out.put("Figures {} old, read {}.", span_words(all->age()),
              often ? "several times a second" : "every " + span_words(all->every));
    }
  }
  return out.put("</p>\n");
}

}  // namespace

response framed(const call& asked, page content, unsigned status) {
  html out = head(asked.site.prefix, content.title);
  out.put("<body{}>\n<a class=\"skip\" href=\"#main\">To the content</a>\n{}<main id=\"main\">{}",
          content.live ? literal(R"( class="live")") : literal(""), navigation(asked),
          crumbs(asked));
  const auto said = asked.site.guard->notices.find(asked.from.asked("said"));
  if (said) out.put(R"(<p class="notice" role="status">{}</p>)", *said);
  if (status != 200) out.put("<h1>{}</h1>", content.title);
  if (content.body.empty()) {
    out.put(R"(<p><a href="{}">To the queues</a></p>)", asked.link("/"));
  }
  out.put("{}</main>\n<footer>", content.body);
  if (content.live) {
    out.put(R"(<p class="switch" hidden><button id="live" type="button" aria-pressed="true">)"
            R"(Live</button> <span id="live-trouble"></span></p>)");
  }
  out.put("{}</footer>\n</body>\n</html>\n", freshness(asked));
  return {.status = status, .body = out.release()};
}

response framed_alone(const std::string& prefix, page content, unsigned status) {
  html out = head(prefix, content.title);
  out.put(R"(<body class="alone"><main id="main"><p class="brand">tableq</p>{})",
          content.body.empty()
              ? html(R"(<h1>{}</h1><p><a href="{}/">To the queues</a></p>)", content.title, prefix)
              : content.body);
  return {.status = status, .body = out.put("</main></body></html>\n").release()};
}

page login_page(const std::string& form_token, const std::string& prefix, const std::string& target,
                const std::string& trouble) {
  page out{"Log in", html("<h1>Log in</h1>")};
  if (!trouble.empty()) out.body.put(R"(<p class="banner bad" role="alert">{}</p>)", trouble);
  out.body.put(R"(<form method="post" action="{}/login" class="login">{}{}
<label for="token">Token</label>
<input id="token" name="token" type="password" autocomplete="current-password" required autofocus>
<button class="main">Log in</button>
</form>
<p class="quiet">The token is in the file that the server was started with.</p>)",
               prefix, hidden("form", form_token), hidden("to", target));
  return out;
}

response asset(const std::string& name) {
  static const std::map<std::string, std::pair<const char*, std::string_view>> all{
      {"style.css", {"text/css; charset=utf-8", assets::style_css}},
      {"live.js", {"text/javascript; charset=utf-8", assets::live_js}},
      {"icon.svg", {"image/svg+xml", assets::icon_svg}}};
  const auto found = all.find(name);
  if (found == all.end()) throw page_error(404, "There is no such file.");
  const auto& [type, text] = found->second;
  return {.type = type, .body = std::string(text), .headers = {{"Cache-Control", "max-age=86400"}}};
}

html hidden(std::string_view name, std::string_view value) {
  return html(R"(<input type="hidden" name="{}" value="{}">)", name, value);
}

html button(const call& asked, const std::string& target, literal words, const html& inputs,
            literal style) {
  return html(
      R"(<form method="post" action="{}" class="action">{}{}<button class="{}">{}</button></form>)",
      target, hidden("form", asked.by.form_token), inputs, style, words);
}

html danger(const call& asked, const std::string& target, literal summary, literal words,
            const html& inputs) {
  return html(R"(<details class="danger"><summary>{}</summary>{}</details>)", summary,
              button(asked, target, words, inputs, "bad"));
}

html section(literal title, const html& content) {
  return html("<section><h2>{}</h2>{}</section>", title, content);
}

literal current(bool here) {
  return here ? literal(R"( aria-current="page")") : literal("");
}

html actions_link(const call& asked) {
  if (asked.site.actions.of(asked.here()).empty()) return {};
  return html(R"( <a href="{}">Actions</a>)", asked.here("/actions"));
}

html no_right(literal what) {
  return quiet("No right: the user of the database may not read {}.", what);
}

html trouble_banner(const database_view& all, const std::string& label) {
  if (all.trouble.empty()) return {};
  html out(R"(<div class="banner bad" role="status"><strong>{} does not answer.</strong> )"
           R"(<span>{}</span>)",
           label, all.trouble);
  if (all.looked_at) {
    const auto time = std::chrono::floor<std::chrono::milliseconds>(all.looked_at_time);
    out.put(" <span>The figures are those of {}, {} ago.</span>",
            time_words(tableq::timestamp(time.time_since_epoch())), span_words(all.age()));
  }
  return out.put(" <span>It is tried again by itself.</span></div>");
}

}  // namespace tool::web
