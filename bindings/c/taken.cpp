// The result of a take.

#include <array>
#include <utility>

#include "fields.hpp"
#include "result.hpp"

namespace tableq_c {
namespace {

const result no_list;

/// A message of a take, with what its getters borrow.
struct taken_row {
  const tableq::delivery& message;
  std::string_view receipt;
  const result& headers;
  const result& row;
};
constexpr std::array taken_columns = {
    column<taken_row>{"receipt", [](const taken_row& of) { return text(of.receipt); }},
    column<taken_row>{"id",
                      [](const taken_row& of) { return integer(of.message.receipt.id.value); }},
    column<taken_row>{"payload", [](const taken_row& of) { return bytes(of.message.payload); }},
    column<taken_row>{"headers",
                      [](const taken_row& of) { return list_or(of.headers, no_headers()); }},
    column<taken_row>{"key", [](const taken_row& of) { return optional(of.message.key, text); }},
    column<taken_row>{"group",
                      [](const taken_row& of) { return optional(of.message.group, text); }},
    column<taken_row>{"priority", [](const taken_row& of) { return integer(of.message.priority); }},
    column<taken_row>{"attempt", [](const taken_row& of) { return integer(of.message.attempt); }},
    column<taken_row>{"created_at",
                      [](const taken_row& of) { return time(of.message.created_at); }},
    column<taken_row>{"claimed_at",
                      [](const taken_row& of) { return optional(of.message.claimed_at, time); }},
    column<taken_row>{"lease_until",
                      [](const taken_row& of) { return time(of.message.lease_until); }},
    column<taken_row>{"row", [](const taken_row& of) { return of.row ? list(of.row) : null(); }},
};

/// The messages of a take, as the library returned them.
class taken final : public tq_result {
 public:
  explicit taken(std::vector<tableq::delivery> messages) : messages_(std::move(messages)) {
    receipts_.reserve(messages_.size());
    for (const tableq::delivery& each : messages_) {
      receipts_.push_back(to_string(each.receipt));
      if (!each.headers.empty()) inner_of(each, headers_) = list_of(each.headers);
      if (!each.row.empty()) inner_of(each, rows_) = result_of_columns(each.row);
    }
  }

  [[nodiscard]] std::size_t count() const noexcept override { return messages_.size(); }
  [[nodiscard]] std::size_t field_count() const noexcept override { return taken_columns.size(); }
  [[nodiscard]] const char* field_name(std::size_t position) const noexcept override {
    return taken_columns[position].name.data();
  }
  [[nodiscard]] field at(std::size_t row, std::string_view name) const noexcept override {
    const taken_row found{messages_[row], receipts_[row],
                          headers_.empty() ? no_list : headers_[row],
                          rows_.empty() ? no_list : rows_[row]};
    return field_of<taken_row>(taken_columns, found, name);
  }

  [[nodiscard]] const std::vector<tableq::delivery>& messages() const noexcept { return messages_; }

 private:
  /// Most takes have neither headers nor rows, and no list.
  result& inner_of(const tableq::delivery& message, std::vector<result>& list) {
    list.resize(messages_.size());
    return list[static_cast<std::size_t>(&message - messages_.data())];
  }

  std::vector<tableq::delivery> messages_;
  std::vector<std::string> receipts_;
  std::vector<result> headers_;  // as many as messages, or none
  std::vector<result> rows_;     // the same
};

}  // namespace

result result_of(std::vector<tableq::delivery> messages) {
  return std::make_unique<taken>(std::move(messages));
}
const std::vector<tableq::delivery>* deliveries_of(const tq_result& given) noexcept {
  const auto* const found = dynamic_cast<const taken*>(&given);
  return found == nullptr ? nullptr : &found->messages();
}

}  // namespace tableq_c
