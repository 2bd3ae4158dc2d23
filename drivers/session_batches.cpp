// Batches: one statement with arrays, or a statement for each piece.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "drivers/array_text.hpp"
#include "drivers/pieces.hpp"
#include "drivers/session.hpp"

namespace tableq::inline v0::drivers {

/// Several statements of one call happen together, in a transaction or savepoint of their own.
template <class Work>
void dialect_session::in_unit(bool several, on_loss loss, const Work& work) {
  const bool bracket = several && (owned_ == nullptr || !transport_->in_transaction());
  if (!bracket) return work(loss);
  begin_unit();
  try {
    work(on_loss::lost);
    loss_ = loss;
    commit_unit();
  } catch (...) {  // The batch's transaction must not stay open; the exception continues unchanged.
    rollback();
    throw;
  }
}

bool dialect_session::has_mixed(const core::contract& contract) const {
  return contract.texts == nullptr && texts_->for_mixed.test(static_cast<std::size_t>(contract.id));
}

bool dialect_session::only_payloads(const core::contract& contract,
                                    std::span<const core::value> items) const {
  if (contract.texts != nullptr ||
      !texts_->for_payloads.test(static_cast<std::size_t>(contract.id)))
    return false;
  const std::size_t width = contract.items.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (contract.items[i % width].type == core::value_type::bytes) continue;
    const core::value& each = items[i];
    const bool usual = each.is == core::value::shape::null ||
                       (each.is == core::value::shape::integer && each.number == 0);
    if (!usual) return false;
  }
  return true;
}

void dialect_session::run_batch(known_texts& known, const core::contract& contract,
                                const core::table_names& names, std::span<const core::value> shared,
                                std::span<const core::value> items, core::row_set& out,
                                on_loss loss) {
  const std::size_t width = contract.items.size();
  const core::value own(names.identity);
  if (texts_->definition.batches != batching::arrays) {
    run_pieces(known, contract, names, shared, items, out, loss);
  } else if (items.size() == width && has_one(contract) &&
             !(has_mixed(contract) && transport_->in_transaction())) {
    out.number_rows(0);
    run(text_of(known, contract, names, one_key, shared), {shared, items, width, own}, out, loss);
  } else if (has_mixed(contract) && !items.empty()) {
    run_by_id(known, contract, names, shared, items, out, loss);
  } else {
    const std::size_t text = only_payloads(contract, items) ? bare_items_key : 1;
    run_arrays(known, contract, names, text, shared, items, out, loss);
    number_by_id(out);
  }
}

void dialect_session::run_arrays(known_texts& known, const core::contract& contract,
                                 const core::table_names& names, std::size_t rows,
                                 std::span<const core::value> shared,
                                 std::span<const core::value> items, core::row_set& out,
                                 on_loss loss) {
  const std::size_t width = contract.items.size();
  const core::value own(names.identity);
  prepared& text = text_of(known, contract, names, rows, shared);
  if (texts_->transport->arrays) {
    run(text, {shared, items, width, own}, out, loss);
  } else {
    const array_texts arrays(items, contract.items);
    run(text, {shared, arrays.values(), width, own}, out, loss);
  }
}

void dialect_session::run_by_id(known_texts& known, const core::contract& contract,
                                const core::table_names& names, std::span<const core::value> shared,
                                std::span<const core::value> items, core::row_set& out,
                                on_loss loss) {
  const items_by_id sorted(items, contract.items.size());
  const std::size_t text = sorted.distinct() ? 1 : mixed_key;
  run_arrays(known, contract, names, text, shared, sorted.values(), out, loss);
  sorted.number(out);
}

void dialect_session::run_pieces(known_texts& known, const core::contract& contract,
                                 const core::table_names& names,
                                 std::span<const core::value> shared,
                                 std::span<const core::value> items, core::row_set& out,
                                 on_loss loss) {
  const std::size_t width = contract.items.size();
  const std::size_t count = items.size() / width;
  const core::value own(names.identity);
  const bool rows_name_items = texts_->definition.batches == batching::rows;
  const bool follows =
      texts_->for_next.test(static_cast<std::size_t>(contract.id)) && texts_->transport->bare;
  bool further = false;  // a text for a further item
  const bool several = next_piece(count, texts_->definition, width).count < count;
  in_unit(several, loss, [&](on_loss of_piece) {
    if (!rows_name_items) out.reserve(count);
    prepared* text = nullptr;
    std::size_t made_for = 0;  // rows
    for (std::size_t done = 0; done < count;) {
      const piece next = next_piece(count - done, texts_->definition, width);
      const arguments with{shared, items.subspan(done * width, next.count * width), width, own};
      if (next.rows != made_for)
        text = &text_of(known, contract, names, made_for = next.rows, shared);
      if (rows_name_items) {
        core::row_set rows(contract.columns.empty() ? 0 : contract.columns.size() + 1);
        run(*text, with, rows, of_piece);
        number_by_id(rows);
        out.append_shifted(std::move(rows), static_cast<std::int64_t>(done));
      } else {
        out.number_rows(static_cast<std::int64_t>(done));
        run(*text, with, out, of_piece);
        if (follows && !further && !out.empty() && done + next.count < count) {
          text = &text_of(known, contract, names, next_key, shared);
          further = true;
        }
      }
      done += next.count;
    }
  });
}

}  // namespace tableq::inline v0::drivers
