#include "upgrade/old_tables.hpp"

#include <array>
#include <fstream>
#include <sstream>

namespace tableq_test {

const std::vector<std::string>& old_queues() {
  static const std::vector<std::string> all{"tableq", "jobs", "later", "line", "pile", "stack"};
  return all;
}

std::string old_tables_test::file(const std::string& name) {
  std::ifstream in(std::string(TABLEQ_OLD_TABLES) + "/" + db().backend() + "/0.1.0/" + name);
  std::ostringstream out;
  out << in.rdbuf();
  return out.str();
}

void old_tables_test::make_old_tables() {
  here().sql(file("catalogue.sql"));
  using values = std::array<const char*, 4>;
  for (const auto& [name, identity, kind, options] :
       {values{"pile", "101", "heap", ""}, values{"line", "102", "fifo", "ordering=strict"},
        values{"stack", "103", "lifo", "ordering=relaxed"}}) {
    const std::string text = replaced(replaced(file("plain.sql"), "{name}", name), "{kind}", kind);
    here().sql(replaced(replaced(text, "{identity}", identity), "{options}", options));
  }
  for (const char* part : {"pending", "claim", "messages"})
    here().sql(file(std::string(part) + ".sql"));
}

std::map<std::string, rows> old_tables_test::messages() {
  std::map<std::string, rows> out;
  for (const std::string table : {"pile", "line", "stack"})
    out[table] = here().sql("SELECT id, created_at, payload FROM " + table + " ORDER BY id");
  out["later"] = here().sql("SELECT id, created_at, due_at, payload FROM later ORDER BY id");
  out["jobs"] = here().sql(
      "SELECT id, state, priority, due_at, fence, attempts, max_attempts, retry, expires_at, "
      "created_at, claimed_at, finished_at, \"key\", past_key, group_key, headers, errors, payload "
      "FROM jobs ORDER BY id");
  return out;
}

std::map<std::string, std::string> old_tables_test::layouts() {
  std::map<std::string, std::string> out;
  for (const row& each : here().sql("SELECT name, layout FROM tableq_queues"))
    out[*each.at(0)] = *each.at(1);
  return out;
}

std::vector<std::string> old_tables_test::complaints(const tableq::database& of) {
  std::vector<std::string> out;
  for (const tableq::finding& each : of.inspect()) {
    const bool own = each.subject != "database" || contains(each.what, "layout") ||
                     contains(each.what, "missing");
    const bool of_messages = contains(each.what, "messages are dead");
    if (own && !of_messages && each.severity != tableq::finding::level::ok)
      out.push_back(each.subject + ": " + each.what + "; " + each.fix);
  }
  return out;
}

void old_tables_test::expect_newest(const std::map<std::string, rows>& before) {
  const auto now = layouts();
  for (const auto& [name, layout] : now) EXPECT_EQ(layout, "3") << name;
  EXPECT_EQ(now.size(), old_queues().size());
  EXPECT_EQ(messages(), before);
  EXPECT_EQ(complaints(db()), std::vector<std::string>());
}

std::string old_tables_test::text_of(const tableq::migration_step& step) {
  return step.queue + " " + std::to_string(step.from) + " " + std::to_string(step.to);
}

std::vector<std::string> old_tables_test::texts_of(
    const std::vector<tableq::migration_step>& steps) {
  std::vector<std::string> out;
  for (const auto& each : steps) out.push_back(text_of(each));
  return out;
}

}  // namespace tableq_test
