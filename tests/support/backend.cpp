#include "support/backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <list>
#include <sstream>

#include <soci/soci.h>

#include "support/backends.hpp"
#include "support/text.hpp"

namespace tableq_test {

std::unique_ptr<soci::session> place::refused_session() const {
  return nullptr;
}

const std::vector<const backend*>& built_backends() {
  static const std::vector<const backend*> built = {
#if defined(TABLEQ_WITH_SQLITE)
    &sqlite_file_backend(),
    &sqlite_memory_backend(),
#endif
#if defined(TABLEQ_WITH_POSTGRESQL)
    &postgresql_backend(),
#endif
#if defined(TABLEQ_WITH_ODBC) && defined(TABLEQ_WITH_SQLITE)
    &sqlite_odbc_backend(),
#endif
#if defined(TABLEQ_WITH_ODBC) && defined(TABLEQ_WITH_POSTGRESQL)
    &postgresql_odbc_backend(),
#endif
#if defined(TABLEQ_WITH_POSTGRESQL)
    &citus_backend(),
#endif
#if defined(TABLEQ_WITH_SQLSERVER)
    &sqlserver_backend(),
#endif
  };
  return built;
}

const std::vector<const backend*>& all_backends() {
  static const std::vector<const backend*> all = [] {
    std::vector<const backend*> out = built_backends();
    // Without an address they are counted by tests/conformance/required_test.cpp.
    std::erase_if(out, [](const backend* each) { return each->can().rare && each->missing(); });
    return out;
  }();
  return all;
}

namespace {

std::vector<std::string> required_names() {
  const char* list = std::getenv("TABLEQ_TEST_REQUIRE");
  std::istringstream names(list == nullptr ? "" : list);
  std::vector<std::string> out;
  for (std::string name; std::getline(names, name, ',');) {
    if (!name.empty()) out.push_back(name);
  }
  return out;
}

template <class Wanted>
std::vector<const backend*> those(Wanted wanted) {
  std::vector<const backend*> found;
  std::copy_if(all_backends().begin(), all_backends().end(), std::back_inserter(found),
               [&](const backend* each) { return wanted(each->can()); });
  return found;
}

}  // namespace

const std::vector<const backend*>& shared_backends() {
  static const auto found = those([](const features& can) { return can.shared; });
  return found;
}

namespace {

/// A backend whose sessions tests enlist by the client library's own handle.
class by_handle final : public backend {
 public:
  explicit by_handle(const backend& base) : base_(base) {}
  [[nodiscard]] std::string name() const override { return base_.name() + "_handle"; }
  [[nodiscard]] features can() const override {
    features out = base_.can();
    out.handles = true;
    return out;
  }
  [[nodiscard]] std::optional<std::string> missing() const override { return base_.missing(); }
  [[nodiscard]] std::unique_ptr<place> fresh() const override { return base_.fresh(); }

 private:
  const backend& base_;
};

}  // namespace

const std::vector<const backend*>& enlisting_backends() {
  static const auto found = [] {
    static std::list<by_handle> made;
    std::vector<const backend*> out = shared_backends();
    for (const backend* each : shared_backends()) out.push_back(&made.emplace_back(*each));
    return out;
  }();
  return found;
}

const std::vector<const backend*>& direct_backends() {
  static const auto found = those([](const features& can) { return !can.second_way; });
  return found;
}

const std::vector<const backend*>& distinct_backends() {
  static const auto found =
      those([](const features& can) { return can.shared && !can.second_way; });
  return found;
}

bool required(const backend& which) {
  const std::vector<std::string> names = required_names();
  return std::find(names.begin(), names.end(), which.name()) != names.end();
}

std::vector<std::string> required_in_vain() {
  std::vector<std::string> out = required_names();
  for (const backend* each : all_backends()) {
    if (each->missing()) continue;
    out.erase(std::remove(out.begin(), out.end(), each->name()), out.end());
  }
  return out;
}

std::optional<std::string> place::shadow_sql(std::string_view table) const {
  const std::string name(table);
  return "CREATE TEMPORARY TABLE " + name + " AS SELECT * FROM " + name + " WHERE 1 = 0";
}

std::string place::text_payload(std::string_view text) const {
  return "'" + replaced(std::string(text), "'", "''") + "'";
}

void place::insert_many(std::string_view table, const std::string& columns,
                        const std::string& values, std::int64_t count) {
  sql("INSERT INTO \"" + std::string(table) + "\" (" + columns + ") SELECT " + values + " FROM " +
      numbers(count));
}

void place::forbid_equal_payloads(std::string_view table) {
  const std::string name(table);
  sql("CREATE UNIQUE INDEX only_once_in_" + name + " ON \"" + name + "\" (payload)");
}

bool place::quote_payloads_in_errors(std::string_view /*table*/) {
  return false;
}

bool place::use_payloads_as_names(std::string_view /*table*/) {
  return false;
}

bool place::refuse(std::string_view table, const std::string& change,
                   const std::string& beginning) {
  const std::string condition = "substr(OLD.payload, 1, " + std::to_string(beginning.size()) +
                                ") = " + bytes_literal(beginning);
  return add_trigger({.table = table, .event = change, .condition = condition});
}

bool place::takes(const std::string& text) {
  try {
    sql(text);
    return true;
  } catch (const std::exception&) {  // The exception has the reason.
    return false;
  }
}

void place::drop_index(std::string_view /*table*/, const std::string& index) {
  sql("DROP INDEX \"" + index + "\"");
}

}  // namespace tableq_test
