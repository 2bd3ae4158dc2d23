#pragma once

#include <cstddef>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "access.hpp"
#include "html.hpp"
#include "http.hpp"
#include "jobs.hpp"
#include "watched.hpp"

namespace tool::web {

/// The sources of the pages.
struct site_parts {
  std::vector<std::unique_ptr<watched_database>> databases;
  std::unique_ptr<access> guard;
  bool shows_payloads = false;
  jobs& actions;
  std::string prefix = {};  ///< Of all paths, behind a proxy: `/tableq`, or empty.
};

/// A request that was admitted.
struct call {
  site_parts& site;
  const request& from;
  const visitor& by;
  std::size_t database = 0;  ///< Of paths below `/db`; its number in them is one more.
  std::string queue = {};    ///< Of paths below a queue.

  [[nodiscard]] watched_database& watched() const { return *site.databases[database]; }
  [[nodiscard]] bool may_change() const { return site.guard->rules().allows_changes; }
  /// A path of this site: `link("/db/1/doctor")`.
  [[nodiscard]] std::string link(const std::string& path) const { return site.prefix + path; }
  [[nodiscard]] std::string database_link(std::size_t which, const std::string& rest = "") const {
    return link("/db/" + std::to_string(which + 1) + rest);
  }
  [[nodiscard]] std::string queue_link(std::size_t which, const std::string& name,
                                       const std::string& rest = "") const {
    return database_link(which, "/queues/" + escaped(name) + rest);
  }
  /// Of this queue.
  [[nodiscard]] std::string here(const std::string& rest = "") const {
    return queue_link(database, queue, rest);
  }
};

/// An answer other than the page: its sentence stands on a page of its own.
class page_error : public std::runtime_error {
 public:
  page_error(unsigned status, const std::string& sentence)
      : runtime_error(sentence), status_(status) {}
  [[nodiscard]] unsigned status() const { return status_; }

 private:
  unsigned status_;
};

/// A page before its frame.
struct page {
  std::string title;
  html body;
  html crumbs = {};   ///< The pages above it.
  bool live = false;  ///< The script reads its figures again and again.
};

/// Answers all requests: guards, then pages, actions and data.
class site {
 public:
  explicit site(site_parts parts) : parts_(std::move(parts)) {}

  /// Throws nothing but for want of memory.
  [[nodiscard]] response respond(const request& from);
  [[nodiscard]] bool is_quick(const request& from) const;
  /// A page that tells why there is no other one.
  [[nodiscard]] response failed(unsigned status, const std::string& sentence) const;

 private:
  [[nodiscard]] response answer(const request& as_sent);
  [[nodiscard]] response answer_admitted(call asked);
  [[nodiscard]] response log_in(const request& from);

  site_parts parts_;
};

// Pages. Each throws page_error, or tableq::error of the database.
page queues_page(const call& asked);
page queue_page(const call& asked);
page messages_page(const call& asked);
page message_page(const call& asked, const std::string& id);
page dead_page(const call& asked);
page actions_page(const call& asked);
page doctor_page(const call& asked);
page login_page(const std::string& form_token, const std::string& prefix, const std::string& target,
                const std::string& trouble);

/// The page in its frame.
response framed(const call& asked, page content, unsigned status = 200);
/// The same without navigation, for visitors who were not admitted.
response framed_alone(const std::string& prefix, page content, unsigned status);

/// Does what a form asks for. @return where to go on.
response act(const call& asked, const std::vector<std::string>& rest);

response metrics_text(const site_parts& site);
response health(const site_parts& site);
/// @param rest the path below `/api/v1`.
response data(const call& asked, const std::vector<std::string>& rest);

/// A file that the pages need: `style.css`. @throws page_error for another name.
response asset(const std::string& name);

// Pieces of pages.

/// A button that sends a form to `target`.
html button(const call& asked, const std::string& target, literal words, const html& inputs = {},
            literal style = "");
/// A form behind a click, for what cannot be undone.
html danger(const call& asked, const std::string& target, literal summary, literal words,
            const html& inputs = {});
/// A line of a list of facts.
template <class Value>
void fact(html& out, literal name, const Value& value) {
  out.put("<dt>{}</dt><dd>{}</dd>", name, value);
}
/// `running`, with its colour.
html state_mark(tableq::message_state state);
html kind_mark(tableq::kind kind);
html queue_crumbs(const call& asked, bool with_queue);
/// The view of this queue. @throws page_error when there is none.
const queue_view& view_of(const call& asked, const database_view& all);
/// The open queue. @throws page_error when there is none.
any_source source_of(const call& asked);
/// The same, of kind claim. @throws page_error for another kind.
tableq::claim_queue claim_of(const call& asked);
/// The database of a path, `1` and so on, exactly. @throws page_error
std::size_t database_number(const call& asked, const std::string& text);
/// The id of a message in an address. @throws usage_error
tableq::message_id id_of(const std::string& text);
/// A line that says that the user may not read it.
html no_right(literal what);
/// A section for what is read while somebody looks.
template <class One, class Show>
html section_of(literal title, literal what, const beside<One>& from, const Show& show) {
  html out("<section><h2>{}</h2>", title);
  if (from.no_right) {
    out += no_right(what);
  } else if (!from.trouble.empty()) {
    out.put("<p>{}</p>", from.trouble);
  } else if (!from.found) {
    out.put(R"(<p class="quiet">Not read yet.</p>)");
  } else {
    out += show(*from.found);
  }
  out.put("</section>");
  return out;
}
/// A banner when the database is away or the queue cannot be read.
html trouble_banner(const database_view& all, const std::string& label);

}  // namespace tool::web
