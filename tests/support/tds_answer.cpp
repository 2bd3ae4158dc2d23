#include "support/tds_answer.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace tableq_test {
namespace {

bool fits(const tds_column& column, const tds_value& value) {
  if (std::holds_alternative<std::nullptr_t>(value)) return true;
  const auto* number = std::get_if<std::int64_t>(&value);
  if (column.type == tds_type::bigint) return number != nullptr;
  if (column.type != tds_type::integer) return number == nullptr;
  return number != nullptr && std::in_range<std::int32_t>(*number);
}

}  // namespace

tds_answer& tds_answer::columns(std::vector<tds_column> of) {
  columns_ = of;
  steps_.emplace_back(tds_step::columns{std::move(of)});
  return *this;
}

tds_answer& tds_answer::row(std::vector<tds_value> values) {
  check(values);
  steps_.emplace_back(tds_step::row{std::move(values), {}});
  return *this;
}

tds_answer& tds_answer::affected(std::int64_t rows) {
  columns_.clear();
  steps_.emplace_back(tds_step::affected{rows});
  return *this;
}

tds_answer& tds_answer::info(std::int32_t number, std::string_view text) {
  steps_.emplace_back(tds_step::message{false, number, std::string(text), 0, 1});
  return *this;
}

tds_answer& tds_answer::error(std::int32_t number, std::string_view text, std::uint8_t severity,
                              std::uint8_t state) {
  columns_.clear();
  steps_.emplace_back(tds_step::message{true, number, std::string(text), severity, state});
  return *this;
}

tds_answer& tds_answer::transaction(tds_change change) {
  steps_.emplace_back(tds_step::transaction{change});
  return *this;
}

tds_answer& tds_answer::wait(const tds_gate& gate) {
  steps_.emplace_back(tds_step::wait{gate});
  return *this;
}

tds_answer& tds_answer::cut() {
  steps_.emplace_back(tds_step::cut{});
  return *this;
}

tds_answer& tds_answer::cut_in_row(std::vector<tds_value> values, std::size_t bytes) {
  check(values);
  steps_.emplace_back(tds_step::row{std::move(values), bytes});
  return cut();
}

tds_answer& tds_answer::cut_after_bytes(std::size_t bytes) {
  byte_limit_ = bytes;
  return *this;
}

bool tds_answer::has_error() const {
  return std::any_of(steps_.begin(), steps_.end(), [](const step& each) {
    const auto* said = std::get_if<tds_step::message>(&each);
    return said != nullptr && said->error;
  });
}

void tds_answer::check(const std::vector<tds_value>& values) const {
  if (values.size() != columns_.size()) {
    throw std::logic_error("tds: a row of " + std::to_string(values.size()) + " values for " +
                           std::to_string(columns_.size()) + " columns");
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!fits(columns_[i], values[i])) {
      throw std::logic_error("tds: a value of another type than column " + columns_[i].name);
    }
  }
}

}  // namespace tableq_test
