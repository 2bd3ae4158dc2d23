// The fields of a result, by row and name.

#include <algorithm>
#include <charconv>

#include "result.hpp"

namespace tableq_c {
namespace {

field at(const tq_result* given, std::size_t row, const char* name) noexcept {
  const tq_result* const known = usable(given);
  if (known == nullptr || name == nullptr || row >= known->count()) return {.type = TQ_TYPE_NONE};
  return known->at(row, name);
}

/// Calls `work(row, value)` with the field of each row.
template <class Work>
void each_row(const tq_result* given, const char* name, Work work) noexcept {
  const tq_result* const known = usable(given);
  if (known == nullptr) return;
  const std::string_view field = name == nullptr ? "" : name;
  for (std::size_t row = 0; row < known->count(); ++row) work(row, known->at(row, field));
}

double parsed(std::string_view digits) noexcept {
  double out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

}  // namespace
}  // namespace tableq_c

size_t tq_result_count(const tq_result* result) {
  const tq_result* const known = tableq_c::usable(result);
  return known == nullptr ? 0 : known->count();
}
size_t tq_result_field_count(const tq_result* result) {
  const tq_result* const known = tableq_c::usable(result);
  return known == nullptr ? 0 : known->field_count();
}
const char* tq_result_field_name(const tq_result* result, size_t field) {
  const tq_result* const known = tableq_c::usable(result);
  return known == nullptr || field >= known->field_count() ? nullptr : known->field_name(field);
}
int tq_result_type(const tq_result* result, size_t row, const char* field) {
  return tableq_c::at(result, row, field).type;
}
int64_t tq_result_int(const tq_result* result, size_t row, const char* field) {
  return tableq_c::at(result, row, field).number;
}
double tq_result_double(const tq_result* result, size_t row, const char* field) {
  const tableq_c::field found = tableq_c::at(result, row, field);
  switch (found.type) {
    case TQ_TYPE_DOUBLE:
      return found.real;
    case TQ_TYPE_INT:
      return static_cast<double>(found.number);
    case TQ_TYPE_DECIMAL:
      return tableq_c::parsed(found.text);
    default:
      return 0;
  }
}
const char* tq_result_bytes(const tq_result* result, size_t row, const char* field, size_t* size) {
  const tableq_c::field found = tableq_c::at(result, row, field);
  if (size != nullptr) *size = found.text.size();
  const bool has_bytes =
      found.type == TQ_TYPE_TEXT || found.type == TQ_TYPE_BYTES || found.type == TQ_TYPE_DECIMAL;
  return has_bytes ? found.text.data() : nullptr;
}
void tq_result_all_ints(const tq_result* result, const char* field, int64_t* values) {
  if (values == nullptr) return;
  tableq_c::each_row(result, field,
                     [&](size_t row, const auto& found) { values[row] = found.number; });
}
size_t tq_result_all_bytes(const tq_result* result, const char* field, size_t* sizes, void* bytes,
                           size_t capacity) {
  size_t all = 0;
  tableq_c::each_row(result, field, [&](size_t row, const auto& found) {
    if (sizes != nullptr) sizes[row] = found.text.size();
    all += found.text.size();
  });
  if (bytes == nullptr || capacity < all) return all;
  auto* to = static_cast<char*>(bytes);
  tableq_c::each_row(result, field, [&](size_t /*row*/, const auto& found) {
    to = std::copy(found.text.begin(), found.text.end(), to);
  });
  return all;
}
const tq_result* tq_result_list(const tq_result* result, size_t row, const char* field) {
  return tableq_c::at(result, row, field).list;
}
void tq_result_free(tq_result* result) {
  tq_result* const known = tableq_c::usable(result);
  if (known != nullptr && !known->inside) tableq_c::end(known);
}
