// Watches and keepers.

#include <array>

#include <tableq/tableq.hpp>

#include "fields.hpp"
#include "handles.hpp"

struct tq_watch : tableq_c::handle<tq_watch> {
  static constexpr const char* name_of_type = "tq_watch";
  tableq::watch watch;
};
struct tq_keeper : tableq_c::handle<tq_keeper> {
  static constexpr const char* name_of_type = "tq_keeper";
  explicit tq_keeper(const tableq::database& db) : keeper(db) {}

  tableq::keeper keeper;
};

namespace tableq_c {
namespace {

using tableq::lost_lease;
struct lost_row {
  lost_lease lost;
  std::string receipt;
};
constexpr std::array lost_columns = {
    member<lost_row, &lost_row::receipt>("receipt"),
    member<lost_row, &lost_row::lost, &lost_lease::queue>("queue"),
    member<lost_row, &lost_row::lost, &lost_lease::why>("why"),
};

}  // namespace
}  // namespace tableq_c

using namespace tableq_c;

int tq_watch_new(tq_watch** watch, tq_error** error) {
  return making(watch, error, [] { return std::make_unique<tq_watch>(); });
}
int tq_watch_add(tq_watch* watch, tq_queue* queue, int64_t number, tq_error** error) {
  return calling(error, [&] { checked(watch).watch.add(checked(queue).base(), number); });
}
void tq_watch_remove(tq_watch* watch, int64_t number) {
  if (tq_watch* const known = usable(watch)) known->watch.remove(number);
}
int tq_watch_descriptor(const tq_watch* watch) {
  const tq_watch* const known = usable(watch);
  return known == nullptr ? -1 : known->watch.descriptor();
}
int tq_watch_next(tq_watch* watch, int64_t* number) {
  tq_watch* const known = usable(watch);
  if (known == nullptr || number == nullptr) return 0;
  const std::optional<std::int64_t> next = known->watch.next();
  *number = next.value_or(0);
  return next ? 1 : 0;
}
int tq_watch_done(tq_watch* watch, int64_t number, size_t found, tq_error** error) {
  return calling(error, [&] { checked(watch).watch.done(number, found); });
}
void tq_watch_free(tq_watch* watch) {
  end(watch);
}

int tq_keeper_new(tq_database* db, tq_keeper** keeper, tq_error** error) {
  return making(keeper, error, [&] { return std::make_unique<tq_keeper>(checked(db).db); });
}
int tq_keeper_add(tq_keeper* keeper, tq_queue* queue, const char* receipt, size_t size,
                  int64_t lease_ms, tq_error** error) {
  return calling(error, [&] {
    tableq::keeper& keeping = checked(keeper).keeper;
    const tableq::receipt taken = tableq::parse_receipt(text_of(receipt, size));
    std::optional<std::chrono::milliseconds> lease;
    if (lease_ms != 0) lease.emplace(lease_ms);
    on(queue, nullptr, [&](auto& plain) {
      if constexpr (leases<std::remove_reference_t<decltype(plain)>>) {
        keeping.add(plain, taken, lease);
      } else {
        refuse_kind(plain, "tq_keeper_add", "claim queues and tables");
      }
    });
  });
}
int tq_keeper_remove(tq_keeper* keeper, const char* receipt, size_t size, int* kept,
                     tq_error** error) {
  return telling(kept, error, [&] {
    return checked(keeper).keeper.remove(tableq::parse_receipt(text_of(receipt, size))) ? 1 : 0;
  });
}
int tq_keeper_lost(tq_keeper* keeper, tq_result** lost, tq_error** error) {
  return making(lost, error, [&] {
    std::vector<lost_row> out;
    for (tableq::lost_lease& each : checked(keeper).keeper.lost()) {
      std::string receipt = to_string(each.receipt);
      out.push_back({std::move(each), std::move(receipt)});
    }
    return made(std::move(out), lost_columns);
  });
}
int tq_keeper_descriptor(const tq_keeper* keeper) {
  const tq_keeper* const known = usable(keeper);
  return known == nullptr ? -1 : known->keeper.descriptor();
}
size_t tq_keeper_count(const tq_keeper* keeper) {
  const tq_keeper* const known = usable(keeper);
  return known == nullptr ? 0 : known->keeper.size();
}
void tq_keeper_free(tq_keeper* keeper) {
  end(keeper);
}
