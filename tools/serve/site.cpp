#include "site.hpp"

#include <new>
#include <utility>

#include "exit_status.hpp"
#include "output.hpp"

namespace tool::web {

namespace {

using segments = std::vector<std::string>;

bool is(const segments& path, std::initializer_list<std::string_view> wanted) {
  return std::equal(path.begin(), path.end(), wanted.begin(), wanted.end());
}

segments below(const segments& path, std::size_t first) {
  return {path.begin() + static_cast<std::ptrdiff_t>(std::min(first, path.size())), path.end()};
}

page_error no_page() {
  return {404, "There is no such page."};
}

/// The status for what the database has said.
unsigned status_of_failure(const tableq::error& failure) {
  switch (failure.code()) {
    case tableq::errc::invalid_argument:
      return 400;
    case tableq::errc::permission_denied:
    case tableq::errc::read_only:
      return 403;
    case tableq::errc::not_found:
      return 404;
    case tableq::errc::conflict:
    case tableq::errc::kind_mismatch:
    case tableq::errc::options_mismatch:
      return 409;
    default:
      return 503;
  }
}

bool wants_data(const request& from) {
  return !from.path.empty() && (from.path[0] == "api" || from.path[0] == "metrics");
}

/// Where a login leads: a path of this server, never another one.
std::string own_target(const std::string& target, const std::string& prefix) {
  const bool own = target.starts_with(prefix + "/") && !target.starts_with("//") &&
                   target.find('\\') == std::string::npos && is_text(target) &&
                   target.find('\n') == std::string::npos && target.find('\r') == std::string::npos;
  return own ? target : prefix + "/";
}

page shown_page_of(call& asked) {
  const segments& path = asked.from.path;
  if (path.empty()) return queues_page(asked);
  if (path[0] != "db" || path.size() < 3) throw no_page();
  asked.database = database_number(asked, path[1]);
  if (is(below(path, 2), {"doctor"})) return doctor_page(asked);
  if (path[2] != "queues" || path.size() < 4) throw no_page();
  asked.queue = path[3];
  const segments rest = below(path, 4);
  if (rest.empty()) return queue_page(asked);
  if (is(rest, {"messages"})) return messages_page(asked);
  if (is(rest, {"dead"})) return dead_page(asked);
  if (is(rest, {"actions"})) return actions_page(asked);
  if (rest.size() == 2 && rest[0] == "messages") return message_page(asked, rest[1]);
  throw no_page();
}

response acted(call& asked) {
  const segments& path = asked.from.path;
  if (path.size() < 5 || path[0] != "db" || path[2] != "queues") throw no_page();
  asked.database = database_number(asked, path[1]);
  asked.queue = path[3];
  return act(asked, below(path, 4));
}

}  // namespace

bool site::is_quick(const request& from) const {
  const segments& path = from.path;
  const std::size_t first = parts_.prefix.empty() ? 0 : 1;
  if (from.posts) return is(below(path, first), {"login"}) || is(below(path, first), {"logout"});
  if (path.size() <= first) return true;
  // Queues and their figures are in memory; all else below a queue is read from the database.
  if (path[first] != "db" && path[first] != "api") return true;
  if (path[first] != "db" || path.size() - first < 4 || path[first + 2] != "queues") return false;
  return path.size() - first == 4 || is(below(path, first + 4), {"actions"});
}

response site::respond(const request& from) {
  try {
    return answer(from);
  } catch (const page_error& failure) {
    return wants_data(from) ? plain(failure.status(), failure.what() + std::string("\n"))
                            : failed(failure.status(), failure.what());
  } catch (const std::exception& failure) {
    complain(failure.what());
    return failed(500, "This page has failed. The server's standard error says why.");
  }
}

response site::answer(const request& as_sent) {
  request from = as_sent;
  if (auto refused = parts_.guard->refuse_foreign(from)) return *refused;
  if (!parts_.prefix.empty()) {
    if (from.path.empty() || "/" + from.path[0] != parts_.prefix) throw no_page();
    from.path.erase(from.path.begin());
  }
  // Of `/tableq/`.
  if (from.path.size() == 1 && from.path[0].empty()) from.path.clear();
  if (is(from.path, {"healthz"}) && !from.posts) return health(parts_);
  if (from.path.size() == 2 && from.path[0] == "assets" && !from.posts) return asset(from.path[1]);
  const bool open = parts_.guard->rules().open_metrics && is(from.path, {"metrics"});
  if (is(from.path, {"login"}) && !parts_.guard->rules().token.empty()) return log_in(from);
  const auto by = parts_.guard->admit(from);
  if (!by && !open) {
    if (wants_data(from) || from.posts) {
      response out = plain(401, "Give the token: Authorization: Bearer TOKEN\n");
      out.headers.emplace_back("WWW-Authenticate", "Bearer");
      return out;
    }
    // A longer one would be too long for the next request.
    return see_other(parts_.prefix + "/login" +
                     (from.target.size() < 2000 ? "?to=" + escaped(from.target) : ""));
  }
  return answer_admitted({.site = parts_, .from = from, .by = by.value_or(visitor())});
}

response site::answer_admitted(call asked) {
  const request& from = asked.from;
  try {
    if (from.posts) {
      if (!parts_.guard->is_own_form(asked.by, from)) {
        throw page_error(403, "The form was too old. Load the page again, and repeat.");
      }
      if (is(from.path, {"logout"})) {
        response out = see_other(asked.link("/login"));
        out.headers.emplace_back("Set-Cookie", parts_.guard->log_out(asked.by));
        return out;
      }
      if (!asked.may_change()) {
        throw page_error(403,
                         "This server only shows. Start it with --allow-changes to let it change.");
      }
      return acted(asked);
    }
    if (is(from.path, {"metrics"})) return metrics_text(parts_);
    if (from.path.size() >= 2 && is({from.path[0], from.path[1]}, {"api", "v1"})) {
      return data(asked, below(from.path, 2));
    }
    return framed(asked, shown_page_of(asked));
  } catch (const page_error& failure) {
    if (wants_data(from)) throw;
    return framed(asked, {.title = failure.what(), .body = {}}, failure.status());
  } catch (const tableq::error& failure) {
    const unsigned status = status_of_failure(failure);
    if (wants_data(from)) return plain(status, sentence_of(failure) + "\n");
    return framed(
        asked,
        {.title = failure.code() == tableq::errc::permission_denied ? "No right"
                                                                    : "The database has refused",
         .body = html("<p>{}</p>", sentence_of(failure))},
        status);
  } catch (const usage_error& failure) {  // A value of a form or of the address.
    if (wants_data(from)) return plain(400, failure.what() + std::string("\n"));
    return framed(asked, {.title = failure.what(), .body = {}}, 400);
  }
}

// NOLINTNEXTLINE(readability-make-member-function-const): it makes a session
response site::log_in(const request& from) {
  const std::string target =
      own_target(from.posts ? from.given("to") : from.asked("to"), parts_.prefix);
  const std::string& form_token = parts_.guard->open_form_token();
  if (!from.posts) {
    return framed_alone(parts_.prefix, login_page(form_token, parts_.prefix, target, ""), 200);
  }
  const auto cookie = parts_.guard->log_in(from);
  if (!cookie) {
    return framed_alone(parts_.prefix,
                        login_page(form_token, parts_.prefix, target, "This is not the token."),
                        403);
  }
  response out = see_other(target);
  out.headers.emplace_back("Set-Cookie", *cookie);
  return out;
}

response site::failed(unsigned status, const std::string& sentence) const {
  return framed_alone(parts_.prefix, {.title = sentence, .body = {}}, status);
}

}  // namespace tool::web
