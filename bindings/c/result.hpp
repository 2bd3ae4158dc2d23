#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
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
  [[nodiscard]] virtual const char* field_name(std::size_t position) const noexcept = 0;
  /// @param row below count(). @return the type TQ_TYPE_NONE if there is no such field.
  [[nodiscard]] virtual tableq_c::field at(std::size_t row,
                                           std::string_view name) const noexcept = 0;
};

namespace tableq_c {

using result = std::unique_ptr<tq_result>;

/// A field of a Row: its name, a literal, and how it is read.
template <class Row>
struct column {
  std::string_view name;
  field (*get)(const Row&);
};

template <class Row>
[[nodiscard]] field field_of(std::span<const column<Row>> columns, const Row& row,
                             std::string_view name) noexcept {
  for (const column<Row>& each : columns) {
    if (each.name == name) return each.get(row);
  }
  return {.type = TQ_TYPE_NONE};
}

/// Rows of one type of the library, as they are.
template <class Row>
class rows final : public tq_result {
 public:
  rows(std::vector<Row> items, std::span<const column<Row>> columns)
      : items_(std::move(items)), columns_(columns) {}

  [[nodiscard]] std::size_t count() const noexcept override { return items_.size(); }
  [[nodiscard]] std::size_t field_count() const noexcept override { return columns_.size(); }
  [[nodiscard]] const char* field_name(std::size_t position) const noexcept override {
    return columns_[position].name.data();
  }
  [[nodiscard]] field at(std::size_t row, std::string_view name) const noexcept override {
    return field_of(columns_, items_[row], name);
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

/// The messages of a result of `tq_take`; null for another result.
[[nodiscard]] const std::vector<tableq::delivery>* deliveries_of(const tq_result& given) noexcept;

/// A message of `tq_list`; none where there is no such message.
using listed = std::optional<tableq::stored_message>;
struct listed_row {
  listed message;
  result headers = {};
  result errors = {};
};

/// The result of an enqueue.
struct added_row {
  std::int64_t id = 0;
  int outcome = TQ_OUTCOME_ADDED;
  result row = {};  ///< Of a table.
};

/// The redriven messages, or what holds for a handle.
struct handle_settings {
  std::optional<tableq::claim_queue> claim = {};
  std::optional<tableq::table_guarantee> guarantee = {};
  std::string definition = {};
};

[[nodiscard]] result result_of(std::vector<tableq::message> messages);
[[nodiscard]] result result_of(std::vector<tableq::delivery> messages);
[[nodiscard]] result result_of(std::vector<listed> messages);
[[nodiscard]] result result_of(std::vector<tableq::stored_message> messages);
[[nodiscard]] result result_of(tableq::awaited found);
[[nodiscard]] result result_of(std::vector<tableq::row> table_rows);
[[nodiscard]] result result_of(std::vector<added_row> added);
[[nodiscard]] result result_of(std::vector<tableq::queue_info> queues);
[[nodiscard]] result result_of(std::vector<tableq::finding> findings);
[[nodiscard]] result result_of(std::vector<tableq::migration_step> steps);
[[nodiscard]] result result_of(std::vector<tableq::lost_lease> lost);
[[nodiscard]] result result_of(const std::map<std::string, std::string>& statements);
[[nodiscard]] result result_of(const tableq::queue_stats& stats);
[[nodiscard]] result result_of(const tableq::claim_stats& stats);
[[nodiscard]] result result_of(const tableq::queue_rates& rates);
[[nodiscard]] result result_of(const tableq::queue_limits& limits);
[[nodiscard]] result result_of(std::vector<tableq::limited_group> groups);
[[nodiscard]] result result_of(std::vector<tableq::waiting_group> groups);
[[nodiscard]] result result_of(const tableq::redriven& done);
[[nodiscard]] result result_of(const tableq::bulk_result& done);
[[nodiscard]] result result_of(std::vector<tableq::option_change> changes);
/// Field: place. No row: there is nothing after it.
[[nodiscard]] result result_of(const std::optional<tableq::filter_place>& next);
[[nodiscard]] result result_of(handle_settings settings);
/// Field: text.
[[nodiscard]] result result_of_text(std::string text);
/// Field: name.
[[nodiscard]] result result_of_names(std::vector<std::string> names);
/// Field: outcome.
[[nodiscard]] result result_of_outcomes(std::vector<int> outcomes);
/// One row of a table, whose fields are its columns.
[[nodiscard]] result result_of_columns(const tableq::row& values);

}  // namespace tableq_c
