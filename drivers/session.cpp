#include "drivers/session.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <exception>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include <soci/soci.h>

#include <tableq/error.hpp>
#include <tableq/unstable/dialect.hpp>

#include "core/base/at_end.hpp"
#include "core/seam/claim_requests.hpp"
#include "core/seam/contract.hpp"
#include "drivers/faulty_transport.hpp"
#include "drivers/opening.hpp"
#include "drivers/pieces.hpp"
#include "drivers/text.hpp"

namespace tableq::inline v0::drivers {
namespace {

/// A check of the files costs more than a short call, so there is one per millisecond of calls. The
/// loss is the same whether the file disappears right after a call or within that time.
constexpr std::chrono::milliseconds between_looks{1};

bool asks_for_one(const core::contract& contract, std::span<const core::value> shared) {
  return contract.max_at != core::contract::no_place && shared[contract.max_at].number == 1;
}

}  // namespace

dialect_session::dialect_session(const session_source& from)
    : texts_(from.texts), plans_(from.share) {
  if (from.theirs == nullptr) {
    share_ = from.share;
    if (share_ != nullptr) demotions_ = share_->demotions.load();
    owned_ = open_session(*texts_, from.address, from.faults.get(), share_);
    session_.soci = owned_.get();
    backend_ = owned_->get_backend();
    transport_ = attach(*texts_, from.address, session_, false, from.faults);
    if (share_ == nullptr) return;
    share_->place.opened(place());
    const session_files* const found = transport_->files();
    if (found != nullptr) refuse_to_connect(*texts_, share_->file.opened(found->main));
    return;
  }
  session_ = from.theirs->session;
  keeps_adding_ = from.theirs->keep_statements;
  if (session_.soci != nullptr) backend_ = session_.soci->get_backend();
  if (!fits(*texts_->transport, session_, texts_->definition)) {
    throw error(
        errc::invalid_argument, advice::never,
        (backend_ == nullptr && session_.handle == nullptr
             ? "the enlisted session is closed or null; connect it to "
             : "the enlisted session is connected through another backend; connect it to ") +
            texts_->definition.name,
        {.backend = texts_->definition.name, .operation = "enlist"});
  }
  guarded("enlist",
          [&] { transport_ = attach(*texts_, from.address, session_, true, from.faults); });
}

dialect_session::~dialect_session() {
  // Client libraries may refuse to end a session with an open transaction.
  if (owned_ == nullptr || transport_ == nullptr) return;
  undo_unit();
  closing_.emplace();
}

void dialect_session::fail(const native_failure& failure, std::string_view operation, bool callers,
                           std::string_view table) {
  auto [native, means] = judge(texts_->definition, failure, sent_, table);
  doubtful_ = doubtful_ || owned_ == nullptr;  // else the transaction only rolls back
  if (native.link_lost || ends_session(means)) {
    broken_ = true;
    if (loss_ == on_loss::unknown && !means.undone) {
      means = {errc::outcome_unknown, advice::never};
    } else if (!ends_session(means)) {
      means = {errc::connection_lost, advice::session};
    }
  }
  if (means.code == errc::read_only && cannot_write()) means.advice = advice::session;
  // The failure has ended the caller's transaction: a repeated statement would be alone.
  if (callers && means.advice == advice::statement && !transport_->in_transaction()) {
    means.advice = advice::transaction;
  }
  if (means.advice == advice::session) broken_ = true;
  throw error(means.code, means.advice, native.sentence,
              {texts_->definition.name, std::string(operation), native.sqlstate, native.number});
}

template <class Step>
void dialect_session::guarded(std::string_view operation, Step step, std::string_view table) {
  loss_ = on_loss::lost;
  const bool callers = in_callers_transaction();
  try {
    step();
  } catch (const native_failure& failure) {
    fail(failure, operation, callers, table);
  }
}

core::any_session dialect_session::session() noexcept {
  doubtful_ = lent_ = true;
  const transport_kind& kind = *texts_->transport;
  if (session_.soci == nullptr || session_.soci->get_backend() == nullptr) return session_;
  return {.soci = session_.soci,
          .client = kind.name,
          .handle = attached() ? kind.handle_of(*session_.soci) : nullptr};
}

bool dialect_session::attached() const noexcept {
  return session_.soci == nullptr || session_.soci->get_backend() == backend_;
}

std::optional<error> dialect_session::failure_of_application(const std::exception& thrown) {
  if (!attached()) return std::nullopt;
  const auto answer_in = texts_->transport->answer_in;
  std::optional<native_error> answer =
      answer_in == nullptr ? std::nullopt : answer_in(thrown, session_);
  const bool lost = !transport_->alive();
  if (!answer && !lost) return std::nullopt;
  if (!answer) answer.emplace();
  if (!lost) answer->sentence.clear();
  answer->link_lost = lost;
  answer->sent = sent_ = std::numeric_limits<std::size_t>::max();  // not known
  // The words may quote data of the application's statement, but tell which limit ended a session.
  const verdict means = texts_->definition.classify(*answer);
  answer->sentence = lost ? "the session was lost" : "";
  if (!means.sentence.empty()) answer->sentence = means.sentence;
  native_failure told(*answer);
  if (!means.sentence.empty()) told.judge(means);
  loss_ = on_loss::lost;
  try {
    fail(told, "session", in_callers_transaction());
  } catch (const error& failure) {
    return failure;
  }
}

void dialect_session::lose(const named_file& file, on_loss done) {
  broken_ = true;
  if (done == on_loss::unknown) {
    throw native_failure::judged_as({errc::outcome_unknown, advice::never}, file.doubt());
  }
  throw native_failure::judged_as({errc::not_found, advice::never}, file.complaint());
}

template <class Step>
void dialect_session::beside_files(on_loss done, const Step& step) {
  using clock = std::chrono::steady_clock;
  if (transport_->files() == nullptr) return step();
  const auto begun = clock::now();
  if (begun - looked_at_ >= between_looks) {
    check_files();
    looked_at_ = begun;
  }
  step();
  if (clock::now() - begun > between_looks) check_files(done);
}

void dialect_session::check_files(on_loss done) {
  const session_files* const mine = transport_->files();
  if (mine == nullptr) return;
  if (!mine->main.there()) lose(mine->main, done);
  if (!mine->log || mine->log->there()) return;
  if (share_ != nullptr) share_->file.lost(*mine->log);
  lose(*mine->log, done);
}

bool dialect_session::drops_hints(const core::contract& contract, const native_failure& failure) {
  const bool hinted = plans_ != nullptr && contract.texts == nullptr && sent_hints_;
  if (!hinted || !has_no_plan(texts_->definition, failure)) return false;
  plans_->without_hints.at(static_cast<std::size_t>(contract.id)) = true;
  return true;
}

void dialect_session::run(std::string_view operation, const core::table_names& names,
                          std::span<core::statement_call> all) {
  if (all.size() != 1) {
    if (!run_together(operation, names, all)) run_by_steps(names, all);
    return;
  }
  core::statement_call& one = all.front();
  const core::contract& contract = *one.what;
  const bool alone = !transport_->in_transaction();
  known_texts once;
  const call of{.known = keeps(contract) ? known_ : once,
                .contract = contract,
                .names = names,
                .shared = one.shared,
                .items = one.items,
                .out = one.rows,
                .loss = contract.writes && alone ? on_loss::unknown : on_loss::lost};
  // In a transaction of tableq the commit checks the files; a caller's commit does not go through
  // tableq.
  const bool looks = alone || owned_ == nullptr;
  const bool callers = owned_ == nullptr && !alone;
  const std::string_view table = contract.texts == nullptr ? names.table : std::string_view();
  loss_ = on_loss::lost;
  sent_ = core::bytes_of(one.shared) + core::bytes_of(one.items);
  for (bool done = false; !done;) {
    try {
      if (looks) {
        beside_files(of.loss, [&] { send(of); });
      } else {
        send(of);
      }
      done = true;
    } catch (const native_failure& failure) {
      const bool again = drops_hints(contract, failure);
      if (!again) fail(failure, operation, callers, table);
      if (alone) continue;
      native_error lost = failure.details();  // it may be lost, and may be repeated as a whole
      lost.sentence =
          "the database had no plan for the statement with its hints; repeat the transaction";
      fail(native_failure::judged_as({errc::conflict, advice::transaction}, std::move(lost)),
           operation, callers, table);
    }
  }
  if (contract.id == core::statement::queue_drop) known_.forget(names);
}

void dialect_session::run_by_steps(const core::table_names& names,
                                   std::span<core::statement_call> all) {
  std::optional<core::unit_of_work> unit;
  if (!transport_->in_transaction()) unit.emplace(*this);
  for (core::statement_call& each : all) run(each.what->name, names, {&each, 1});
  if (unit) unit->commit();
}

bool dialect_session::run_together(std::string_view operation, const core::table_names& names,
                                   std::span<core::statement_call> all) {
  const bool callers = in_callers_transaction();
  if (!texts_->transport->pipelines || !(callers || alone())) return false;
  const on_loss loss = callers ? on_loss::lost : on_loss::unknown;
  known_texts once;
  bool done = false;
  sent_ = 0;
  for (const auto& each : all) sent_ += core::bytes_of(each.shared) + core::bytes_of(each.items);
  const auto bind = [&](std::size_t i) {
    core::statement_call& each = all[i];
    const core::contract& contract = *each.what;
    const std::size_t width = contract.items.size();
    const call of{
        keeps(contract) ? known_ : once, contract, names, each.shared, each.items, each.rows, loss};
    each.rows = core::row_set(contract.columns.size() + (width == 0 ? 0 : 1));
    // As in a transaction: see send.
    const bool one =
        width > 0 && each.items.size() == width && has_one(contract) && !locks_first(contract);
    if (one) each.rows.number_rows(0);
    const text_form form{.one = one, .payloads = one && only_payloads(contract, each.items)};
    return bound_statement{&text_of(of, form), of.with(each.items), &each.rows};
  };
  guarded(
      operation,
      [&] {
        // The first round prepares the texts, and leaves those that are used.
        for (std::size_t i = 0; i < all.size(); ++i) bind(i);
        std::vector<bound_statement> bound;
        for (std::size_t i = 0; i < all.size(); ++i) bound.push_back(bind(i));
        loss_ = loss;
        done = transport_->run_together(texts_->definition.begin, lent_ || names.sharded, bound);
      },
      names.table);
  for (std::size_t i = 0; done && i < all.size(); ++i) {
    if (!all[i].what->items.empty()) number_by_id(all[i].rows);
  }
  return done;
}

void dialect_session::step(prepared& what, const arguments& with, core::row_set& out,
                           on_loss loss) {
  // Not before this point: preparing a text changes nothing.
  loss_ = loss;
  what.run(with, out);
  loss_ = on_loss::lost;
}

prepared& dialect_session::text_of(const call& of, const text_form& form) {
  const core::contract& contract = of.contract;
  const core::table_names& names = of.names;
  const clock_source clock = texts_->transport->tells_time || names.clock != nullptr
                                 ? clock_source::given
                                 : clock_source::database;
  const bool common = texts_->further_of(contract).common;
  const std::uint64_t key = text_key(contract, names, common, form, clock);
  sent_hints_ = plans_ == nullptr || contract.texts != nullptr ||
                !plans_->without_hints.at(static_cast<std::size_t>(contract.id));
  if (const known_text* const found = of.known.find(key);
      found != nullptr && found->serves(contract, names, sent_hints_)) {
    return *found->statement;
  }
  of.known.make_room();
  text made = texts_->compiled(contract, names, {clock, form, sent_hints_});
  return *of.known
              .add(key, {.statement = transport_->prepare(std::move(made), keeps(contract)),
                         .names = names,
                         .mapped = contract.slot,
                         .hinted = sent_hints_,
                         .common = common})
              .statement;
}

void dialect_session::define(std::string_view part, const core::table_names& names) {
  sent_ = 0;
  guarded("create", [&] {
    const std::string text = fill_names(texts_->ddl_of(part), texts_->definition, names);
    if (texts_->transport->scripts && transport_->in_transaction()) {
      return transport_->script(text, boundary::none);  // one round trip
    }
    for (const std::string& one : split_script(text)) transport_->script(one, boundary::none);
  });
}

void dialect_session::begin() {
  sent_ = 0;
  guarded("begin", [&] {
    check_files();
    begin_unit(owned_ == nullptr && transport_->in_transaction());
  });
}

void dialect_session::end(core::transaction_end how) {
  if (how == core::transaction_end::rollback) return undo_unit();
  sent_ = 0;
  guarded("commit", [&] {
    const on_loss loss = savepoints_ == 0 ? on_loss::unknown : on_loss::lost;
    beside_files(loss, [&] {
      loss_ = loss;
      commit_unit();
    });
  });
}

void dialect_session::begin_unit(bool nested) {
  if (!nested) {
    doubtful_ = false;
    return transport_->script(texts_->definition.begin, boundary::begin);
  }
  savepoint(texts_->definition.savepoint, savepoints_ + 1);
  ++savepoints_;
}

void dialect_session::commit_unit() {
  if (savepoints_ == 0) return transport_->script("COMMIT", boundary::commit);
  savepoint(texts_->definition.release, savepoints_);
  --savepoints_;
}

void dialect_session::savepoint(const std::string& text, int depth) {
  if (!text.empty()) transport_->script(fill_depth(text, depth), boundary::savepoint);
}

void dialect_session::undo_unit() noexcept {
  using enum core::transaction_status;
  const core::transaction_status now = transaction(core::asking::server);
  if (now == closed || now == unknown) {
    broken_ = true;
    return;
  }
  try {
    if (savepoints_ != 0) {
      const int depth = savepoints_--;
      if (!transport_->in_transaction()) return;  // the database has undone everything
      savepoint(texts_->definition.undo, depth);
      savepoint(texts_->definition.release, depth);
    } else if (transport_->in_transaction()) {
      transport_->script(texts_->definition.rollback, boundary::rollback);
    }
  } catch (...) {  // noexcept: a session that cannot roll back is closed, which rolls back as well.
    broken_ = true;
  }
}

core::transaction_status dialect_session::transaction(core::asking whom) noexcept {
  using enum core::transaction_status;
  const bool reuse = whom == core::asking::reuse;
  const bool demoted = share_ != nullptr && share_->demotions.load() != demotions_;
  if (reuse && (broken_ || demoted)) return unknown;
  if (!attached()) return owned_ != nullptr ? unknown : closed;
  core::transaction_status now = transport_->transaction();
  if (doubtful_ && now == open && whom != core::asking::library) now = asked_transaction();
  return reuse && now == none && !transport_->alive() ? unknown : now;
}

core::transaction_status dialect_session::asked_transaction() noexcept {
  using core::transaction_status;
  if (texts_->definition.transaction_state.empty()) return transaction_status::open;
  const auto state = told("transaction", texts_->definition.transaction_state);
  if (!state) return transaction_status::open;
  if (*state == 1) {
    doubtful_ = owned_ != nullptr;  // its application's statements go on
    return transaction_status::open;
  }
  // The caller's session stays in its mode without automatic commits until the caller rolls back.
  return *state == 0 && owned_ != nullptr ? transaction_status::none : transaction_status::failed;
}

std::optional<std::int64_t> dialect_session::told(const char* name,
                                                  const std::string& sql) noexcept {
  try {
    text question{
        .name = name, .sql = sql, .parameters = {}, .columns = {core::value_type::integer}};
    core::row_set rows(1);
    transport_->prepare(std::move(question), false)->run({}, rows);
    if (rows.size() == 1) return std::get<std::int64_t>(rows.at(0, 0));
  } catch (const std::exception&) {
    // noexcept: the next statement meets the failure, and tells it.
  }
  return std::nullopt;
}

bool dialect_session::cannot_write() noexcept {
  if (owned_ == nullptr || texts_->definition.read_only_state.empty()) return false;
  undo_unit();  // the transaction has failed, and a server may answer nothing in it
  if (broken_ || told("read_only", texts_->definition.read_only_state) != 1) return false;
  std::uint64_t mine = demotions_;
  if (share_ != nullptr) share_->demotions.compare_exchange_strong(mine, mine + 1);
  return true;
}

/// Several statements of one call happen together, in a transaction or savepoint of their own.
/// @param work returns whether its changes stay.
template <class Work>
bool dialect_session::in_unit(on_loss loss, const Work& work) {
  begin_unit(transport_->in_transaction());
  core::at_end unit([this]() noexcept { undo_unit(); });
  if (!work(on_loss::lost)) return false;
  loss_ = loss;
  commit_unit();
  unit.cancel();
  return true;
}

/// If `work` returns false, `other` takes its place.
template <class Work, class Other>
void dialect_session::in_unit_or(on_loss loss, const Work& work, const Other& other) {
  if (in_unit(loss, work)) return;
  if (broken_)  // The unit is still open, and would take in the next one.
    throw native_failure({.link_lost = true, .sentence = "the database did not undo a change"});
  in_unit(loss, other);
}

bool dialect_session::only_payloads(const core::contract& contract,
                                    std::span<const core::value> items) const {
  return contract.texts == nullptr && texts_->further_of(contract).payloads &&
         nothing_but_payloads(contract, items);
}

/// A take by two texts.
/// @return false if the change has passed over a message, or one is gone after it: triggers do so.
bool dialect_session::find_and_lease(const call& of, on_loss loss) {
  using row = core::delivery_row;
  using request = core::take_request;
  const auto most = static_cast<std::size_t>(of.shared[core::place_of<request>("max")].number);
  of.out.reserve(std::min(most, texts_->definition.row_counts.back()));
  step(text_of(of, {.query = true}), of.with({}), of.out, loss);
  if (of.out.empty()) return true;
  const std::array shared = {of.shared[core::place_of<request>("token")],
                             of.shared[core::place_of<request>("claimed_at")],
                             core::value(of.out.integer(0, core::place_of<row>("lease_until")))};
  std::vector<core::value> ids;
  ids.reserve(of.out.size());
  for (std::size_t i = 0; i < of.out.size(); ++i)
    ids.emplace_back(of.out.integer(i, core::place_of<row>("id")));
  core::row_set leased(2);
  const core::contract& lease = core::contract_of(core::statement::claim_lease);
  const call change{of.known, lease, of.names, shared, ids, leased, loss};
  if (!run_items(change, ids.size() > 1, loss) || leased.size() != ids.size()) return false;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    core::cell& payload = of.out.at(i, core::place_of<row>("payload"));
    if (!std::holds_alternative<std::monostate>(payload)) continue;
    core::row_set left(2);
    const core::contract& query = core::contract_of(core::statement::claim_payload);
    run_items({of.known, query, of.names, {}, std::span(&ids[i], 1), left, loss}, false, loss);
    if (left.empty()) return false;
    payload = std::move(left.at(0, 1));
  }
  return true;
}

void dialect_session::send(const call& of) {
  const core::contract& contract = of.contract;
  const bool batch = !contract.items.empty();
  of.out = core::row_set(contract.columns.size() + (batch ? 1 : 0));
  if (!batch) {
    const auto run_text = [&](on_loss loss) {
      const bool one = has_one(contract) && asks_for_one(contract, of.shared);
      of.out = core::row_set(contract.columns.size());
      step(text_of(of, {.one = one}), of.with({}), of.out, loss);
      return true;
    };
    if (!is_found_first(of)) {
      run_text(of.loss);
    } else {
      in_unit_or(
          of.loss, [&](on_loss loss) { return find_and_lease(of, loss); }, run_text);
    }
  } else if (const batching how = texts_->batches_of(contract, {}); how == batching::loop) {
    run_loop(of);
  } else if (how == batching::rows) {
    run_rows(of);
  } else if (of.items.size() == contract.items.size() && has_one(contract) &&
             !(locks_first(contract) && transport_->in_transaction())) {
    of.out.number_rows(0);
    const text_form form{.one = true, .payloads = only_payloads(contract, of.items)};
    step(text_of(of, form), of.with(of.items), of.out, of.loss);
  } else {
    run_arrays(of, {.payloads = only_payloads(contract, of.items)}, of.items);
    number_by_id(of.out);
  }
}

void dialect_session::run_arrays(const call& of, const text_form& form,
                                 std::span<const core::value> items) {
  prepared& text = text_of(of, form);
  if (texts_->transport->arrays) {
    step(text, of.with(items), of.out, of.loss);
  } else {
    const array_texts arrays(items, of.contract.items);
    step(text, of.with(arrays.values()), of.out, of.loss);
  }
}

void dialect_session::run_rows(const call& of) {
  const core::contract& contract = of.contract;
  const std::size_t width = contract.items.size();
  const std::size_t count = of.items.size() / width;
  const std::size_t values = texts_->values_of(contract);
  const auto run_all = [&](on_loss of_piece) {
    for (std::size_t done = 0; done < count;) {
      const piece next = next_piece(count - done, texts_->definition, values);
      core::row_set rows(contract.columns.empty() ? 0 : contract.columns.size() + 1);
      step(text_of(of, {.rows = next.rows}),
           of.with(of.items.subspan(done * width, next.count * width)), rows, of_piece);
      number_by_id(rows);
      of.out.append_shifted(std::move(rows), static_cast<std::int64_t>(done));
      done += next.count;
    }
    return true;
  };
  if (next_piece(count, texts_->definition, values).count == count || !brackets()) {
    run_all(of.loss);
  } else {
    in_unit(of.loss, run_all);
  }
}

/// @param several whether a text may take several items.
/// @return false if such a text has not changed a row for each item: the caller undoes all.
bool dialect_session::run_items(const call& of, bool several, on_loss loss) {
  const std::size_t width = of.contract.items.size();
  const std::size_t count = of.items.size() / width;
  // Others begin with a text that checks the catalogue.
  const bool checked = of.contract.id == core::statement::claim_lease;
  text_form form{.next = several && (checked || (of.contract.settles() && savepoints_ == 0))};
  form.payloads = (count == 1 || has_next(of.contract)) && only_payloads(of.contract, of.items);
  of.out = core::row_set(of.out.width());
  of.out.reserve(count);
  prepared* text = nullptr;
  for (std::size_t done = 0; done < count; done += form.rows) {
    if (form.next && several) form.rows = most_full_rows(count - done, texts_->definition);
    const auto items = of.items.subspan(done * width, form.rows * width);
    form.mixed = form.next && of.contract.settles() && of_several_takes(items, width);
    if (form.next || text == nullptr) text = &text_of(of, form);
    const std::size_t before = of.out.size();
    of.out.number_rows(static_cast<std::int64_t>(done));
    step(*text, of.with(items), of.out, loss);
    if (form.rows > 1 && of.out.size() != before + form.rows) return false;
    for (std::size_t i = 1; i < form.rows; ++i) {
      of.out.at(before + i, 0) = static_cast<std::int64_t>(done + i);
    }
    form.next = form.next || (has_next(of.contract) && of.out.size() > before);
  }
  return true;
}

void dialect_session::run_loop(const call& of) {
  const bool one = of.items.size() == of.contract.items.size();
  const bool several = !one && has_next(of.contract) && !have_keys(of.contract, of.items) &&
                       texts_->takes_several(of.contract, only_payloads(of.contract, of.items));
  if (one || !(several || brackets())) {
    run_items(of, several, of.loss);
  } else {
    in_unit_or(
        of.loss, [&](on_loss loss) { return run_items(of, several, loss); },
        [&](on_loss loss) { return run_items(of, false, loss); });
  }
}

}  // namespace tableq::inline v0::drivers
