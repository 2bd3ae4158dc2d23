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
template <auto Get>
field of_rule(const rule_row& of) {
  return Get(of.rule());
}
constexpr std::array time_columns = {
    column<tableq::timestamp>{"at", [](const tableq::timestamp& of) { return time(of); }},
};
constexpr std::array rule_columns = {
    column<rule_row>{"name", of_rule<[](const schedule& of) { return text(of.name); }>},
    column<rule_row>{"queue", of_rule<[](const schedule& of) { return text(of.queue); }>},
    column<rule_row>{
        "cron",
        of_rule<[](const schedule& of) { return of.cron.empty() ? null() : text(of.cron); }>},
    column<rule_row>{
        "every_ms",
        of_rule<[](const schedule& of) { return of.cron.empty() ? length(of.every) : null(); }>},
    column<rule_row>{"zone", of_rule<[](const schedule& of) { return text(of.zone); }>},
    column<rule_row>{"payload", of_rule<[](const schedule& of) { return bytes(of.payload); }>},
    column<rule_row>{"headers",
                     [](const rule_row& of) { return list_or(of.headers, no_headers()); }},
    column<rule_row>{"key", of_rule<[](const schedule& of) { return optional(of.key, text); }>},
    column<rule_row>{"group", of_rule<[](const schedule& of) { return optional(of.group, text); }>},
    column<rule_row>{"priority", of_rule<[](const schedule& of) { return integer(of.priority); }>},
    column<rule_row>{"catch_up", of_rule<[](const schedule& of) { return integer(of.catch_up); }>},
    column<rule_row>{
        "not_later_than_ms",
        of_rule<[](const schedule& of) { return optional(of.not_later_than, length); }>},
    column<rule_row>{"skip_if_running",
                     of_rule<[](const schedule& of) { return boolean(of.skip_if_running); }>},
    column<rule_row>{"owner", [](const rule_row& of) { return text(of.info.owner); }},
    column<rule_row>{"enabled", [](const rule_row& of) { return boolean(of.info.enabled); }},
    column<rule_row>{"problem", [](const rule_row& of) { return text(of.info.problem); }},
    column<rule_row>{"last", [](const rule_row& of) { return optional(of.info.last, time); }},
    column<rule_row>{"overdue", [](const rule_row& of) { return optional(of.info.overdue, time); }},
    column<rule_row>{"next", [](const rule_row& of) { return list(of.next); }},
};
using tableq::declared;
constexpr std::array declared_columns = {
    column<declared>{"added", [](const declared& of) { return count(of.added); }},
    column<declared>{"changed", [](const declared& of) { return count(of.changed); }},
    column<declared>{"removed", [](const declared& of) { return count(of.removed); }},
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
int tq_schedule_run_now(tq_database* db, const char* name, size_t name_size, int* existed,
                        tq_error** error) {
  return told_by_name(db, name, name_size, existed, error, &tableq::schedules::run_now);
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
