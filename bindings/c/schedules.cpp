#include <array>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "batch.hpp"
#include "fields.hpp"
#include "handles.hpp"
#include "options.hpp"
#include "result.hpp"

namespace tableq_c {
namespace {

struct rule_row {
  tableq::schedule_info info;
  result headers;
  result next;

  [[nodiscard]] const tableq::schedule& rule() const noexcept { return info.rule; }
};
using tableq::schedule;
template <auto... Members>
constexpr column<rule_row> of_rule(std::string_view name) {
  return member<rule_row, &rule_row::info, &tableq::schedule_info::rule, Members...>(name);
}
constexpr std::array time_columns = {
    member<tableq::timestamp>("at"),
};
constexpr std::array rule_columns = {
    of_rule<&schedule::name>("name"),
    of_rule<&schedule::queue>("queue"),
    column<rule_row>{
        "cron",
        [](const rule_row& of) { return of.rule().cron.empty() ? null() : text(of.rule().cron); }},
    column<rule_row>{"every_ms",
                     [](const rule_row& of) {
                       return of.rule().cron.empty() ? length(of.rule().every) : null();
                     }},
    of_rule<&schedule::zone>("zone"),
    column<rule_row>{"payload", [](const rule_row& of) { return bytes(of.rule().payload); }},
    column<rule_row>{"headers",
                     [](const rule_row& of) { return list_or(of.headers, no_headers()); }},
    of_rule<&schedule::key>("key"),
    of_rule<&schedule::group>("group"),
    of_rule<&schedule::priority>("priority"),
    of_rule<&schedule::catch_up>("catch_up"),
    of_rule<&schedule::not_later_than>("not_later_than_ms"),
    of_rule<&schedule::skip_if_running>("skip_if_running"),
    member<rule_row, &rule_row::info, &tableq::schedule_info::owner>("owner"),
    member<rule_row, &rule_row::info, &tableq::schedule_info::enabled>("enabled"),
    member<rule_row, &rule_row::info, &tableq::schedule_info::problem>("problem"),
    member<rule_row, &rule_row::info, &tableq::schedule_info::last>("last"),
    member<rule_row, &rule_row::info, &tableq::schedule_info::overdue>("overdue"),
    column<rule_row>{"next", [](const rule_row& of) { return list(of.next); }},
};
using tableq::declared;
constexpr std::array declared_columns = {
    member<declared, &declared::added>("added"),
    member<declared, &declared::changed>("changed"),
    member<declared, &declared::removed>("removed"),
};

result result_of(std::vector<tableq::schedule_info> rules) {
  std::vector<rule_row> out;
  out.reserve(rules.size());
  for (tableq::schedule_info& each : rules) {
    rule_row& one = out.emplace_back(rule_row{std::move(each), {}, {}});
    one.headers = list_of(one.info.rule.headers);
    one.next = inner(made(std::move(one.info.next), time_columns));
  }
  return made(std::move(out), rule_columns);
}
result result_of(const tableq::declared& done) {
  return made_of_one(done, declared_columns);
}

tableq::schedule rule_of(const void* payload, size_t size, const tq_options* rule) {
  tableq::schedule out = values_of<tableq::schedule>(rule);
  out.payload = text_of(payload, size);
  return out;
}

template <class Act>
int told_by_name(tq_database* db, const char* name, size_t name_size, int* existed,
                 tq_error** error, Act act) {
  return telling(existed, error, [&] {
    tableq::schedules all = checked(db).db.schedules();
    return (all.*act)(text_of(name, name_size)) ? 1 : 0;
  });
}

}  // namespace
}  // namespace tableq_c

using namespace tableq_c;

int tq_schedule_add(tq_database* db, const void* payload, size_t size, const tq_options* rule,
                    tq_error** error) {
  return calling(error, [&] { checked(db).db.schedules().add(rule_of(payload, size, rule)); });
}
int tq_schedule_change(tq_database* db, const void* payload, size_t size, const tq_options* rule,
                       tq_error** error) {
  return calling(error, [&] { checked(db).db.schedules().change(rule_of(payload, size, rule)); });
}
int tq_schedule_pause(tq_database* db, const char* name, size_t name_size, int* existed,
                      tq_error** error) {
  return told_by_name(db, name, name_size, existed, error, &tableq::schedules::pause);
}
int tq_schedule_resume(tq_database* db, const char* name, size_t name_size, int* existed,
                       tq_error** error) {
  return told_by_name(db, name, name_size, existed, error, &tableq::schedules::resume);
}
int tq_schedule_remove(tq_database* db, const char* name, size_t name_size, int* existed,
                       tq_error** error) {
  return told_by_name(db, name, name_size, existed, error, &tableq::schedules::remove);
}
int tq_schedule_run_now(tq_database* db, const char* name, size_t name_size, int64_t* id,
                        int* outcome, tq_error** error) {
  if (id != nullptr) *id = 0;
  return telling(outcome, error, [&]() -> int {
    const auto done = checked(db).db.schedules().run_now(text_of(name, name_size));
    if (!done) return 0;
    if (id != nullptr) *id = done->id.value;
    return done->created() ? TQ_OUTCOME_ADDED : TQ_OUTCOME_KEPT_FIRST;
  });
}
int tq_schedule_declare(tq_database* db, const char* owner, size_t owner_size,
                        const tq_batch* rules, tq_result** done, tq_error** error) {
  return making(done, error, [&] {
    return result_of(checked(db).db.schedules().declare(text_of(owner, owner_size),
                                                        schedules_of(checked(rules))));
  });
}
int tq_schedule_list(tq_database* db, tq_result** rules, tq_error** error) {
  return making(rules, error, [&] { return result_of(checked(db).db.schedules().list()); });
}
int tq_schedule_find(tq_database* db, const char* name, size_t name_size, tq_result** rule,
                     tq_error** error) {
  return making(rule, error, [&] {
    std::vector<tableq::schedule_info> found;
    if (auto one = checked(db).db.schedules().find(text_of(name, name_size))) {
      found.push_back(*std::move(one));
    }
    return result_of(std::move(found));
  });
}
