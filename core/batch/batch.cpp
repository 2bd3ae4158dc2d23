#include <tableq/batch.hpp>

#include <limits>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <tableq/database.hpp>

#include "core/base/errors.hpp"
#include "core/batch/batch_hook.hpp"
#include "core/batch/ends.hpp"
#include "core/claim/messages.hpp"
#include "core/claim/operations.hpp"
#include "core/input/codec.hpp"
#include "core/input/queue_options.hpp"
#include "core/input/validate.hpp"
#include "core/queue/operation.hpp"
#include "core/schema/catalog.hpp"

namespace tableq::inline v0 {
namespace {

using core::queue_state;
using core::statement;
using core::transaction_state;

/// A catalogue of an older layout has no tables for batches.
template <class Work>
auto with_tables(Work work) {
  try {
    return work();
  } catch (const error& failure) {
    const bool told = failure.native() != 0 || !failure.sqlstate().empty();  // by the database
    if (failure.code() != errc::not_found || !told) throw;
    core::refuse(errc::unsupported,
                 "the database has no tables for batches: run `tableq migrate`; in a new one the "
                 "first queue makes them");
  }
}

/// Runs `work(desk, tx, given...)` in the transaction of the handle.
template <class Work, class... Given>
auto batch_operation(const claim_queue& handle, statement id, Work work, const Given&... given) {
  core::database_state& database = core::access::state_of(handle).database();
  const auto tx = core::transaction_of(handle, id, core::beside::operation);
  return core::named(database.name(), core::contract_of(id).name, [&] {
    const queue_state desk = core::desk_of(database);
    std::optional<transaction_state::use> mine;
    if (tx) mine.emplace(*tx);
    if (tx) tx->check_open();
    return with_tables([&] { return work(desk, tx.get(), given...); });
  });
}

/// A limit of counts that no batch reaches.
constexpr auto all_members = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());

batch_info to_info(batch_info out, std::optional<std::size_t> counted_to) {
  const std::size_t counted = out.outstanding + out.dead + out.removed + out.gone;
  if (!out.finished_at && counted >= counted_to) out.counted_to = counted_to;
  return out;
}

/// Checks the message at the end as its enqueue would.
void check_end(const queue_state& desk, transaction_state* tx, const batch_end& then) {
  core::database_state& database = desk.database();
  const auto rows = desk.execute(tx, core::statements::catalog_find, {.name = then.queue});
  if (rows.empty()) {
    core::refuse(errc::not_found, "there is no queue " + then.queue +
                                      " for the message at the end of the batch; make it first");
  }
  const std::optional<kind> known = core::known_kind(rows.front().kind);
  if (!known || *known == kind::table) {
    core::refuse("the message at the end of a batch goes to a queue that tableq has made");
  }
  queue_info info{.name = then.queue, .kind = *known};
  core::decode_options(rows.front().options, info);
  headers all = then.headers;
  if (!all.empty()) {  // There must be room for those of the end, whatever its counts.
    constexpr std::size_t highest = std::numeric_limits<std::int64_t>::max();
    core::batch_counts_row counts;
    counts.total = counts.completed = counts.dead = counts.removed = counts.gone = highest;
    core::tell_batch(all, std::numeric_limits<std::int64_t>::max(), counts, true);
  }
  const claim_enqueue_options options{
      .priority = then.priority, .headers = std::move(all), .key = then.key, .group = then.group};
  core::check_for_any(database, info, {then.payload, &options});
}

/// Tells all processes that messages at ends of batches come to the queue.
void mark(core::database_state& database, const std::string& queue) noexcept {
  if (core::open_transaction::on_this_thread() > 0) return;
  try {
    core::mark_batch_ends(database, queue);
  } catch (const std::exception&) {  // noexcept: the batch is begun. Without the right to mark the
                                     // queue, readers of the members' queues end the batch.
  }
}

std::int64_t begin(const queue_state& desk, transaction_state* tx, const batch_options& options) {
  core::database_state& database = desk.database();
  core::batch_begin_request request;
  if (!options.name.empty()) {
    if (!core::is_key(options.name)) {
      core::refuse("the name of a batch has up to 200 bytes of UTF-8 without NUL");
    }
    request.name = options.name;
  }
  std::string texts;
  if (options.then) {
    check_end(desk, tx, *options.then);
    request.queue = options.then->queue;
    request.payload = options.then->payload;
    request.key = options.then->key;
    request.group = options.then->group;
    request.priority = options.then->priority;
    texts = core::encode_headers(options.then->headers, database.narrow_texts());
    if (!options.then->headers.empty()) request.headers = texts;
  }
  return core::in_one_transaction(database, tx, [&](transaction_state& step) {
    if (options.parent) core::add_to_batch(desk, step, *options.parent, 1);
    const std::int64_t made =
        desk.execute(&step, core::statements::batch_begin, request).at(0).batch;
    if (options.parent) {
      const core::member_item member{.id = message_id{made}, .batch = options.parent->value};
      desk.execute(&step, core::statements::batch_join, {.queue = 0}, std::span(&member, 1));
    }
    if (options.then) {
      step.after_commit(-made, [&database, queue = options.then->queue] { mark(database, queue); });
    }
    return made;
  });
}

/// A page of the outstanding members of a batch, those that are batches first.
/// @param last where the page before ended; then, where this one ends.
std::vector<core::member_row> next_members(const queue_state& desk, transaction_state* tx,
                                           std::int64_t id, core::member_row& last) {
  constexpr std::size_t most = 500;
  auto found = desk.execute(
      tx, core::statements::batch_members,
      {.batch = id, .after_queue = last.queue, .after_message = last.message, .max = most});
  if (!found.empty()) last = found.back();
  return found;
}

/// Marks the batch and those in it as cancelled, all of them or none. From then on readers also
/// remove what waits.
/// @return them. Empty: it has ended, or is not there.
std::vector<std::int64_t> mark_cancelled(const queue_state& desk, std::int64_t id) {
  return core::in_one_transaction(desk.database(), nullptr, [&](transaction_state& step) {
    std::vector<std::int64_t> out;
    std::vector<std::int64_t> all{id};
    std::set<std::int64_t> seen;  // plain SQL can make a batch its own member
    while (!all.empty()) {
      const std::int64_t next = all.back();
      all.pop_back();
      if (!seen.insert(next).second) continue;
      const auto sealed =
          desk.execute(&step, core::statements::batch_seal, {.batch = next, .cancel = true});
      if (sealed.empty()) continue;
      out.push_back(next);
      for (core::member_row last; last.queue == 0;) {
        const auto found = next_members(desk, &step, next, last);
        if (found.empty()) break;
        for (const core::member_row& each : found) {
          if (each.queue == 0) all.push_back(each.message);
        }
      }
    }
    return out;
  });
}

/// Removes the messages of the batch that wait.
void remove_waiting(core::database_state& database, std::int64_t id) {
  const queue_state desk = core::desk_of(database);
  std::map<std::int64_t, queue_info> queues;
  for (queue_info& each : core::list_queues(database)) {
    const std::int64_t identity = each.identity;
    if (each.batches) queues.emplace(identity, std::move(each));
  }
  core::member_row last{.queue = -1};
  for (;;) {
    const auto found = next_members(desk, nullptr, id, last);
    if (found.empty()) return;
    std::map<std::int64_t, std::vector<message_id>> waiting;
    for (const core::member_row& each : found) {
      if (queues.contains(each.queue)) waiting[each.queue].push_back(message_id{each.message});
    }
    for (const auto& [identity, ids] : waiting) {
      const queue_state queue(database.shared_from_this(), queues.at(identity));
      static_cast<void>(core::cancel(queue, nullptr, ids));
    }
  }
}

/// A handle for batches, which belong to no queue.
claim_queue desk_handle(std::shared_ptr<core::database_state> database) {
  return core::access::claims_of(
      std::make_shared<queue_state>(std::move(database), queue_info{.kind = kind::claim}));
}

}  // namespace

batch claim_queue::begin_batch(const batch_options& options) {
  claim_queue through = desk_handle(core::access::state_of(*this).database().shared_from_this());
  core::access::bind_as(through, *this);
  const std::int64_t id = batch_operation(through, statement::batch_begin, begin, options);
  return {std::move(through), id};
}
// NOLINTNEXTLINE(readability-make-member-function-const): it changes the database
batch database::begin_batch(const batch_options& options) {
  return batch(0).through_.begin_batch(options);
}

std::optional<batch_id> claim_queue::batch_of(const receipt& taken) const {
  return core::operation(
      *this, statement::batch_of,
      [&](const queue_state& state, transaction_state* tx) -> std::optional<batch_id> {
        if (!state.info().batches) return std::nullopt;
        const auto rows = state.execute(tx, core::statements::batch_of,
                                        {.queue = state.info().identity}, std::span(&taken.id, 1));
        if (rows.empty()) return std::nullopt;
        return batch_id{.value = rows.front().batch, .member = taken};
      });
}

void batch::seal() {
  batch_operation(
      through_, statement::batch_seal, [&](const queue_state& desk, transaction_state* tx) {
        const auto once = [&](transaction_state& step) {
          const auto sealed = desk.execute(&step, core::statements::batch_seal, {.batch = id_});
          if (sealed.empty() &&
              desk.execute(&step, core::statements::batch_list, {.first = id_, .last = id_})
                  .empty()) {
            core::refuse("there is no batch " + std::to_string(id_));
          }
          step.after_commit(
              id_, [database = &desk.database(), id = id_] { core::end_if_over(*database, id); });
          return true;
        };
        return core::in_one_transaction(desk.database(), tx, once);
      });
}

bool batch::cancel() {
  core::outside(through_, statement::batch_seal);
  return batch_operation(through_, statement::batch_seal,
                         [&](const queue_state& desk, transaction_state* /*tx*/) {
                           const std::vector<std::int64_t> all = mark_cancelled(desk, id_);
                           for (const std::int64_t each : all) {
                             remove_waiting(desk.database(), each);
                             core::end_if_over(desk.database(), each);
                           }
                           return !all.empty();
                         });
}

std::optional<batch_info> batch::get() const {
  return batch_operation(
      through_, statement::batch_list,
      [&](const queue_state& desk, transaction_state* tx) -> std::optional<batch_info> {
        auto rows = desk.execute(tx, core::statements::batch_list,
                                 {.first = id_, .last = id_, .count_to = all_members});
        if (rows.empty()) return std::nullopt;
        return to_info(std::move(rows.front()), std::nullopt);
      });
}

batch database::batch(std::int64_t id) const {
  const claim_queue through = desk_handle(state_);
  return {outside_ ? through.outside() : through, id};
}

std::vector<batch_info> database::batches(const batch_page& page) const {
  return batch_operation(batch(0).through_, statement::batch_list,
                         [&](const queue_state& desk, transaction_state* tx) {
                           constexpr std::size_t most = 1000;
                           core::check_batch_size(page.max, most);
                           if (page.count_to == 0U) core::refuse("count_to must be at least 1");
                           core::batch_list_request asked{
                               .max = page.max, .count_to = page.count_to.value_or(all_members)};
                           if (page.before) asked.last = *page.before - 1;
                           std::vector<batch_info> out;
                           for (auto& row : desk.execute(tx, core::statements::batch_list, asked)) {
                             out.push_back(to_info(std::move(row), page.count_to));
                           }
                           return out;
                         });
}

}  // namespace tableq::inline v0
