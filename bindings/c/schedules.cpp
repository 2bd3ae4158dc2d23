#include <array>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "batch.hpp"
#include "fields.hpp"
#include "handles.hpp"
#include "options.hpp"

namespace tableq_c {
namespace {

struct rule_row {
  tableq::schedule_info info;
  headers_of headers;
  result next;

  [[nodiscard]] const std::chrono::milliseconds* every() const noexcept {
    return info.rule.cron.empty() ? &info.rule.every : nullptr;
  }
};
using tableq::schedule;
using tableq::schedule_info;
template <auto... Path>
constexpr column<rule_row> of_info(std::string_view name) {
  return member<rule_row, &rule_row::info, Path...>(name);
}
constexpr std::array time_columns = {
    member<tableq::timestamp>("at"),
};
constexpr std::array rule_columns = {
    of_info<&schedule_info::rule, &schedule::name>("name"),
    of_info<&schedule_info::rule, &schedule::queue>("queue"),
    member_as<filled, rule_row, &rule_row::info, &schedule_info::rule, &schedule::cron>("cron"),
    member<rule_row, &rule_row::every>("every_ms"),
    of_info<&schedule_info::rule, &schedule::zone>("zone"),
    member_as<bytes, rule_row, &rule_row::info, &schedule_info::rule, &schedule::payload>(
        "payload"),
    member<rule_row, &rule_row::headers>("headers"),
    of_info<&schedule_info::rule, &schedule::key>("key"),
    of_info<&schedule_info::rule, &schedule::group>("group"),
    of_info<&schedule_info::rule, &schedule::priority>("priority"),
    of_info<&schedule_info::rule, &schedule::catch_up>("catch_up"),
    of_info<&schedule_info::rule, &schedule::not_later_than>("not_later_than_ms"),
    of_info<&schedule_info::rule, &schedule::skip_if_running>("skip_if_running"),
    of_info<&schedule_info::owner>("owner"),
    of_info<&schedule_info::enabled>("enabled"),
    of_info<&schedule_info::problem>("problem"),
    of_info<&schedule_info::last>("last"),
    of_info<&schedule_info::overdue>("overdue"),
    member<rule_row, &rule_row::next>("next"),
};
using tableq::declared;
constexpr std::array declared_columns = {
    member<declared, &declared::added>("added"),
    member<declared, &declared::changed>("changed"),
    member<declared, &declared::removed>("removed"),
};

result result_of(std::vector<schedule_info> rules) {
  std::vector<rule_row> out;
  out.reserve(rules.size());
  for (schedule_info& each : rules) {
    rule_row& one = out.emplace_back(rule_row{std::move(each), {}, {}});
    one.headers = listed_headers(one.info.rule.headers);
    one.next = inner(made(std::move(one.info.next), time_columns));
  }
  return made(std::move(out), rule_columns);
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
int tq_schedule_change_found(tq_database* db, const tq_result* found, const void* payload,
                             size_t size, const tq_options* rule, int* changed, tq_error** error) {
  return telling(changed, error, [&]() -> int {
    const auto* const rows = items_of<rule_row>(checked(found));
    if (rows == nullptr || rows->size() != 1) refuse("found is one rule, of tq_schedule_find");
    const tableq::schedule& before = rows->front().info.rule;
    const tableq::schedule wanted = rule_of(payload, size, rule);
    struct differs {};
    try {
      return checked(db).db.schedules().change(before.name, [&](tableq::schedule& stored) {
        if (stored != before) throw differs();
        stored = wanted;
      });
    } catch (const differs&) {
      return 0;
    }
  });
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
    const auto& wanted = items_of<std::vector<tableq::schedule>>(checked(rules));
    return made_of_one(checked(db).db.schedules().declare(text_of(owner, owner_size), wanted),
                       declared_columns);
  });
}
int tq_schedule_list(tq_database* db, tq_result** rules, tq_error** error) {
  return making(rules, error, [&] { return result_of(checked(db).db.schedules().list()); });
}
int tq_schedule_find(tq_database* db, const char* name, size_t name_size, tq_result** rule,
                     tq_error** error) {
  return making(rule, error, [&] {
    return result_of(listed_if(checked(db).db.schedules().find(text_of(name, name_size))));
  });
}
