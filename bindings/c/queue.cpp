#include <array>

#include <tableq/tableq.hpp>

#include "fields.hpp"
#include "handles.hpp"
#include "options.hpp"

namespace tableq_c {
namespace {

using tableq::queue_stats;
constexpr std::array queue_stats_columns = {
    member<queue_stats, &queue_stats::waiting>("waiting"),
    member<queue_stats, &queue_stats::delayed>("delayed"),
    member<queue_stats, &queue_stats::oldest>("oldest"),
    member<queue_stats, &queue_stats::counted_to>("counted_to"),
    member<queue_stats, &queue_stats::last_id>("last_id"),
    member<queue_stats, &queue_stats::as_of>("as_of"),
};
result result_of(const queue_stats& stats) {
  return made_of_one(stats, queue_stats_columns);
}
using tableq::claim_stats;
constexpr std::array claim_stats_columns = {
    member<claim_stats, &claim_stats::ready>("ready"),
    member<claim_stats, &claim_stats::due>("due"),
    member<claim_stats, &claim_stats::delayed>("delayed"),
    member<claim_stats, &claim_stats::leased>("leased"),
    member<claim_stats, &claim_stats::held>("held"),
    member<claim_stats, &claim_stats::done>("done"),
    member<claim_stats, &claim_stats::dead>("dead"),
    member<claim_stats, &claim_stats::oldest>("oldest"),
    member<claim_stats, &claim_stats::counted_to>("counted_to"),
    member<claim_stats, &claim_stats::last_id>("last_id"),
    member<claim_stats, &claim_stats::as_of>("as_of"),
    member<claim_stats, &claim_stats::dead_letters>("dead_letters"),
    member<claim_stats, &claim_stats::dead_letters_at_least>("dead_letters_at_least"),
};
result result_of(const claim_stats& stats) {
  return made_of_one(stats, claim_stats_columns);
}
using tableq::queue_rates;
constexpr std::array rate_columns = {
    member<queue_rates, &queue_rates::enqueued>("enqueued"),
    member<queue_rates, &queue_rates::left>("left"),
};
using tableq::queue_limits;
constexpr std::array limit_columns = {
    member<queue_limits, &queue_limits::capacity>("capacity"),
    member<queue_limits, &queue_limits::rate>("rate"),
    member<queue_limits, &queue_limits::burst>("burst"),
    member<queue_limits, &queue_limits::concurrency>("concurrency"),
};
/// The settings of a handle.
struct settings_row {
  std::optional<tableq::claim_queue> claim = {};
  std::optional<tableq::table_guarantee> guarantee = {};
  std::optional<std::string> definition = {};
};
using tableq::table_guarantee;
template <auto... Path>
constexpr column<settings_row> of_guarantee(std::string_view name) {
  return member<settings_row, &settings_row::guarantee, Path...>(name);
}
constexpr std::array settings_columns = {
    member<settings_row, &settings_row::claim, &tableq::claim_queue::lease>("lease_ms"),
    member<settings_row, &settings_row::claim, &tableq::claim_queue::max_attempts>("max_attempts"),
    member<settings_row, &settings_row::definition>("definition"),
    of_guarantee<&table_guarantee::at_least_once>("at_least_once"),
    of_guarantee<&table_guarantee::fenced>("fenced"),
    of_guarantee<&table_guarantee::ends>("ends"),
    of_guarantee<&table_guarantee::settles>("settles"),
    of_guarantee<&table_guarantee::words>("words"),
};

/// @param kind which options may be given.
void check_options(const queue_values& given, tableq::kind kind) {
  const bool ordered = kind == tableq::kind::fifo || kind == tableq::kind::lifo;
  if (given.ordering && !ordered) refuse("ordering is for fifo and lifo queues");
  if (given.for_claim && kind != tableq::kind::claim) refuse("only claim queues have such options");
}

tq_queue::any opened(tableq::database& db, std::string_view name, tableq::kind kind,
                     const queue_values& given) {
  check_options(given, kind);
  switch (kind) {
    case tableq::kind::heap:
      return db.heap(name);
    case tableq::kind::fifo:
      return db.fifo(name, given);
    case tableq::kind::lifo:
      return db.lifo(name, given);
    case tableq::kind::pending:
      return db.pending(name);
    case tableq::kind::claim:
      return db.claim(name, given.claim());
    default:
      refuse("a table is opened by tq_queue_open_table or tq_queue_open_stored_table");
  }
}

/// Runs `work` on a table. @param call its name.
template <class Work>
auto on_table(tq_queue* queue, const char* call, Work work) {
  tq_queue& known = checked(queue);
  auto* const table = std::get_if<tableq::table_queue>(&known.queue);
  if (table == nullptr) refuse_kind(known.base(), call, "tables of the application");
  return work(*table);
}

/// Two results of one type; null if they are not.
template <class Stats>
result rates_of(const tq_result& earlier, const tq_result& later) {
  const auto* const before = items_of<Stats>(earlier);
  const auto* const after = items_of<Stats>(later);
  if (before == nullptr || after == nullptr) return nullptr;
  return made_of_one(tableq::rates_between(before->front(), after->front()), rate_columns);
}

}  // namespace
}  // namespace tableq_c

using namespace tableq_c;

int tq_queue_open(tq_database* db, const char* name, size_t name_size, const char* kind,
                  const tq_options* options, tq_queue** queue, tq_error** error) {
  return making(queue, error, [&] {
    return std::make_unique<tq_queue>(opened(checked(db).db, text_of(name, name_size),
                                             tableq::parse_kind(word_of(kind)),
                                             values_of<queue_values>(options)));
  });
}
int tq_queue_open_table(tq_database* db, const char* json, size_t json_size, tq_queue** queue,
                        tq_error** error) {
  return making(queue, error, [&] {
    const tableq::table_definition wanted =
        tableq::parse_table_definition(text_of(json, json_size));
    return std::make_unique<tq_queue>(checked(db).db.table(wanted.table, wanted.mapping));
  });
}
int tq_queue_open_stored_table(tq_database* db, const char* name, size_t name_size,
                               tq_queue** queue, tq_error** error) {
  return making(queue, error, [&] {
    return std::make_unique<tq_queue>(checked(db).db.stored_table(text_of(name, name_size)));
  });
}
int tq_queue_outside(tq_queue* queue, tq_queue** outside, tq_error** error) {
  return making(outside, error, [&] {
    return on(queue, nullptr,
              [](auto& plain) { return std::make_unique<tq_queue>(plain.outside()); });
  });
}
const char* tq_queue_name(const tq_queue* queue) {
  const tq_queue* const known = usable(queue);
  if (known == nullptr) return "";
  return std::visit([](const auto& plain) { return plain.name().c_str(); }, known->queue);
}
const char* tq_queue_kind(const tq_queue* queue) {
  const tq_queue* const known = usable(queue);
  if (known == nullptr) return "";
  return std::visit([](const auto& plain) { return to_string(plain.kind()).data(); }, known->queue);
}
int tq_queue_settings(tq_queue* queue, tq_result** settings, tq_error** error) {
  return making(settings, error, [&] {
    settings_row out;
    on(queue, nullptr, [&](auto& plain) {
      using own = std::remove_reference_t<decltype(plain)>;
      if constexpr (is_claim<own>) out.claim = plain;
      if constexpr (is_table<own>) {
        out.guarantee = plain.guarantee();
        out.definition = tableq::to_json({.table = plain.name(), .mapping = plain.mapping()});
      }
    });
    return made_of_one(std::move(out), settings_columns);
  });
}
int tq_queue_pause(tq_queue* queue, tq_error** error) {
  return calling(error, [&] { checked(queue).base().pause(); });
}
int tq_queue_resume(tq_queue* queue, tq_error** error) {
  return calling(error, [&] { checked(queue).base().resume(); });
}
int tq_queue_paused(tq_queue* queue, int* paused, tq_error** error) {
  return making(paused, error, [&] { return checked(queue).base().paused() ? 1 : 0; });
}
int tq_queue_set_limits(tq_queue* queue, const tq_options* limits, tq_error** error) {
  return calling(
      error, [&] { checked(queue).base().set_limits(values_of<tableq::queue_limits>(limits)); });
}
int tq_queue_limits(tq_queue* queue, tq_result** limits, tq_error** error) {
  return making(limits, error,
                [&] { return made_of_one(checked(queue).base().limits(), limit_columns); });
}
int tq_queue_stats(tq_queue* queue, const tq_options* options, tq_result** stats,
                   tq_error** error) {
  return making(stats, error, [&] {
    const auto& wanted = values_of<tableq::stats_options>(options);
    return on(queue, nullptr, [&](auto& plain) { return result_of(plain.stats(wanted)); });
  });
}
int tq_queue_rates(const tq_result* earlier, const tq_result* later, tq_result** rates,
                   tq_error** error) {
  return making(rates, error, [&] {
    const tq_result& before = checked(earlier);
    const tq_result& after = checked(later);
    result out = rates_of<tableq::claim_stats>(before, after);
    if (!out) out = rates_of<tableq::queue_stats>(before, after);
    if (!out) refuse("rates need two results of tq_queue_stats of one queue");
    return out;
  });
}
int tq_queue_inspect(tq_queue* queue, tq_result** findings, tq_error** error) {
  return making(findings, error, [&] {
    return on_table(queue, "tq_queue_inspect",
                    [](const auto& table) { return result_of(table.inspect()); });
  });
}
int tq_queue_ddl(tq_queue* queue, tq_result** text, tq_error** error) {
  return making(text, error, [&] {
    return on_table(queue, "tq_queue_ddl",
                    [](const auto& table) { return result_of_text(table.ddl()); });
  });
}
int tq_requeue_older_than(tq_queue* queue, int64_t age_ms, int64_t* count, tq_error** error) {
  return telling(count, error, [&] {
    return on_table(queue, "tq_requeue_older_than", [&](auto& table) {
      return static_cast<std::int64_t>(table.requeue_older_than(std::chrono::milliseconds(age_ms)));
    });
  });
}
void tq_queue_close(tq_queue* queue) {
  end(queue);
}
