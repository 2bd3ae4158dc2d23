#include <tableq/unstable/dialect.hpp>

#include "drivers/session.hpp"
#include "drivers/text.hpp"

#include <soci/soci.h>

#include <cstdint>
#include <exception>
#include <utility>
#include <variant>

namespace tableq::inline v0::drivers {

void dialect_session::begin_unit() {
  if (owned_ != nullptr || !transport_->in_transaction()) {
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

void dialect_session::rollback() noexcept {
  const core::transaction_status now = transaction();
  if (now == core::transaction_status::closed || now == core::transaction_status::unknown) {
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

core::transaction_status dialect_session::transaction() noexcept {
  if (attached()) {
    const core::transaction_status now = transport_->transaction();
    return doubtful_ && now == core::transaction_status::open ? asked_transaction() : now;
  }
  return owned_ != nullptr ? core::transaction_status::unknown : core::transaction_status::closed;
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
  rollback();  // the transaction has failed, and a server may answer nothing in it
  if (broken_ || told("read_only", texts_->definition.read_only_state) != 1) return false;
  std::uint64_t mine = demotions_;
  if (share_ != nullptr) share_->demotions.compare_exchange_strong(mine, mine + 1);
  return true;
}

bool dialect_session::usable() noexcept {
  if (share_ != nullptr && share_->demotions.load() != demotions_) return false;
  return !broken_ && transaction() == core::transaction_status::none && transport_->alive();
}

}  // namespace tableq::inline v0::drivers
