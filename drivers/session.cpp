#include "drivers/session.hpp"

#include <soci/soci.h>

#include <utility>

#include <tableq/error.hpp>

#include "drivers/text.hpp"

namespace tableq::drivers {
namespace {

/// Enough for 2^8 statements for each queue of a process.
std::uint64_t cache_key(core::statement id, const core::table_names& names) noexcept {
  return (names.slot << 8U) | static_cast<std::uint64_t>(id);
}

std::unique_ptr<soci::session> open_session(const vocabulary& words, const endpoint& at) {
  try {
    return words.by->open(at);
  } catch (const native_failure& failure) {
    const native_error& native = failure.details();
    verdict judged = words.speaks.classify(native);
    if (judged.code == errc::connection_lost || judged.code == errc::internal) {
      judged = {errc::connection_failed, advice::session};
    }
    throw error(judged.code, judged.advice, native.sentence,
                {words.speaks.name, "connect", native.sqlstate, native.number});
  }
}

}  // namespace

dialect_session::dialect_session(std::shared_ptr<const vocabulary> words, const endpoint& at)
    : words_(std::move(words)),
      owned_(open_session(*words_, at)),
      session_(owned_.get()),
      transport_(words_->by->attach(*session_)) {}

dialect_session::dialect_session(std::shared_ptr<const vocabulary> words, soci::session& callers)
    : words_(std::move(words)), session_(&callers) {
  if (!words_->by->fits(callers)) {
    throw error(
        errc::invalid_argument, advice::never,
        "the enlisted session is closed or connected through another backend; connect it to " +
            words_->speaks.name,
        {.backend = words_->speaks.name, .operation = "enlist"});
  }
  transport_ = words_->by->attach(callers);
}

dialect_session::~dialect_session() = default;

core::row_set dialect_session::execute(core::statement id, const core::table_names& names,
                                       std::span<const core::value> shared,
                                       std::span<const core::value> items) {
  const core::contract& of = core::contract_of(id);
  const bool alone = !transport_->in_transaction();
  core::row_set out(of.columns.size() + (of.items.empty() ? 0 : 1));
  guarded(of.name, of.writes && alone ? on_loss::unknown : on_loss::lost, [&] {
    if (owned_ == nullptr) {
      known_text once = prepare(of, names, false);
      run(once, of, shared, items, out);
      return;
    }
    auto found = cache_.find(cache_key(id, names));
    if (found == cache_.end()) {
      found = cache_.emplace(cache_key(id, names), prepare(of, names, true)).first;
    }
    run(found->second, of, shared, items, out);
  });
  return out;
}

dialect_session::known_text dialect_session::prepare(const core::contract& of,
                                                     const core::table_names& names, bool keep) {
  const auto block = words_->statements.find(of.name);
  if (block == words_->statements.end()) {
    throw error(errc::unsupported, advice::never, "this database has no such statement",
                {.backend = words_->speaks.name, .operation = std::string(of.name)});
  }
  text compiled = compile(fill_names(block->second, words_->speaks, names), of,
                          words_->speaks.batches, words_->by->style);
  const std::size_t columns = compiled.columns.size();
  return {transport_->prepare(std::move(compiled), keep), columns};
}

void dialect_session::run(known_text& what, const core::contract& of,
                          std::span<const core::value> shared, std::span<const core::value> items,
                          core::row_set& out) {
  const std::size_t width = of.items.size();
  if (width == 0 || words_->speaks.batches == batching::arrays) {
    what.ready->run({shared, items, width}, out);
    return;
  }
  const std::size_t count = items.size() / width;
  const bool bracket = count > 1 && !transport_->in_transaction();
  if (bracket) transport_->script(words_->speaks.begin);
  try {
    for (std::size_t i = 0; i < count; ++i) {
      core::row_set rows(what.columns);
      what.ready->run({shared, items.subspan(i * width, width), width}, rows);
      out.append(static_cast<std::int64_t>(i), std::move(rows));
    }
    if (bracket) transport_->script("COMMIT");
  } catch (...) {  // Whatever it was, the bracket must not stay open; it goes on unchanged.
    if (bracket) rollback();
    throw;
  }
}

void dialect_session::define(std::string_view part, const core::table_names& names) {
  guarded("create", on_loss::lost, [&] {
    const auto found = words_->speaks.ddl.find(std::string(part));
    if (found == words_->speaks.ddl.end()) {
      throw error(errc::unsupported, advice::never,
                  "this database has no queues of the kind " + std::string(part),
                  {.backend = words_->speaks.name, .operation = "create"});
    }
    transport_->script(fill_names(found->second, words_->speaks, names));
  });
}

void dialect_session::begin() {
  guarded("begin", on_loss::lost, [&] { transport_->script(words_->speaks.begin); });
}

void dialect_session::commit() {
  guarded("commit", on_loss::unknown, [&] { transport_->script("COMMIT"); });
}

void dialect_session::rollback() noexcept {
  try {
    if (transport_->in_transaction()) transport_->script("ROLLBACK");
  } catch (...) {  // noexcept: a session that cannot roll back is closed, which rolls back as well.
    broken_ = true;
  }
}

bool dialect_session::usable() noexcept {
  return !broken_ && transport_->alive() && !transport_->in_transaction();
}

void dialect_session::guarded(std::string_view operation, on_loss loss,
                              const std::function<void()>& step) {
  try {
    step();
  } catch (const native_failure& failure) {
    const native_error& native = failure.details();
    verdict judged = words_->speaks.classify(native);
    if (native.link_lost || judged.code == errc::connection_lost) {
      broken_ = true;
      judged = loss == on_loss::unknown ? verdict{errc::outcome_unknown, advice::never}
                                        : verdict{errc::connection_lost, advice::session};
    }
    throw error(judged.code, judged.advice, native.sentence,
                {words_->speaks.name, std::string(operation), native.sqlstate, native.number});
  }
}

}  // namespace tableq::drivers
