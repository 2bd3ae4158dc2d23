#pragma once

#include "access.hpp"
#include "html.hpp"
#include "http.hpp"
#include "jobs.hpp"
#include "watched.hpp"

namespace tool::web {

struct call;

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
  site(std::vector<std::unique_ptr<watched_database>> sources, settings given);

  /// A path of this site: `link("/db/1/doctor")`.
  [[nodiscard]] std::string link(const std::string& path) const {
    return guard.rules.prefix + path;
  }
  /// Throws nothing but for want of memory.
  [[nodiscard]] response respond(const request& from);
  /// Requests of one lane ask the same database; those of lane 0 none.
  [[nodiscard]] std::size_t lane_of(const request& from) const;
  [[nodiscard]] std::size_t lanes() const { return databases.size() + 1; }
  /// A page that tells why there is no other one.
  [[nodiscard]] response failed(unsigned status, const std::string& title,
                                const std::string& why = "", const call* asked = nullptr) const;

  // Pages and actions use these.
  const std::vector<std::unique_ptr<watched_database>> databases;
  access guard;
  jobs actions = {};

 private:
  [[nodiscard]] const route* find(const request& from, std::vector<std::string>& places) const;
  /// The database of a place; as many as there are: none.
  [[nodiscard]] std::size_t database_at(const std::string& place) const;
  [[nodiscard]] response answer(call& asked);
  [[nodiscard]] response answer_admitted(call& asked);
  [[nodiscard]] response log_in(const request& from);

  std::vector<route> routes_;
};

/// A request, and the place that it names.
struct call {
  class site& site;
  const request& from;
  std::optional<visitor> by = {};                  ///< Nobody: for pages that need no token.
  std::size_t database = 0;                        ///< Of paths below `/db`, where it begins at 1.
  std::shared_ptr<const database_view> view = {};  ///< Of this database.
  std::string queue = {};                          ///< Of paths below a queue.
  std::string item = {};                           ///< Of paths below a message: its id, as sent.

  [[nodiscard]] watched_database& watched() const { return *site.databases[database]; }
  [[nodiscard]] const settings& rules() const { return site.guard.rules; }
  [[nodiscard]] std::string database_link(std::size_t which, const std::string& rest) const {
    return site.link("/db/" + std::to_string(which + 1) + rest);
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

page queues_page(const call& asked);
page queue_page(const call& asked);
page messages_page(const call& asked);
page message_page(const call& asked);
page dead_page(const call& asked);
page actions_page(const call& asked);
page doctor_page(const call& asked);
response metrics_page(const call& asked);
response health(const site& site);

/// The addresses of the forms, and of the data.
void add_actions(std::vector<route>& to);
void add_data(std::vector<route>& to);

/// The page in its frame.
/// @param asked null for visitors who were not admitted: a small frame, without navigation.
html framed(const site& site, const page& content, const call* asked);
page login_page(const site& site, const std::string& target, const std::string& trouble);
page failure_page(const site& site, const std::string& title, const std::string& why);

// The queue of a call.

/// The view of this queue. @throws page_error when there is none.
const queue_view& view_of(const call& asked);
/// The open queue. @throws page_error when there is none.
any_source source_of(const call& asked);
/// The same, of kind claim. @throws page_error for another kind.
tableq::claim_queue claim_of(const call& asked);
/// The id of a message in an address. @throws usage_error
tableq::message_id id_of(const call& asked);
/// All of a message, or all that is not hidden.
tableq::message_detail detail_for(const call& asked);

}  // namespace tool::web
