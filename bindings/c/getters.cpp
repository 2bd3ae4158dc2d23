// The fields of a result, by row and name.

#include <algorithm>
#include <charconv>

#include "result.hpp"

namespace tableq_c {
namespace {

/// Without rows and fields. Made at the start of the program or of dlopen, and never freed.
const tq_result& no_result = *new rows<int>({}, {});

const tq_result& known(const tq_result* given) noexcept {
  return usable(given) == nullptr ? no_result : *given;
}

/// @return field_count() if there is no such field.
std::size_t place_of(const tq_result& result, const char* name) noexcept {
  return name == nullptr ? result.field_count() : result.place_of(name);
}

field at(const tq_result* given, std::size_t row, const char* name) noexcept {
  const tq_result& result = known(given);
  const std::size_t place = place_of(result, name);
  const bool has = row < result.count() && place < result.field_count();
  return has ? result.at(row, place) : field{.type = TQ_TYPE_NONE};
}

/// Calls `work(row, value)` with the field of each row.
template <class Work>
void each_row(const tq_result* given, const char* name, Work work) noexcept {
  const tq_result& result = known(given);
  const std::size_t place = place_of(result, name);
  const bool has = place < result.field_count();
  for (std::size_t row = 0; row < result.count(); ++row) {
    work(row, has ? result.at(row, place) : field{.type = TQ_TYPE_NONE});
  }
}

double parsed(std::string_view digits) noexcept {
  double out = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), out);
  return out;
}

}  // namespace
}  // namespace tableq_c

using namespace tableq_c;

size_t tq_result_count(const tq_result* result) {
  return known(result).count();
}
size_t tq_result_field_count(const tq_result* result) {
  return known(result).field_count();
}
const char* tq_result_field_name(const tq_result* result, size_t field) {
  return field < known(result).field_count() ? known(result).field_name(field) : nullptr;
}
int tq_result_type(const tq_result* result, size_t row, const char* field) {
  return at(result, row, field).type;
}
int64_t tq_result_int(const tq_result* result, size_t row, const char* field) {
  return at(result, row, field).number;
}
double tq_result_double(const tq_result* result, size_t row, const char* field) {
  const auto found = at(result, row, field);
  if (found.type == TQ_TYPE_INT) return static_cast<double>(found.number);
  return found.type == TQ_TYPE_DECIMAL ? parsed(found.text) : found.real;
}
const char* tq_result_bytes(const tq_result* result, size_t row, const char* field, size_t* size) {
  const auto found = at(result, row, field);
  if (size != nullptr) *size = found.text.size();
  const bool has_bytes =
      found.type == TQ_TYPE_TEXT || found.type == TQ_TYPE_BYTES || found.type == TQ_TYPE_DECIMAL;
  return has_bytes ? found.text.data() : nullptr;
}
void tq_result_all_ints(const tq_result* result, const char* field, int64_t* values) {
  if (values == nullptr) return;
  each_row(result, field, [&](size_t row, const auto& found) { values[row] = found.number; });
}
size_t tq_result_all_bytes(const tq_result* result, const char* field, size_t* sizes, void* bytes,
                           size_t capacity) {
  size_t all = 0;
  each_row(result, field, [&](size_t row, const auto& found) {
    if (sizes != nullptr) sizes[row] = found.text.size();
    all += found.text.size();
  });
  if (bytes == nullptr || capacity < all) return all;
  auto* to = static_cast<char*>(bytes);
  each_row(result, field, [&](size_t /*row*/, const auto& found) {
    to = std::copy(found.text.begin(), found.text.end(), to);
  });
  return all;
}
const tq_result* tq_result_list(const tq_result* result, size_t row, const char* field) {
  return at(result, row, field).list;
}
void tq_result_free(tq_result* result) {
  if (!known(result).inside) end(result);
}
