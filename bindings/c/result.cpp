#include "result.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "fields.hpp"

namespace tableq_c {
namespace {

using failed = tableq::failure_record;
constexpr std::array failure_columns = {
    member<failed, &failed::at>("at"),
    member<failed, &failed::error>("error"),
};

/// A row of an application's table.
class columns final : public tq_result {
 public:
  explicit columns(const tableq::row& values) {
    cells_.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
      cells_.emplace_back(values.name(i), values.value(values.name(i)));
    }
  }

  [[nodiscard]] std::size_t count() const noexcept override { return 1; }
  [[nodiscard]] std::size_t field_count() const noexcept override { return cells_.size(); }
  [[nodiscard]] const char* field_name(std::size_t place) const noexcept override {
    return cells_[place].first.c_str();
  }
  /// Exactly, then by the one name that differs in the case of ASCII letters only.
  [[nodiscard]] std::size_t place_of(std::string_view name) const noexcept override {
    std::size_t found = cells_.size();
    for (std::size_t place = 0; place < cells_.size(); ++place) {
      if (cells_[place].first == name) return place;
    }
    for (std::size_t place = 0; place < cells_.size(); ++place) {
      if (!same(cells_[place].first, name)) continue;
      if (found != cells_.size()) return cells_.size();
      found = place;
    }
    return found;
  }
  [[nodiscard]] field at(std::size_t /*row*/, std::size_t place) const noexcept override {
    const tableq::row_value& found = cells_[place].second;
    field out{.type = found.is_null() ? TQ_TYPE_NULL : type_of(found.type())};
    if (const auto* const number = std::get_if<std::int64_t>(&found.cell())) out.number = *number;
    if (const auto* const held = std::get_if<std::string>(&found.cell())) out.text = *held;
    return out;
  }

 private:
  static bool same(std::string_view left, std::string_view right) noexcept {
    const auto lower = [](char each) {
      return each >= 'A' && each <= 'Z' ? static_cast<char>(each - 'A' + 'a') : each;
    };
    return std::ranges::equal(left, right, {}, lower, lower);
  }

  std::vector<std::pair<std::string, tableq::row_value>> cells_;
};

/// A field of a message that may be missing.
using stored = tableq::stored_message;
template <auto... Path>
constexpr column<listed_row> of_listed(std::string_view name) {
  return member<listed_row, &listed_row::message, Path...>(name);
}
/// A field of what a handler has said.
using said = tableq::message_progress;
constexpr std::array listed_columns = {
    of_listed<&stored::id>("id"),
    of_listed<&stored::state>("state"),
    member_as<bytes, listed_row, &listed_row::message, &stored::payload>("payload"),
    column<listed_row>{
        "headers",
        [](const listed_row& of) { return of.message ? as_field(of.headers) : field(); }},
    of_listed<&stored::key>("key"),
    of_listed<&stored::group>("group"),
    of_listed<&stored::priority>("priority"),
    of_listed<&stored::attempts>("attempts"),
    of_listed<&stored::created_at>("created_at"),
    of_listed<&stored::due_at>("due_at"),
    of_listed<&stored::expires_at>("expires_at"),
    of_listed<&stored::claimed_at>("claimed_at"),
    of_listed<&stored::finished_at>("finished_at"),
    member<listed_row, &listed_row::errors>("errors"),
    of_listed<&stored::unread_headers>("unread_headers"),
    of_listed<&stored::progress, &said::done>("progress"),
    of_listed<&stored::progress, &said::note>("progress_note"),
    of_listed<&stored::progress, &said::at>("progress_at"),
    member_as<bytes, listed_row, &listed_row::message, &stored::result>("result"),
};

using tableq::finding;
constexpr std::array finding_columns = {
    member<finding, &finding::severity>("severity"),
    member<finding, &finding::subject>("subject"),
    member<finding, &finding::what>("what"),
    member<finding, &finding::fix>("fix"),
};
constexpr std::array text_columns = {
    member<std::string>("text"),
};
constexpr std::array outcome_columns = {
    member<int>("outcome"),
};

}  // namespace

result result_of_columns(const tableq::row& values) {
  return inner(std::make_unique<columns>(values));
}
result result_of(std::vector<listed> messages) {
  std::vector<listed_row> out;
  out.reserve(messages.size());
  for (listed& each : messages) {
    listed_row& one = out.emplace_back(listed_row{.message = std::move(each)});
    if (!one.message) continue;
    one.headers = listed_headers(one.message->headers);
    one.errors = inner(made(std::vector(one.message->errors), failure_columns));
  }
  return made(std::move(out), listed_columns);
}
result result_of(std::vector<tableq::stored_message> messages) {
  return result_of(std::vector<listed>(std::move_iterator(messages.begin()),
                                       std::move_iterator(messages.end())));
}
result result_of(std::vector<tableq::finding> findings) {
  return made(std::move(findings), finding_columns);
}
result result_of_text(std::string text) {
  return made_of_one(std::move(text), text_columns);
}
result result_of_outcomes(std::vector<int> outcomes) {
  return made(std::move(outcomes), outcome_columns);
}

}  // namespace tableq_c
