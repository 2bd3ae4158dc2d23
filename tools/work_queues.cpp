#include "work_queues.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <set>
#include <string_view>
#include <utility>

#include "exit_status.hpp"
#include "parse.hpp"
#include "source.hpp"

namespace tool {

namespace {

bool plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
}

/// Whether it can be the NAME of a database.
bool is_name(std::string_view text) {
  constexpr std::size_t most_letters = 40;
  return !text.empty() && text.size() <= most_letters && text.front() >= 'a' &&
         text.front() <= 'z' && std::all_of(text.begin(), text.end(), plain);
}

std::string variable_of(const std::string& database) {
  std::string out = "TABLEQ_DB_" + database;
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

std::map<std::string, std::string> databases_of(const argument& also_db) {
  std::map<std::string, std::string> out;
  for (const std::string& text : also_db.all()) {
    const std::size_t equals = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, equals);
    // The text may be an address: the complaint must not repeat it.
    if (!is_name(name)) {
      throw usage_error(
          "--also-db takes NAME or NAME=URL; a NAME has up to 40 lower-case letters, digits and _, "
          "and begins with a letter");
    }
    const std::string variable = variable_of(name);
    const char* const found = std::getenv(variable.c_str());
    const std::string url = equals < text.size() ? text.substr(equals + 1)
                            : found != nullptr   ? found
                                                 : "";
    if (url.empty()) {
      throw usage_error("no address of database " + in_quotes(name) + ": set " + variable +
                        ", or give --also-db " + name + "=URL");
    }
    if (!out.emplace(name, url).second) {
      throw usage_error("--also-db names database " + in_quotes(name) + " twice");
    }
  }
  return out;
}

std::vector<work_queue> queues_of(const argument& given,
                                  const std::map<std::string, std::string>& further) {
  constexpr std::size_t most = 100;
  if (given.all().size() > most) throw usage_error("one worker serves up to 100 queues");
  std::vector<work_queue> out;
  std::set<std::string> seen;
  for (const std::string& text : given.all()) {
    if (text.find('=') != std::string::npos) {
      throw usage_error(
          "a QUEUE has no \"=\"; --weight and --precedence take one QUEUE=N: give the option again "
          "for the next one");
    }
    const std::size_t colon = text.find(':');
    work_queue one{.name = text};
    if (colon != std::string::npos) {
      one = {.database = text.substr(0, colon), .name = text.substr(colon + 1)};
      if (!is_name(one.database))
        throw usage_error("a QUEUE is the name of a queue, or NAME:QUEUE");
      if (!further.contains(one.database)) {
        throw usage_error("there is no database " + in_quotes(one.database) +
                          "; name it with --also-db " + one.database);
      }
    }
    if (!seen.insert(text).second)
      throw usage_error("queue " + in_quotes(text) + " is given twice");
    out.push_back(std::move(one));
  }
  for (const auto& each : further) {
    if (std::none_of(out.begin(), out.end(),
                     [&](const work_queue& one) { return one.database == each.first; })) {
      throw usage_error("--also-db " + each.first + " is not used; give a queue of it as " +
                        each.first + ":QUEUE");
    }
  }
  return out;
}

/// The queue and the number in a `QUEUE=N`.
std::pair<work_queue*, std::int64_t> choice_of(const std::string& text, const std::string& option,
                                               std::vector<work_queue>& queues, std::int64_t least,
                                               std::int64_t most) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw usage_error(option + " takes QUEUE=N");
  const std::string queue = text.substr(0, equals);
  const auto found = std::find_if(queues.begin(), queues.end(), [&](const work_queue& one) {
    return !one.name.empty() && one.shown() == queue;
  });
  if (found == queues.end()) {
    const bool good =
        std::all_of(queue.begin(), queue.end(), [](char c) { return plain(c) || c == ':'; });
    throw usage_error(option + " is for a queue that is not served" +
                      (good ? ": " + in_quotes(queue) : std::string()));
  }
  return {&*found, parse_number(option, text.substr(equals + 1), least, most)};
}

template <class Number>
void choose(const argument& given, std::vector<work_queue>& queues, Number work_queue::*member,
            std::int64_t least, std::int64_t most) {
  std::set<const work_queue*> seen;
  for (const std::string& text : given.all()) {
    const auto [queue, number] = choice_of(text, given.name(), queues, least, most);
    if (!seen.insert(queue).second) {
      throw usage_error(given.name() + " is given twice for queue " + in_quotes(queue->shown()));
    }
    queue->*member = static_cast<Number>(number);
  }
}

/// Names the database in what goes wrong there, unless it is the first.
template <class Call>
auto in_database(const std::string& name, Call call) {
  if (name.empty()) return call();
  const std::string where = "database " + in_quotes(name) + ": ";
  try {
    return call();
  } catch (const tableq::error& failed) {
    throw tableq::error(failed.code(), failed.advice(), where + failed.what(),
                        {.sqlstate = failed.sqlstate(), .native = failed.native()});
  } catch (const usage_error& wrong) {
    throw usage_error(where + wrong.what());
  } catch (const refused_error& refused) {
    throw refused_error(where + refused.what());
  }
}

}  // namespace

std::string work_queue::shown() const {
  return database.empty() ? name : database + ":" + name;
}

std::vector<work_source> work_plan::open(const connection_options& first,
                                         std::size_t commands) const {
  struct opened {
    std::string address;
    tableq::database db;
  };
  std::map<std::string, opened> databases;
  std::vector<work_source> out;
  for (const work_queue& one : queues) {
    in_database(one.database, [&] {
      auto found = databases.find(one.database);
      if (found == databases.end()) {
        connection_options place = first;
        place.url = one.database.empty() ? address_of(first) : further.at(one.database);
        // A worker takes, settles and extends leases of each queue in a thread of its own.
        const std::size_t sessions = commands + 4 * queues.size();
        found = databases.emplace(one.database, opened{place.url, connect(place, false, sessions)})
                    .first;
      }
      tableq::database& db = found->second.db;
      const any_source source = one.name.empty() && !mapping.empty() ? open_mapping(db, mapping)
                                                                     : open_source(db, one.name);
      out.push_back({one, found->second.address, as_leasing(source)});
      out.back().which.name = name_of(source);
    });
  }
  return out;
}

work_plan work_queue_arguments::plan() const {
  if (mapping.given() && queues.all().size() > 1) {
    throw usage_error(
        "--mapping is for one table alone; store the mapping with tableq create table, and give "
        "the table as a QUEUE");
  }
  if (queues.given() == mapping.given()) throw usage_error("give either QUEUE or --mapping FILE");
  work_plan out;
  out.mapping = mapping.text();
  out.further = databases_of(also_db);
  out.queues = queues_of(queues, out.further);
  if (mapping.given()) out.queues.emplace_back();
  choose(weight, out.queues, &work_queue::weight, 1, 1000);
  choose(precedence, out.queues, &work_queue::precedence, std::numeric_limits<int>::min(),
         std::numeric_limits<int>::max());
  return out;
}

}  // namespace tool
