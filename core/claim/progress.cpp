// The progress that handlers report, and the ends of messages.

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <tableq/claim_queue.hpp>
#include <tableq/error.hpp>

#include "core/base/errors.hpp"
#include "core/claim/messages.hpp"
#include "core/claim/operations.hpp"
#include "core/input/codec.hpp"
#include "core/input/validate.hpp"
#include "core/queue/operation.hpp"
#include "core/seam/statements.hpp"
#include "core/session/backoff.hpp"
#include "core/waking/change_signal.hpp"

namespace tableq::inline v0::core {
namespace {

using std::chrono::milliseconds;

/// Why the queue has no place for it. Empty: it has.
/// @param what "a result".
std::optional<error> no_place(const queue_state& queue, const std::string& what) {
  if (keeps_notes(queue)) return std::nullopt;
  const std::string name =
      queue.mapped() != nullptr ? "the table " + queue.name() : "the queue " + queue.name();
  const std::string remedy =
      queue.mapped() != nullptr
          ? "; store it in a column of your own"
          : " before layout 3: run `tableq migrate`, and open the queue again";
  return error(errc::unsupported, advice::never, name + " has no place for " + what + remedy,
               {.backend = queue.database().name()});
}

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

void store(const queue_state& queue, transaction_state* tx,
           const std::vector<progress_notes::entry>& said) {
  std::vector<progress_item> items;
  items.reserve(said.size());
  for (const auto& [of, note] : said) {
    items.push_back({.id = of.id, .fence = of.fence, .done = note.done, .note = note.text});
  }
  const auto rows = queue.execute(tx, statements::claim_progress, {}, items);
  if (tx != nullptr) return;  // A rollback would undo it: the next extension stores it again.
  for (const auto& row : rows) queue.shared().notes.stored(said[row.item]);
}

/// Rings when a message is settled through this database object.
class settled_bell final : public settle_follower {
 public:
  settled_bell(const queue_state& queue, message_id id)
      : all_(queue.database().settled()), queue_(queue.info().identity), id_(id) {
    all_.follow(*this);
  }
  settled_bell(const settled_bell&) = delete;
  settled_bell& operator=(const settled_bell&) = delete;
  ~settled_bell() { all_.unfollow(*this); }

  void settling(const receipts_view& /*receipts*/) noexcept override {}
  void settled(const receipts_view& receipts, bool /*done*/) noexcept override {
    for (std::size_t i = 0; i < receipts.size(); ++i) {
      if (receipts[i].id == id_ && receipts[i].queue == queue_) return changed_.ring();
    }
  }

  [[nodiscard]] std::uint64_t mark() noexcept { return changed_.mark(); }
  /// @return whether it has rung since the mark.
  bool wait(std::uint64_t since, milliseconds longest, const std::stop_token& stop) {
    changed_.wait(since, longest, stop);
    return changed_.mark() != since;
  }

 private:
  settlements& all_;
  const std::int64_t queue_;
  const message_id id_;
  change_signal changed_;
};

}  // namespace

std::optional<error> refused_result(const queue_state& queue, std::size_t size) {
  if (auto refused = no_place(queue, "a result")) return refused;
  if (!queue.info().keep_completed) {
    return error(errc::invalid_argument, advice::never,
                 "the queue " + queue.name() +
                     " keeps no completed messages, and so no results: open it with "
                     "keep_completed, and purge old ones",
                 {.backend = queue.database().name()});
  }
  if (size <= longest_result) return std::nullopt;
  return error(errc::too_large, advice::never,
               "the result has " + std::to_string(size) + " bytes, and may have " +
                   std::to_string(longest_result) + ": store it elsewhere, and return where it is",
               {.backend = queue.database().name()});
}

void say_progress(const queue_state& queue, const receipt& taken, double done,
                  std::string_view note) {
  check_receipt(queue, taken);
  if (const auto refused = no_place(queue, "progress")) throw error(*refused);
  constexpr double whole = 1'000'000;
  const double part = done > 0 ? std::min(done, 1.0) : 0;  // also of no number
  queue.shared().notes.say(
      taken,
      {.done = std::llround(part * whole),
       .text = encode_error(without_blanks(note), queue.database().narrow_texts(), longest_note)});
}

void store_notes(const queue_state& queue, transaction_state* tx, const receipts_view& receipts) {
  const std::vector<progress_notes::entry> said = queue.shared().notes.of(receipts);
  if (tx != nullptr) return store(queue, tx, said);
  try {
    store(queue, nullptr, said);
  } catch (const error&) {  // An observer is told. The next extension tries again.
  }
}

}  // namespace tableq::inline v0::core

namespace tableq::inline v0 {

using core::queue_state;
using core::statement;
using core::transaction_state;

void claim_queue::progress(const receipt& taken, double done, text_view note) {
  // The database is not asked.
  const queue_state& state = core::access::state_of(*this);
  core::named(state.database().name(), core::contract_of(statement::claim_progress).name, [&] {
    state.database().check_here();
    core::say_progress(state, taken, done, note.view());
  });
}

settle_result claim_queue::complete(const receipt& taken, payload_view result) {
  return core::operation(
      *this, statement::claim_complete, [&](const queue_state& mine, transaction_state* tx) {
        const std::optional<std::string_view> given = result.view();
        return core::complete(mine, tx, std::span(&taken, 1), std::span(&given, 1)).front();
      });
}

awaited claim_queue::wait_for(message_id id, const wait_for_options& options) const {
  const auto look = [&](const queue_state& mine) -> awaited {
    using ending = awaited::ending;
    constexpr std::chrono::milliseconds shortest{10};
    constexpr std::chrono::milliseconds longest{500};
    core::check_wait(options.wait, false);
    core::settled_bell bell(mine, id);
    const auto until = std::chrono::steady_clock::now() + options.wait;
    core::backoff pauses(shortest, std::min(longest, mine.database().options().poll_interval));
    for (;;) {
      const std::uint64_t mark = bell.mark();
      const auto found =
          mine.execute(nullptr, core::statements::claim_state_of, {}, std::span(&id, 1));
      if (found.empty()) return {.how = ending::gone};
      const message_state state = found.front().state;
      if (state == message_state::done || state == message_state::dead) {
        std::optional<stored_message> end =
            std::move(core::get(mine, nullptr, std::span(&id, 1),
                                {.detail = message_detail::outline, .result = true})
                          .front());
        if (!end) return {.how = ending::gone};  // It was purged just now.
        awaited out{.how = state == message_state::done ? ending::done : ending::dead,
                    .state = state,
                    .result = std::move(end->result)};
        if (!end->errors.empty()) out.error = std::move(end->errors.back());
        return out;
      }
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (options.stop.stop_requested() || left.count() <= 0) return {.state = state};
      if (bell.wait(mark, std::min(pauses.pause(), left), options.stop)) pauses.reset();
    }
  };
  return core::until_stopped(
      options.stop, [&] { return core::operation_outside(*this, statement::claim_outcome, look); });
}

}  // namespace tableq::inline v0
