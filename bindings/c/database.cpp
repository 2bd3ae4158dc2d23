// Databases, and what needs none.

#include <array>

#include <tableq/tableq.hpp>

#include "fields.hpp"
#include "handles.hpp"
#include "options.hpp"

namespace tableq_c {
namespace {

constexpr std::array delay_columns = {
    member<std::chrono::milliseconds>("ms"),
};
struct queue_row {
  tableq::queue_info info;
  result retry = {};
  std::optional<std::string> definition = {};

  [[nodiscard]] const tableq::queue_info* claim() const noexcept {
    return info.kind == tableq::kind::claim ? &info : nullptr;
  }
};
using queue_info = tableq::queue_info;
template <auto... Path>
constexpr column<queue_row> of_queue(std::string_view name) {
  return member<queue_row, &queue_row::info, Path...>(name);
}
/// A field of "claim" queues.
template <auto... Path>
constexpr column<queue_row> of_claim(std::string_view name) {
  return member<queue_row, &queue_row::claim, Path...>(name);
}
constexpr std::array queue_columns = {
    of_queue<&queue_info::name>("name"),
    of_queue<&queue_info::kind>("kind"),
    of_queue<&queue_info::layout>("layout"),
    of_queue<&queue_info::identity>("identity"),
    of_queue<&queue_info::ordering>("ordering"),
    of_queue<&queue_info::schedules>("schedules"),
    of_queue<&queue_info::created_at>("created_at"),
    of_claim<&queue_info::lease>("lease_ms"),
    of_claim<&queue_info::max_attempts>("max_attempts"),
    of_claim<&queue_info::keep_completed>("keep_completed"),
    member<queue_row, &queue_row::retry>("retry_ms"),
    of_claim<&queue_info::retry, &tableq::retry_delays::jitter>("retry_jitter"),
    of_claim<&queue_info::time_to_live>("time_to_live_ms"),
    of_claim<&queue_info::keys>("keys"),
    of_claim<&queue_info::key_window>("key_window_ms"),
    of_claim<&queue_info::key_windows>("key_windows"),
    of_claim<&queue_info::groups, &tableq::group_options::limit>("group_limit"),
    of_claim<&queue_info::groups, &tableq::group_options::on_failure>("group_on_failure"),
    of_claim<&queue_info::groups, &tableq::group_options::by_turns>("group_by_turns"),
    of_claim<&queue_info::group_limits>("group_limits"),
    of_claim<&queue_info::group_rates>("group_rates"),
    of_claim<&queue_info::dead_letters>("dead_letters"),
    of_claim<&queue_info::batches>("batches"),
    of_queue<&queue_info::batch_ends>("batch_ends"),
    of_claim<&queue_info::retention, &tableq::retention::done>("retain_done_ms"),
    of_claim<&queue_info::retention, &tableq::retention::dead>("retain_dead_ms"),
    member<queue_row, &queue_row::definition>("definition"),
};
result result_of(std::vector<queue_info> queues) {
  std::vector<queue_row> out;
  out.reserve(queues.size());
  for (queue_info& each : queues) {
    queue_row& one = out.emplace_back(queue_row{.info = std::move(each)});
    if (one.info.table) one.definition = to_json(*one.info.table);
    if (one.claim() != nullptr) {
      one.retry = inner(made(std::vector(one.info.retry.after), delay_columns));
    }
  }
  return made(std::move(out), queue_columns);
}

using tableq::migration_step;
constexpr std::array step_columns = {
    member<migration_step, &migration_step::queue>("queue"),
    member<migration_step, &migration_step::from>("from"),
    member<migration_step, &migration_step::to>("to"),
    member<migration_step, &migration_step::sql>("sql"),
};
using tableq::option_change;
constexpr std::array change_columns = {
    member<option_change, &option_change::option>("option"),
    member<option_change, &option_change::before>("before"),
    member<option_change, &option_change::after>("after"),
    member<option_change, &option_change::refused_at_open>("refused_at_open"),
};
using named_text = std::pair<std::string, std::string>;
constexpr std::array named_text_columns = {
    member<named_text, &named_text::first>("name"),
    member<named_text, &named_text::second>("text"),
};
constexpr std::array name_columns = {
    member<std::string>("name"),
};

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
    return result_of(listed_if(checked(db).db.find(text_of(name, name_size))));
  });
}
int tq_database_alter(tq_database* db, const char* name, size_t name_size,
                      const tq_options* changes, tq_result** changed, tq_error** error) {
  return making(changed, error, [&] {
    const auto& given = values_of<alter_values>(changes);
    tableq::queue_changes wanted = given;
    wanted.retry = given.delays_with_jitter();
    return made(checked(db).db.alter(text_of(name, name_size), wanted, {.dry_run = given.dry_run}),
                change_columns);
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
    return made(checked(db).db.migrate(values_of<tableq::migrate_options>(options)), step_columns);
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
    if (wanted != "prometheus") refuse("the format must be one of: prometheus, json");
    return result_of_text(known.figures->prometheus());
  });
}
void tq_database_close(tq_database* db) {
  end(db);
}

int tq_dialects(tq_result** dialects, tq_error** error) {
  return making(dialects, error, [] { return made(tableq::dialects(), name_columns); });
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
    const auto all = tableq::statements(word_of(dialect), text_of(name, name_size),
                                        settings_of(kind, options), values_of<open_values>(place));
    return made(std::vector<named_text>(all.begin(), all.end()), named_text_columns);
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
