#include "site.hpp"

#include <algorithm>
#include <limits>

#include "exit_status.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "serve_assets.hpp"

namespace tool::web {

namespace {

/// The status for what the database has said.
unsigned status_of(const tableq::error& failure) {
  switch (failure.code()) {
    case tableq::errc::invalid_argument:
      return 400;
    case tableq::errc::permission_denied:
    case tableq::errc::read_only:
      return 403;
    case tableq::errc::conflict:
    case tableq::errc::kind_mismatch:
    case tableq::errc::options_mismatch:
      return 409;
    default:
      return 503;
  }
}

bool wants_data(const request& from) {
  return from.path[0] == "api" || from.path[0] == "metrics";
}

/// Where a login leads: a path of this server, never another one.
std::string own_target(const std::string& target, const std::string& start) {
  // Browsers leave out tabs and newlines: "/\t/host" is another server.
  const auto printed = [](char c) { return c > ' ' && c < 0x7f && c != '\\'; };
  const bool own = target.starts_with(start) && !target.starts_with("//") &&
                   std::ranges::all_of(target, printed);
  return own ? target : start;
}

response as_json(const json& value) {
  return {.type = "application/json",
          .body = value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"};
}

response shown(const site& site, const page& content, const call* asked, unsigned status = 200) {
  return {.status = status, .body = framed(site, content, asked).release()};
}

/// A file that the pages need: `style.css`. @throws page_error for another name.
response asset(const std::string& name) {
  const auto made = [](const char* type, std::string_view text) -> response {
    return {
        .type = type, .body = std::string(text), .headers = {{"Cache-Control", "max-age=86400"}}};
  };
  if (name == "style.css") return made("text/css; charset=utf-8", assets::style_css);
  if (name == "live.js") return made("text/javascript; charset=utf-8", assets::live_js);
  if (name == "icon.svg") return made("image/svg+xml", assets::icon_svg);
  throw page_error(404, "There is no such file.");
}

}  // namespace

site::site(std::vector<std::unique_ptr<watched_database>> sources, settings given)
    : databases(std::move(sources)), guard(std::move(given)) {
  routes_ = {{"", queues_page, true},
             {"metrics", metrics_page, true},
             {"db/*/doctor", doctor_page},
             {"db/*/queues/*", queue_page, true},
             {"db/*/queues/*/messages", messages_page},
             {"db/*/queues/*/messages/*", message_page},
             {"db/*/queues/*/dead", dead_page},
             {"db/*/queues/*/actions", actions_page, true}};
  add_actions(routes_);
  add_data(routes_);
}

/// @param places what stands for each `*` of the route.
const route* site::find(const request& from, std::vector<std::string>& places) const {
  for (const route& each : routes_) {
    places.clear();
    const auto fits = [&](const std::string& part, const std::string& sent) {
      if (part == "*") places.push_back(sent);
      return part == "*" || part == sent;
    };
    const bool found = std::ranges::equal(split(each.path, '/'), from.path, fits);
    if (found && each.posts == from.posts) return &each;
  }
  return nullptr;
}

std::size_t site::database_at(const std::string& place) const {
  std::size_t out = 0;
  while (out < databases.size() && place != std::to_string(out + 1)) ++out;
  return out;
}

std::size_t site::lane_of(const request& from) const {
  std::vector<std::string> places;
  const route* const found = find(from, places);
  return found == nullptr || found->quick ? 0 : (database_at(places[0]) + 1) % lanes();
}

response site::failed(unsigned status, const std::string& title, const std::string& why,
                      const call* asked) const {
  if (asked != nullptr && wants_data(asked->from)) {
    return plain(status, (why.empty() ? title : why) + "\n");
  }
  const bool admitted = asked != nullptr && asked->by;
  return shown(*this, failure_page(*this, title, why), admitted ? asked : nullptr, status);
}

response site::respond(const request& from) {
  call asked{.site = *this, .from = from};
  try {
    return answer(asked);
  } catch (const page_error& failure) {
    return failed(failure.status(), failure.what(), "", &asked);
  } catch (const usage_error& failure) {  // A value of a form or of the address.
    return failed(400, failure.what(), "", &asked);
  } catch (const tableq::error& failure) {
    const bool right = failure.code() != tableq::errc::permission_denied;
    return failed(status_of(failure), right ? "The database has reported an error" : "No right",
                  sentence_of(failure), &asked);
  } catch (const std::exception& failure) {
    complain(failure.what());
    return failed(500, "This page has failed. The server's standard error says why.", "", &asked);
  }
}

response site::answer(call& asked) {
  const request& from = asked.from;
  const std::string& first = from.path[0];
  const auto gets = [&](std::string_view name, std::size_t segments = 1) {
    return !from.posts && first == name && from.path.size() == segments;
  };
  guard.refuse_foreign(from);
  if (gets("healthz")) return health(*this);
  if (gets("assets", 2)) return asset(from.path[1]);
  const settings& rules = guard.rules;
  if (first == "login" && from.path.size() == 1 && !rules.token.empty()) return log_in(from);
  asked.by = guard.admit(from);
  if (asked.by || (rules.open_metrics && gets("metrics"))) return answer_admitted(asked);
  if (wants_data(from) || from.posts) {
    response out = plain(401, "Give the token: Authorization: Bearer TOKEN\n");
    out.headers.emplace_back("WWW-Authenticate", "Bearer");
    return out;
  }
  // A longer one would be too long for the next request.
  return see_other(
      link("/login" + (from.target.size() < 2000 ? "?to=" + escaped(from.target) : "")));
}

response site::answer_admitted(call& asked) {
  const request& from = asked.from;
  if (from.posts) {
    if (!equal_in_constant_time(asked.by->form_token, from.form["form"])) {
      throw page_error(403, "The form is too old. Load the page again, and repeat.");
    }
    if (from.path == std::vector<std::string>{"logout"}) {
      response out = see_other(link("/login"));
      out.headers.emplace_back("Set-Cookie", guard.log_out(*asked.by));
      return out;
    }
    if (!asked.rules().allows_changes) {
      throw page_error(403,
                       "This server only shows. Start it with --allow-changes to let it change.");
    }
  }
  std::vector<std::string> places;
  const route* const found = find(from, places);
  if (found == nullptr) throw page_error(404, "There is no such page.");
  if (!places.empty()) {
    places.resize(3);
    asked.database = database_at(places[0]);
    if (asked.database == databases.size()) {
      throw page_error(404, "There is no such database.");
    }
    asked.view = asked.watched().view();
    asked.queue = places[1];
    asked.item = places[2];
  }
  if (const auto* content = std::get_if<page (*)(const call&)>(&found->answer)) {
    return shown(*this, (*content)(asked), &asked);
  }
  if (const auto* data = std::get_if<json (*)(const call&)>(&found->answer)) {
    return as_json((*data)(asked));
  }
  return std::get<response (*)(const call&)>(found->answer)(asked);
}

// NOLINTNEXTLINE(readability-make-member-function-const): it makes a session
response site::log_in(const request& from) {
  const std::string target = own_target(from.posts ? from.form["to"] : from.query["to"], link("/"));
  const auto asking = [&](unsigned status, const std::string& trouble) {
    return shown(*this, login_page(*this, target, trouble), nullptr, status);
  };
  if (!from.posts) return asking(200, "");
  const auto cookie = guard.log_in(from);
  if (!cookie) return asking(403, "This is not the token, or the page was too old. Try again.");
  response out = see_other(target);
  out.headers.emplace_back("Set-Cookie", *cookie);
  return out;
}

const queue_view& view_of(const call& asked) {
  const database_view& all = *asked.view;
  if (const queue_view* found = all.find(asked.queue)) return *found;
  if (!all.trouble.empty()) throw page_error(503, all.trouble);
  if (!all.looked_at) throw page_error(503, "The queues are not read yet. Load the page again.");
  throw page_error(404, "The database has no such queue.");
}

any_source source_of(const call& asked) {
  const queue_view& queue = view_of(asked);
  if (!queue.opened) throw page_error(503, "The queue could not be opened: " + queue.trouble);
  return *queue.opened;
}

tableq::claim_queue claim_of(const call& asked) {
  const any_source opened = source_of(asked);
  const auto* claim = std::get_if<tableq::claim_queue>(&opened);
  if (claim == nullptr) throw page_error(404, "Only claim queues have this page.");
  return *claim;
}

tableq::message_id id_of(const call& asked) {
  return {
      parse_number("The message's id", asked.item, 1, std::numeric_limits<std::int64_t>::max())};
}

tableq::message_detail detail_for(const call& asked) {
  return asked.rules().shows_payloads ? tableq::message_detail::all
                                      : tableq::message_detail::outline;
}

}  // namespace tool::web
