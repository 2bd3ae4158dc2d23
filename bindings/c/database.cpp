#include <tableq/tableq.hpp>

#include "handles.hpp"
#include "options.hpp"
#include "result.hpp"

namespace tableq_c {
namespace {

tableq::queue_settings settings_of(const char* kind, const tq_options* options) {
  const auto& values = values_of<queue_values>(options);
  return {.kind = tableq::parse_kind(word_of(kind)), .order = values, .claim = values.claim()};
}

}  // namespace
}  // namespace tableq_c

using namespace tableq_c;

int tq_database_open(const char* url, size_t url_size, const tq_options* options, tq_database** db,
                     tq_error** error) {
  return making(db, error, [&] {
    const auto& given = values_of<open_values>(options);
    tableq::open_options wanted = given;
    std::shared_ptr<tableq::metrics> figures;
    if (given.metrics) {
      figures = std::make_shared<tableq::metrics>();
      wanted.observer = figures;
    }
    return std::make_unique<tq_database>(tableq::database::open(text_of(url, url_size), wanted),
                                         figures);
  });
}
int tq_database_outside(tq_database* db, tq_database** outside, tq_error** error) {
  return making(outside, error, [&] {
    const tq_database& known = checked(db);
    return std::make_unique<tq_database>(known.db.outside(), known.figures);
  });
}
const char* tq_database_backend(const tq_database* db) {
  const tq_database* const known = usable(db);
  return known == nullptr ? "" : known->db.backend().c_str();
}
int tq_database_queues(tq_database* db, tq_result** queues, tq_error** error) {
  return making(queues, error, [&] { return result_of(checked(db).db.queues()); });
}
int tq_database_find(tq_database* db, const char* name, size_t name_size, tq_result** queue,
                     tq_error** error) {
  return making(queue, error, [&] {
    std::vector<tableq::queue_info> found;
    if (auto one = checked(db).db.find(text_of(name, name_size))) found.push_back(*std::move(one));
    return result_of(std::move(found));
  });
}
int tq_database_drop(tq_database* db, const char* name, size_t name_size, int* existed,
                     tq_error** error) {
  return telling(existed, error,
                 [&] { return checked(db).db.drop(text_of(name, name_size)) ? 1 : 0; });
}
int tq_database_store_table(tq_database* db, const char* name, size_t name_size, const char* json,
                            size_t json_size, tq_error** error) {
  return calling(error, [&] {
    checked(db).db.store_table(text_of(name, name_size),
                               tableq::parse_table_definition(text_of(json, json_size)));
  });
}
int tq_database_migrate(tq_database* db, const tq_options* options, tq_result** steps,
                        tq_error** error) {
  return making(steps, error, [&] {
    return result_of(checked(db).db.migrate(values_of<tableq::migrate_options>(options)));
  });
}
int tq_database_inspect(tq_database* db, tq_result** findings, tq_error** error) {
  return making(findings, error, [&] { return result_of(checked(db).db.inspect()); });
}
int tq_database_metrics(tq_database* db, const char* format, tq_result** text, tq_error** error) {
  return making(text, error, [&] {
    const tq_database& known = checked(db);
    const std::string_view wanted = word_of(format);
    if (known.figures == nullptr) refuse("the database was opened without the option metrics");
    if (wanted == "json") return result_of_text(known.figures->json());
    if (wanted != "prometheus") refuse("the format is none of: prometheus, json");
    return result_of_text(known.figures->prometheus());
  });
}
void tq_database_close(tq_database* db) {
  end(db);
}

int tq_dialects(tq_result** dialects, tq_error** error) {
  return making(dialects, error, [] { return result_of_names(tableq::dialects()); });
}
int tq_ddl(const char* dialect, const char* name, size_t name_size, const char* kind,
           const tq_options* options, const tq_options* place, tq_result** text, tq_error** error) {
  return making(text, error, [&] {
    return result_of_text(tableq::ddl(word_of(dialect), text_of(name, name_size),
                                      settings_of(kind, options), values_of<open_values>(place)));
  });
}
int tq_statements(const char* dialect, const char* name, size_t name_size, const char* kind,
                  const tq_options* options, const tq_options* place, tq_result** statements,
                  tq_error** error) {
  return making(statements, error, [&] {
    return result_of(tableq::statements(word_of(dialect), text_of(name, name_size),
                                        settings_of(kind, options), values_of<open_values>(place)));
  });
}
int tq_grants(const char* dialect, const char* role, const char* user, size_t user_size,
              const char* name, size_t name_size, const char* kind, const tq_options* options,
              const tq_options* place, tq_result** text, tq_error** error) {
  return making(text, error, [&] {
    return result_of_text(tableq::grants(
        word_of(dialect), tableq::parse_role(word_of(role)), text_of(user, user_size),
        text_of(name, name_size), settings_of(kind, options), values_of<open_values>(place)));
  });
}
