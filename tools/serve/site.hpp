#pragma once

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
  std::string item = {};     ///< Of paths below a message: its id, as sent.

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

/// A page before its frame.
struct page {
  std::string title;
  html body;
  bool live = false;  ///< The script reads its figures again and again.
};

/// An address, and its answer. Each throws page_error, usage_error for a wrong value in the address
/// or the form, or tableq::error of the database.
struct route {
  /// The first `*` is the number of a database, the second a queue's name, the third an item.
  std::string path;
  std::variant<page (*)(const call&), json (*)(const call&), response (*)(const call&)> answer;
  bool quick = false;  ///< It is made of what is in memory.
  bool posts = false;
};

/// Answers all requests: guards, then pages, actions and data.
class site {
 public:
  explicit site(site_parts parts);

  /// Throws nothing but for want of memory.
  [[nodiscard]] response respond(const request& from);
  /// Whether it is answered without the database.
  [[nodiscard]] bool is_quick(const request& from) const;
  /// A page that tells why there is no other one.
  [[nodiscard]] response failed(unsigned status, const std::string& sentence) const;

 private:
  [[nodiscard]] const route* find(const request& from, call* into = nullptr) const;
  [[nodiscard]] std::vector<std::string> own_path(const request& from) const;
  [[nodiscard]] response answer(request from);
  [[nodiscard]] response answer_admitted(call asked);
  [[nodiscard]] response log_in(const request& from);

  site_parts parts_;
  std::vector<route> routes_;
};

page queues_page(const call& asked);
page queue_page(const call& asked);
page messages_page(const call& asked);
page message_page(const call& asked);
page dead_page(const call& asked);
page actions_page(const call& asked);
page doctor_page(const call& asked);
page login_page(const std::string& form_token, const std::string& prefix, const std::string& target,
                const std::string& trouble);
response metrics_text(const call& asked);
response health(const site_parts& site);

/// The addresses of the forms, and of the data.
void add_actions(std::vector<route>& to);
void add_data(std::vector<route>& to);

/// The page in its frame.
response framed(const call& asked, page content, unsigned status = 200);
/// The same without navigation, for visitors who were not admitted.
response framed_alone(const std::string& prefix, page content, unsigned status);

/// A file that the pages need: `style.css`. @throws page_error for another name.
response asset(const std::string& name);

// Pieces of pages.

/// A field of a form that nobody sees.
html hidden(std::string_view name, std::string_view value);
/// A button that sends a form to `target`.
html button(const call& asked, const std::string& target, literal words, const html& inputs = {},
            literal style = "");
/// A form behind a click, for what cannot be undone.
html danger(const call& asked, const std::string& target, literal summary, literal words,
            const html& inputs = {});
/// ` aria-current="page"` if it is so.
literal current(bool here);
/// A way to the actions on this queue, if there were some.
html actions_link(const call& asked);
/// A line that says that the user may not read it.
html no_right(literal what);
/// A part of a page.
html section(literal title, const html& content);
/// One for what is read while somebody looks.
template <class One, class Show>
html section_of(literal title, literal what, const beside<One>& from, const Show& show) {
  return section(title, from.no_right           ? no_right(what)
                        : !from.trouble.empty() ? html("<p>{}</p>", from.trouble)
                        : !from.found           ? html(R"(<p class="quiet">Not read yet.</p>)")
                                                : show(*from.found));
}
/// A banner when the database is away or the queue cannot be read.
html trouble_banner(const database_view& all, const std::string& label);

// The queue of a call.

/// The view of this queue. @throws page_error when there is none.
const queue_view& view_of(const call& asked, const database_view& all);
/// The open queue. @throws page_error when there is none.
any_source source_of(const call& asked);
/// The same, of kind claim. @throws page_error for another kind.
tableq::claim_queue claim_of(const call& asked);
/// The id of a message in an address. @throws usage_error
tableq::message_id id_of(const call& asked);
/// All of a message, or all that is not hidden.
tableq::message_detail detail_for(const call& asked);

}  // namespace tool::web
