#include "site.hpp"

#include <algorithm>
#include <limits>

#include "exit_status.hpp"
#include "output.hpp"
#include "parse.hpp"
#include "serve_assets.hpp"

namespace tool::web {

namespace {

using segments = std::vector<std::string>;

bool is(const segments& path, std::string_view wanted) {
  return path.size() == 1 && path[0] == wanted;
}

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

bool wants_data(const segments& path) {
  return !path.empty() && (path[0] == "api" || path[0] == "metrics");
}

/// Where a login leads: a path of this server, never another one.
std::string own_target(const std::string& target, const std::string& prefix) {
  const bool own = target.starts_with(prefix + "/") && !target.starts_with("//") &&
                   target.find_first_of("\\\n\r") == std::string::npos && is_text(target);
  return own ? target : prefix + "/";
}

response as_json(const json& value) {
  return {.type = "application/json",
          .body = value.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"};
}

/// The segments of the path that stand for each `*` of the route. Empty: it is no path of this
/// route.
std::optional<segments> matched(const route& one, const segments& path) {
  segments out;
  const segments wanted = one.path.empty() ? segments() : split(one.path, '/');
  const bool same = std::ranges::equal(wanted, path, [&](const auto& part, const auto& sent) {
    if (part == "*") out.push_back(sent);
    return part == "*" || part == sent;
  });
  return same ? std::optional(out) : std::nullopt;
}

/// A file that the pages need: `style.css`. @throws page_error for another name.
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

}  // namespace

site::site(site_parts parts) : parts_(std::move(parts)) {
  routes_ = {{"", queues_page, true},
             {"metrics", metrics_text, true},
             {"db/*/doctor", doctor_page},
             {"db/*/queues/*", queue_page, true},
             {"db/*/queues/*/messages", messages_page},
             {"db/*/queues/*/messages/*", message_page},
             {"db/*/queues/*/dead", dead_page},
             {"db/*/queues/*/actions", actions_page, true}};
  add_actions(routes_);
  add_data(routes_);
}

const route* site::find(const request& from, call* into) const {
  for (const route& each : routes_) {
    const auto found = each.posts == from.posts ? matched(each, from.path) : std::nullopt;
    if (!found) continue;
    if (into == nullptr || found->empty()) return &each;
    while (into->database < parts_.databases.size() &&
           found->at(0) != std::to_string(into->database + 1)) {
      ++into->database;
    }
    if (into->database == parts_.databases.size()) {
      throw page_error(404, "There is no such database.");
    }
    if (found->size() > 1) into->queue = found->at(1);
    if (found->size() > 2) into->item = found->at(2);
    return &each;
  }
  return nullptr;
}

segments site::own_path(const request& from) const {
  segments out = from.path;
  if (!parts_.prefix.empty()) {
    if (out.empty() || "/" + out[0] != parts_.prefix)
      throw page_error(404, "There is no such page.");
    out.erase(out.begin());
  }
  if (is(out, "")) out.clear();  // Of `/tableq/`.
  return out;
}

bool site::is_quick(const request& from) const {
  request own{.posts = from.posts};
  try {
    own.path = own_path(from);
  } catch (const page_error&) {
    return true;
  }
  const route* const found = find(own);
  return found == nullptr || found->quick;
}

response site::respond(const request& from) {
  try {
    return answer(from);
  } catch (const page_error& failure) {
    return wants_data(from.path) ? plain(failure.status(), failure.what() + std::string("\n"))
                                 : failed(failure.status(), failure.what());
  } catch (const std::exception& failure) {
    complain(failure.what());
    return failed(500, "This page has failed. The server's standard error says why.");
  }
}

response site::answer(request from) {
  parts_.guard->refuse_foreign(from);
  from.path = own_path(from);
  if (!from.posts && is(from.path, "healthz")) return health(parts_);
  if (!from.posts && from.path.size() == 2 && from.path[0] == "assets") return asset(from.path[1]);
  if (is(from.path, "login") && !parts_.guard->rules().token.empty()) return log_in(from);
  const auto by = parts_.guard->admit(from);
  const bool open = parts_.guard->rules().open_metrics && is(from.path, "metrics");
  if (by || open) {
    const visitor admitted = by.value_or(visitor());
    return answer_admitted({.site = parts_, .from = from, .by = admitted});
  }
  if (wants_data(from.path) || from.posts) {
    response out = plain(401, "Give the token: Authorization: Bearer TOKEN\n");
    out.headers.emplace_back("WWW-Authenticate", "Bearer");
    return out;
  }
  // A longer one would be too long for the next request.
  return see_other(parts_.prefix + "/login" +
                   (from.target.size() < 2000 ? "?to=" + escaped(from.target) : ""));
}

response site::answer_admitted(call asked) {
  const request& from = asked.from;
  const auto shown = [&](unsigned status, const page& content) -> response {
    return {.status = status, .body = framed(parts_, content, &asked).release()};
  };
  const auto failed_by = [&](unsigned status, const std::string& title, const std::string& why) {
    if (wants_data(from.path)) return plain(status, (why.empty() ? title : why) + "\n");
    return shown(status, failure_page(parts_, title, why));
  };
  try {
    if (from.posts) {
      if (!equal_in_constant_time(asked.by.form_token, from.given("form"))) {
        throw page_error(403, "The form is too old. Load the page again, and repeat.");
      }
      if (is(from.path, "logout")) {
        response out = see_other(asked.link("/login"));
        out.headers.emplace_back("Set-Cookie", parts_.guard->log_out(asked.by));
        return out;
      }
      if (!asked.may_change()) {
        throw page_error(403,
                         "This server only shows. Start it with --allow-changes to let it change.");
      }
    }
    const route* const found = find(from, &asked);
    if (found == nullptr) throw page_error(404, "There is no such page.");
    if (const auto* content = std::get_if<page (*)(const call&)>(&found->answer)) {
      return shown(200, (*content)(asked));
    }
    if (const auto* data = std::get_if<json (*)(const call&)>(&found->answer)) {
      return as_json((*data)(asked));
    }
    return std::get<response (*)(const call&)>(found->answer)(asked);
  } catch (const page_error& failure) {
    return failed_by(failure.status(), failure.what(), "");
  } catch (const usage_error& failure) {  // A value of a form or of the address.
    return failed_by(400, failure.what(), "");
  } catch (const tableq::error& failure) {
    const bool right = failure.code() != tableq::errc::permission_denied;
    return failed_by(status_of(failure), right ? "The database has reported an error" : "No right",
                     sentence_of(failure));
  }
}

// NOLINTNEXTLINE(readability-make-member-function-const): it makes a session
response site::log_in(const request& from) {
  const std::string target =
      own_target(from.posts ? from.given("to") : from.asked("to"), parts_.prefix);
  const auto asking = [&](unsigned status, const std::string& trouble) -> response {
    const page content = login_page(parts_, target, trouble);
    return {.status = status, .body = framed(parts_, content, nullptr).release()};
  };
  if (!from.posts) return asking(200, "");
  const auto cookie = parts_.guard->log_in(from);
  if (!cookie) return asking(403, "This is not the token, or the page was too old. Try again.");
  response out = see_other(target);
  out.headers.emplace_back("Set-Cookie", *cookie);
  return out;
}

response site::failed(unsigned status, const std::string& sentence) const {
  const page content = failure_page(parts_, sentence, "");
  return {.status = status, .body = framed(parts_, content, nullptr).release()};
}

const queue_view& view_of(const call& asked, const database_view& all) {
  if (const queue_view* found = all.find(asked.queue)) return *found;
  if (!all.trouble.empty()) throw page_error(503, all.trouble);
  if (!all.looked_at) throw page_error(503, "The queues are not read yet. Load the page again.");
  throw page_error(404, "The database has no such queue.");
}

any_source source_of(const call& asked) {
  const auto all = asked.watched().view();
  const queue_view& queue = view_of(asked, *all);
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
  return asked.site.shows_payloads ? tableq::message_detail::all : tableq::message_detail::outline;
}

}  // namespace tool::web
