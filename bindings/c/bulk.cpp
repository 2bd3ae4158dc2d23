// Actions and lists by filter.

#include <array>
#include <charconv>
#include <string>

#include <tableq/tableq.hpp>

#include "fields.hpp"
#include "handles.hpp"
#include "options.hpp"

namespace tableq_c {
namespace {

/// A place as `stopped_at` and `next` have it: four numbers.
tableq::filter_place place_of(std::string_view text) {
  std::array<std::int64_t, 4> numbers = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const auto [next, wrong] = std::from_chars(at, end, numbers.at(i));
    const bool last = i + 1 == numbers.size();
    if (wrong != std::errc() || (last ? next != end : next == end || *next != ':')) {
      refuse("`after` is where an earlier call with this filter stopped");
    }
    at = next + (last ? 0 : 1);
  }
  return {.part = number_of<int>(numbers[0], "after"),
          .at = numbers[1],
          .id = numbers[2],
          .until = numbers[3]};
}

std::optional<tableq::filter_place> after_of(const filter_values& given) {
  return given.after ? std::optional(place_of(*given.after)) : std::nullopt;
}

std::string place_text(const tableq::filter_place& place) {
  return std::to_string(place.part) + ":" + std::to_string(place.at) + ":" +
         std::to_string(place.id) + ":" + std::to_string(place.until);
}
constexpr std::array place_columns = {
    member<std::string>("place"),
};
using tableq::bulk_result;
struct bulk_row {
  bulk_result done;
  std::optional<std::string> stopped_at = {};
};
constexpr std::array bulk_columns = {
    member<bulk_row, &bulk_row::done, &bulk_result::count>("count"),
    member<bulk_row, &bulk_row::done, &bulk_result::running>("running"),
    member<bulk_row, &bulk_row::done, &bulk_result::changed>("changed"),
    member<bulk_row, &bulk_row::done, &bulk_result::key_held>("key_held"),
    member<bulk_row, &bulk_row::stopped_at>("stopped_at"),
};

/// Runs `work(claim, filter, options)`, one of the actions.
template <class Work>
int act(tq_queue* queue, const char* call, const tq_options* filter, tq_result** done,
        tq_error** error, Work work) {
  return making(done, error, [&] {
    const auto& given = values_of<filter_values>(filter);
    const tableq::bulk_options how{.dry_run = given.dry_run,
                                   .batch = given.batch,
                                   .after = after_of(given),
                                   .stop = given.stop};
    bulk_row row{
        on_claim(queue, nullptr, call, [&](auto& claim) { return work(claim, given, how); })};
    if (row.done.stopped_at) row.stopped_at = place_text(*row.done.stopped_at);
    return made_of_one(std::move(row), bulk_columns);
  });
}

}  // namespace
}  // namespace tableq_c

using namespace tableq_c;

int tq_list_by(tq_queue* queue, const tq_options* filter, tq_result** messages, tq_result** next,
               tq_error** error) {
  if (next != nullptr) *next = nullptr;
  return making(messages, error, [&] {
    const auto& given = values_of<filter_values>(filter);
    auto found = on_claim(queue, nullptr, "tq_list_by", [&](auto& claim) {
      return claim.list(given, {.max = given.max, .after = after_of(given), .with = given.with});
    });
    result out = result_of(std::move(found.messages));
    std::vector<std::string> places;
    if (found.next) places.push_back(place_text(*found.next));
    if (next != nullptr) *next = made(std::move(places), place_columns).release();
    return out;
  });
}
int tq_cancel_by(tq_queue* queue, const tq_options* filter, tq_result** done, tq_error** error) {
  return act(
      queue, "tq_cancel_by", filter, done, error,
      [](auto& claim, const auto& given, const auto& how) { return claim.cancel(given, how); });
}
int tq_set_priority_by(tq_queue* queue, int32_t priority, const tq_options* filter,
                       tq_result** done, tq_error** error) {
  return act(queue, "tq_set_priority_by", filter, done, error,
             [priority](auto& claim, const auto& given, const auto& how) {
               return claim.set_priority(given, priority, how);
             });
}
int tq_make_ready_by(tq_queue* queue, const tq_options* filter, tq_result** done,
                     tq_error** error) {
  return act(
      queue, "tq_make_ready_by", filter, done, error,
      [](auto& claim, const auto& given, const auto& how) { return claim.make_ready(given, how); });
}
int tq_redrive_by(tq_queue* queue, const tq_options* filter, tq_result** done, tq_error** error) {
  return act(
      queue, "tq_redrive_by", filter, done, error,
      [](auto& claim, const auto& given, const auto& how) { return claim.redrive(given, how); });
}
int tq_purge_by(tq_queue* queue, const tq_options* filter, tq_result** done, tq_error** error) {
  return act(
      queue, "tq_purge_by", filter, done, error,
      [](auto& claim, const auto& given, const auto& how) { return claim.purge(given, how); });
}
