// Watches and keepers over tableq.h: see facade.cpp.

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "facade.hpp"

namespace tableq::inline v0 {

using namespace tableq_facade;  // NOLINT(google-build-using-namespace): only this file
using core::access;

// The pointers of the classes hold objects of C.
namespace core {
class watch_state {};
class keeper_state {};
}  // namespace core

namespace {

template <class To, class State>
To* as_c(const std::unique_ptr<State>& state, const char* what) {
  if (!state) throw error(errc::invalid_argument, advice::never, std::string(what) + " was moved");
  return reinterpret_cast<To*>(state.get());
}

}  // namespace

watch::watch() {
  tq_watch* made = nullptr;
  tableq_facade::done([&](tq_error** e) { return tq_watch_new(&made, e); });
  state_.reset(reinterpret_cast<core::watch_state*>(made));
}
watch::watch(watch&&) noexcept = default;
watch& watch::operator=(watch&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
watch::~watch() {
  tq_watch_free(reinterpret_cast<tq_watch*>(state_.release()));
}
void watch::add(const queue& watched, std::int64_t number) {
  tableq_facade::done([&](tq_error** e) {
    return tq_watch_add(as_c<tq_watch>(state_, "watch"), access::plain(watched), number, e);
  });
}
void watch::remove(std::int64_t number) noexcept {
  tq_watch_remove(reinterpret_cast<tq_watch*>(state_.get()), number);
}
int watch::descriptor() const noexcept {
  return tq_watch_descriptor(reinterpret_cast<const tq_watch*>(state_.get()));
}
std::optional<std::int64_t> watch::next() noexcept {
  std::int64_t number = 0;
  const bool found = tq_watch_next(reinterpret_cast<tq_watch*>(state_.get()), &number) != 0;
  return found ? std::optional(number) : std::nullopt;
}
void watch::done(std::int64_t number, std::size_t found) {
  tableq_facade::done([&](tq_error** e) {
    return tq_watch_done(as_c<tq_watch>(state_, "watch"), number, found, e);
  });
}

keeper::keeper(const database& db) {
  tq_keeper* made = nullptr;
  done([&](tq_error** e) { return tq_keeper_new(access::of(db).get(false), &made, e); });
  state_.reset(reinterpret_cast<core::keeper_state*>(made));
}
keeper::keeper(keeper&&) noexcept = default;
keeper& keeper::operator=(keeper&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
keeper::~keeper() {
  tq_keeper_free(reinterpret_cast<tq_keeper*>(state_.release()));
}
void keeper::add(const claim_queue& queue, const receipt& taken,
                 std::optional<std::chrono::milliseconds> lease) {
  if (lease && lease->count() == 0) {  // In C zero means the handle's.
    throw error(errc::invalid_argument, advice::never, "a lease is 1 ms at least");
  }
  const std::string text = to_string(taken);
  done([&](tq_error** e) {
    return tq_keeper_add(as_c<tq_keeper>(state_, "keeper"), access::plain(queue), text.data(),
                         text.size(), lease ? lease->count() : 0, e);
  });
}
bool keeper::remove(const receipt& taken) noexcept {
  const std::string text = to_string(taken);
  int kept = 0;
  const int code = tq_keeper_remove(reinterpret_cast<tq_keeper*>(state_.get()), text.data(),
                                    text.size(), &kept, nullptr);
  return code == TQ_OK && kept != 0;
}
std::vector<lost_lease> keeper::lost() {
  return all_of<lost_lease>(
      asked([&](tq_result** r, tq_error** e) {
        return tq_keeper_lost(as_c<tq_keeper>(state_, "keeper"), r, e);
      }),
      [](const row_of& row) {
        using cause = lost_lease::cause;
        return lost_lease{.receipt = parse_receipt(row.text("receipt")),
                          .queue = row.text("queue"),
                          .why = named(row.text("why"), {cause::lease_lost, cause::not_confirmed,
                                                         cause::batch_cancelled})};
      });
}
int keeper::descriptor() const noexcept {
  return tq_keeper_descriptor(reinterpret_cast<const tq_keeper*>(state_.get()));
}
std::size_t keeper::size() const noexcept {
  return tq_keeper_count(reinterpret_cast<const tq_keeper*>(state_.get()));
}

}  // namespace tableq::inline v0
