#include "core/session/retry.hpp"

#include <thread>
#include <utility>

#include "core/base/errors.hpp"

namespace tableq::inline v0::core {
namespace {

constexpr std::chrono::milliseconds first_pause{1};
constexpr std::chrono::milliseconds longest_pause{250};

}  // namespace

retry_policy::retry_policy(std::chrono::milliseconds budget, contact so_far)
    : until_(std::chrono::steady_clock::now() + budget),
      pauses_(first_pause, longest_pause),
      any_(budget.count() > 0 && !unrepeated::on_this_thread()),
      so_far_(so_far) {}

bool retry_policy::again(const error& failure, const observation* watched) {
  if (dynamic_cast<const no_free_session*>(&failure) != nullptr) return false;
  if (stop_scope::stop().stop_requested()) return false;
  ++attempts_;
  // Its session is closed, and the next one may reach a server that takes writes. If not, this
  // server has none: once is enough.
  if (failure.code() == errc::read_only && failure.advice() == advice::session && any_) {
    if (std::exchange(moved_, true)) return false;
    if (watched != nullptr) watched->retrying(failure, attempts_, {});
    return true;
  }
  if (!any_ || !may_repeat(failure, so_far_ == contact::known) ||
      std::chrono::steady_clock::now() >= until_)
    return false;
  const auto pause = pauses_.pause();
  if (watched != nullptr) watched->retrying(failure, attempts_, pause);
  std::this_thread::sleep_for(pause);
  return true;
}

}  // namespace tableq::inline v0::core
