#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "support/backends.hpp"
#include "support/postgresql_place.hpp"

namespace tableq_test {
namespace {

constexpr const char* variable = "TABLEQ_TEST_CITUS";
const std::string impatient = "tableq_test_impatient";

/// A schema that is a shard: the database has citus.enable_schema_based_sharding.
class shard_place : public schema_place {
 public:
  shard_place() : schema_place(variable) { static_cast<void>(impatient_user()); }

  /// A setting of the session stays on the called server; those of a user go to all.
  std::string impatient_url() const override {
    settings theirs = tableq_settings();
    theirs["user"] = impatient;
    return address_of(theirs);
  }
  /// Notifications reach only the sessions of one server.
  std::optional<std::string> listening_sql() const override { return {}; }

  /// A session of a worker takes its snapshot when it reads.
  std::vector<std::string> conflict_setup() const override {
    return {"SET TRANSACTION ISOLATION LEVEL REPEATABLE READ",
            "SELECT count(*) FROM " + schema() + ".tableq_queues"};
  }
  /// Each statement by itself: Citus sends all of a text that has a GRANT to the workers. It sends
  /// no rights on the sequence of an identity column.
  rows sql(const std::string& text) override {
    rows last;
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = std::min(text.find(";\n", at), text.size());
      const std::string one = text.substr(at, end - at);
      if (one.starts_with("GRANT USAGE ON SEQUENCE")) {
        on_all_servers(one);
      } else if (!one.empty()) {
        last = schema_place::sql(one);
      }
      at = end + 2;
    }
    return last;
  }
  /// The called server opens sessions on the others in the name of the user.
  std::optional<std::string> url_without_ddl_rights() override {
    const auto url = schema_place::url_without_ddl_rights();
    if (url) {
      const std::string user = schema() + "_limited";
      sql("ALTER ROLE " + user + " LOGIN");
      on_all_servers("GRANT ALL ON ALL SEQUENCES IN SCHEMA " + schema() + " TO " + user);
    }
    return url;
  }
  /// Distributed tables have no triggers.
  bool quote_payloads_in_errors(std::string_view /*table*/) override { return false; }
  bool use_payloads_as_names(std::string_view /*table*/) override { return false; }
  bool add_trigger(const row_trigger& /*wanted*/) override { return false; }

  std::string other_url() override {
    settings there = tableq_settings();
    const row node = workers().at(0);
    there["host"] = node.at(0).value();
    there["port"] = node.at(1).value();
    return address_of(there);
  }
  bool move() override {
    const std::string at = sql("SELECT nodeport FROM citus_shards WHERE table_name = '" + schema() +
                               ".tableq_queues'::regclass")
                               .at(0)
                               .at(0)
                               .value();
    for (const row& node : workers()) {
      if (node.at(1) == at) continue;
      sql("SELECT citus_schema_move('" + schema() + "', '" + node.at(0).value() + "', " +
          node.at(1).value() + ")");
      return true;
    }
    throw std::runtime_error("the cluster has one worker; a move needs two");
  }

 private:
  void on_all_servers(const std::string& order) {
    const rows told = schema_place::sql("SELECT success, result FROM run_command_on_all_nodes(" +
                                        quoted(order) + ")");
    for (const row& node : told) {
      if (node.at(0) != "t") throw std::runtime_error(node.at(1).value_or("no result"));
    }
  }

  /// Makes the user once in each process.
  bool impatient_user() {
    static const bool there = takes("CREATE ROLE " + impatient + " LOGIN SUPERUSER");
    static const bool set = takes("ALTER ROLE " + impatient + " SET lock_timeout = '500ms'");
    return there && set;
  }
  rows workers() {
    return sql(
        "SELECT nodename, nodeport FROM pg_dist_node WHERE shouldhaveshards ORDER BY nodeport");
  }
};

class cluster_backend : public backend {
 public:
  std::string name() const override { return "citus"; }
  features can() const override {
    return {.ids_from_one = false, .returns_labels = false, .rare = true};
  }
  std::optional<std::string> missing() const override {
    const char* given = std::getenv(variable);
    if (given != nullptr && *given != '\0') return {};
    return std::string("the environment variable ") + variable + " is not set";
  }
  std::unique_ptr<place> fresh() const override { return std::make_unique<shard_place>(); }
};

}  // namespace

const backend& citus_backend() {
  static const cluster_backend only;
  return only;
}

}  // namespace tableq_test
