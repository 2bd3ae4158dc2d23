#include "drivers/pieces.hpp"

#include <algorithm>
#include <boost/algorithm/hex.hpp>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include "core/seam/fields.hpp"
#include "drivers/text.hpp"

namespace tableq::inline v0::drivers {
namespace {

void put_bytes(std::string& out, std::string_view bytes) {
  out += R"("\\x)";
  boost::algorithm::hex_lower(bytes, std::back_inserter(out));
  out += '"';
}

void put_text(std::string& out, std::string_view text) {
  out += '"';
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  out += '"';
}

void put(std::string& out, const core::value& one, core::value_type type) {
  if (one.is == core::value::shape::null) {
    out += "NULL";
  } else if (one.is == core::value::shape::integer) {
    out += std::to_string(one.number);
  } else if (type == core::value_type::bytes) {
    put_bytes(out, one.data);
  } else {
    put_text(out, one.data);
  }
}

}  // namespace

piece next_piece(std::size_t left, const dialect& definition, std::size_t values) {
  const auto& made_for = definition.row_counts;
  const auto last = std::find_if(made_for.begin() + 1, made_for.end(), [&](std::size_t rows) {
    return definition.most_item_values && rows * values > *definition.most_item_values;
  });
  const auto enough = std::lower_bound(made_for.begin(), last, left);
  const std::size_t most = *(last - 1);
  return enough == last ? piece{most, most} : piece{left, *enough};
}

std::size_t most_full_rows(std::size_t left, const dialect& definition) {
  return *(std::ranges::upper_bound(definition.row_counts, left) - 1);
}

void number_by_id(core::row_set& rows) {
  if (rows.empty() || rows.maybe_integer(0, 0)) return;
  std::vector<std::int64_t> ids;
  ids.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) ids.push_back(rows.integer(i, 1));
  std::sort(ids.begin(), ids.end());
  core::row_set out(rows.width());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    out.add(static_cast<std::int64_t>(i));
    out.add(ids[i]);
  }
  rows = std::move(out);
}

array_texts::array_texts(std::span<const core::value> items, std::span<const core::field> fields) {
  const std::size_t width = fields.size();
  texts_.reserve(width);
  for (std::size_t column = 0; column < width; ++column) {
    std::size_t size = 2;
    for (std::size_t i = column; i < items.size(); i += width) {
      size += 24 + 2 * items[i].data.size();
    }
    std::string& text = texts_.emplace_back();
    text.reserve(size);
    text += '{';
    for (std::size_t i = column; i < items.size(); i += width) {
      if (i != column) text += ',';
      put(text, items[i], fields[column].type);
    }
    text += '}';
    values_.emplace_back(std::string_view(text));
  }
}

bool of_several_takes(std::span<const core::value> receipts, std::size_t width) {
  constexpr std::size_t fence = core::place_of<receipt>("fence");
  for (std::size_t i = fence; i < receipts.size(); i += width) {
    if (receipts[i].number != receipts[fence].number) return true;
  }
  return false;
}

std::string text_form::ending() const {
  std::string out;
  if (one) out += for_one;
  if (next) out += for_next;
  if (mixed) out += for_mixed;
  if (payloads) out += for_payloads;
  if (query) out += for_query;
  return out;
}

bool have_keys(const core::contract& contract, std::span<const core::value> items) {
  const std::size_t place = core::place_among(contract.items, "key");
  if (place == core::contract::no_place) return false;
  for (std::size_t i = place; i < items.size(); i += contract.items.size()) {
    if (items[i].is != core::value::shape::null) return true;
  }
  return false;
}

bool nothing_but_payloads(const core::contract& contract, std::span<const core::value> items) {
  const std::size_t width = contract.items.size();
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (contract.items[i % width].type == core::value_type::bytes) continue;
    const core::value& each = items[i];
    // A time of zero is given.
    const bool may_be_zero = contract.items[i % width].name != "created_at";
    const bool usual = each.is == core::value::shape::null ||
                       (each.is == core::value::shape::integer && each.number == 0 && may_be_zero);
    if (!usual) return false;
  }
  return true;
}

}  // namespace tableq::inline v0::drivers
