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
using tableq::delivery;
template <auto... Members>
constexpr column<taken_row> of_taken(std::string_view name) {
  return part<taken_row, [](const taken_row& of) { return &of.message; }, Members...>(name);
}
constexpr std::array taken_columns = {
    member<taken_row, &taken_row::receipt>("receipt"),
    of_taken<&delivery::receipt, &tableq::receipt::id>("id"),
    column<taken_row>{"payload", [](const taken_row& of) { return bytes(of.message.payload); }},
    column<taken_row>{"headers",
                      [](const taken_row& of) { return list_or(of.headers, no_headers()); }},
    of_taken<&delivery::key>("key"),
    of_taken<&delivery::group>("group"),
    of_taken<&delivery::priority>("priority"),
    of_taken<&delivery::attempt>("attempt"),
    of_taken<&delivery::created_at>("created_at"),
    of_taken<&delivery::claimed_at>("claimed_at"),
    of_taken<&delivery::lease_until>("lease_until"),
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
