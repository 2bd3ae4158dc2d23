#include <tableq/dialect.hpp>

#include "drivers/session.hpp"
#include "drivers/text.hpp"

#include <soci/soci.h>

namespace tableq::inline v0::drivers {

void dialect_session::begin_unit() {
  if (owned_ != nullptr || !transport_->in_transaction()) {
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
  if (session_->get_backend() == backend_) return transport_->transaction();
  return owned_ != nullptr ? core::transaction_status::unknown : core::transaction_status::closed;
}

bool dialect_session::usable() noexcept {
  return !broken_ && transaction() == core::transaction_status::none && transport_->alive();
}

}  // namespace tableq::inline v0::drivers
