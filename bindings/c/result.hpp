#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <tableq/tableq.hpp>

#include "call.hpp"

namespace tableq_c {

/// One field of one row. Borrows from the result.
struct field {
  int type = TQ_TYPE_NULL;
  std::int64_t number = 0;
  double real = 0;
  std::string_view text = {};
  const tq_result* list = nullptr;
};

}  // namespace tableq_c

/// Rows with typed fields. Never changes.
struct tq_result : tableq_c::handle<tq_result> {
  static constexpr const char* name_of_type = "tq_result";
  virtual ~tq_result() = default;
  bool inside = false;  ///< Another result owns it, and it is not freed by itself.
  [[nodiscard]] virtual std::size_t count() const noexcept = 0;
  [[nodiscard]] virtual std::size_t field_count() const noexcept = 0;
  [[nodiscard]] virtual const char* field_name(std::size_t place) const noexcept = 0;
  /// @return field_count() if there is no such field.
  [[nodiscard]] virtual std::size_t place_of(std::string_view name) const noexcept = 0;
  /// @param row below count(). @param place below field_count().
  [[nodiscard]] virtual tableq_c::field at(std::size_t row, std::size_t place) const noexcept = 0;
};

namespace tableq_c {

using result = std::unique_ptr<tq_result>;

/// A field of a Row: its name, a literal, and how it is read.
template <class Row>
struct column {
  std::string_view name;
  field (*get)(const Row&);
};

/// Rows of one type of the library, as they are.
template <class Row>
class rows : public tq_result {
 public:
  rows(std::vector<Row> items, std::span<const column<Row>> columns)
      : items_(std::move(items)), columns_(columns) {}

  [[nodiscard]] std::size_t count() const noexcept override { return items_.size(); }
  [[nodiscard]] std::size_t field_count() const noexcept override { return columns_.size(); }
  [[nodiscard]] const char* field_name(std::size_t place) const noexcept override {
    return columns_[place].name.data();
  }
  [[nodiscard]] std::size_t place_of(std::string_view name) const noexcept override {
    std::size_t place = 0;
    while (place < columns_.size() && columns_[place].name != name) ++place;
    return place;
  }
  [[nodiscard]] field at(std::size_t row, std::size_t place) const noexcept override {
    return columns_[place].get(items_[row]);
  }

  [[nodiscard]] const std::vector<Row>& items() const noexcept { return items_; }

 private:
  std::vector<Row> items_;
  std::span<const column<Row>> columns_;
};

/// The rows of a result, if they are of this type; null otherwise.
template <class Row>
[[nodiscard]] const std::vector<Row>* items_of(const tq_result& given) noexcept {
  const auto* const found = dynamic_cast<const rows<Row>*>(&given);
  return found == nullptr ? nullptr : &found->items();
}

/// The headers of a message, which the row beside them has.
struct headers_of {
  result list = {};  ///< Null: it has none.
};

/// A message of `tq_take`, with what its getters borrow.
struct taken_row {
  const tableq::delivery* message;
  std::string receipt;
  headers_of headers;
  result row;
};

/// A message of `tq_list`; none where there is no such message.
using listed = std::optional<tableq::stored_message>;
struct listed_row {
  listed message;
  headers_of headers = {};
  result errors = {};
};

[[nodiscard]] result result_of(std::vector<listed> messages);
[[nodiscard]] result result_of(std::vector<tableq::stored_message> messages);
[[nodiscard]] result result_of(std::vector<tableq::finding> findings);
/// Field: text.
[[nodiscard]] result result_of_text(std::string text);
/// Field: outcome.
[[nodiscard]] result result_of_outcomes(std::vector<int> outcomes);
/// One row of a table, whose fields are its columns. For the field of another result.
[[nodiscard]] result result_of_columns(const tableq::row& values);

}  // namespace tableq_c
