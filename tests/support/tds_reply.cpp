#include "support/tds_reply.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace tableq_test {

void tds_transactions::change(tds_writer& to, tds_change change) {
  if (change == tds_change::begun) {
    current_ = ++last_;
    write_transaction(to, change, current_);
  } else {
    write_transaction(to, change, current_);
    current_ = 0;
  }
}

tds_reply::tds_reply(tds_wire& wire, std::size_t bodies, tds_transactions& transactions)
    : wire_(wire), transactions_(transactions), bodies_(bodies) {}

void tds_reply::play(const tds_answer& answer, tds_end each) {
  each_ = each;
  if (answer.byte_limit()) left_ = answer.byte_limit();
  for (const auto& step : answer.steps()) {
    if (over_) return;
    std::visit([this](const auto& one) { say(one); }, step);
  }
}

void tds_reply::end_batch() {
  end_with(bits());
}

void tds_reply::end_with(std::uint16_t bits) {
  if (over_) return;
  write_end(out_, tds_end::batch, bits, rows_);
  flush(true);
}

void tds_reply::end_procedure(std::optional<std::int32_t> handle, bool last) {
  if (over_) return;
  const std::uint16_t failed = failed_ ? tds_done::error : 0;
  if (statement_ && counted_) end_statement();
  write_status(out_, failed == 0 ? 0 : 1);
  if (handle) write_handle(out_, *handle);
  const std::uint16_t more = last ? 0 : tds_done::more;
  write_end(out_, tds_end::procedure, static_cast<std::uint16_t>(failed | more));
  statement_ = failed_ = false;
  if (last) flush(true);
}

void tds_reply::say(const tds_step::columns& step) {
  end_statement();
  columns_ = step.of;
  write_columns(out_, columns_);
  statement_ = counted_ = true;
}

void tds_reply::say(const tds_step::row& step) {
  if (step.bytes) {
    tds_writer whole;
    write_row(whole, columns_, step.values);
    out_.bytes(std::string_view(whole.all()).substr(0, *step.bytes));
  } else {
    write_row(out_, columns_, step.values);
    ++rows_;
  }
}

void tds_reply::say(const tds_step::affected& step) {
  end_statement();
  rows_ = step.rows;
  statement_ = counted_ = true;
}

void tds_reply::say(const tds_step::message& step) {
  write_message(out_, step);
  if (step.error) statement_ = failed_ = true;
}

void tds_reply::say(const tds_step::transaction& step) {
  transactions_.change(out_, step.change);
}

void tds_reply::say(const tds_step::wait& step) {
  flush(false);
  wire_.wait(step.gate);
  over_ = over_ || wire_.interrupted() || !wire_.open();
}

void tds_reply::say(const tds_step::cut&) {
  flush(false);
  wire_.close();
  over_ = true;
}

void tds_reply::end_statement() {
  if (statement_) {
    write_end(out_, each_, static_cast<std::uint16_t>(bits() | tds_done::more), rows_);
  }
  statement_ = counted_ = failed_ = false;
  rows_ = 0;
}

std::uint16_t tds_reply::bits() const {
  std::uint16_t out = 0;
  if (counted_) out |= tds_done::count;
  if (failed_) out |= tds_done::error;
  return out;
}

void tds_reply::flush(bool last) {
  std::string_view rest = out_.all();
  while (!over_ && (last || !rest.empty())) {
    const std::string_view body = rest.substr(0, bodies_);
    rest.remove_prefix(body.size());
    const bool final_one = last && rest.empty();
    const std::size_t size = body.size() + 8;
    const std::size_t limit = left_.value_or(std::numeric_limits<std::size_t>::max());
    if (!wire_.send(tds_packet::answer, final_one, body, limit)) over_ = true;
    if (limit <= size) {
      wire_.close();
      over_ = true;
    }
    if (left_ && !over_) *left_ -= size;
    if (final_one) break;
  }
  out_.clear();
}

}  // namespace tableq_test
