#include "drivers/row_source.hpp"

#include <soci/version.h>

#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <type_traits>
#include <utility>

#include "core/seam/named.hpp"
#include "drivers/one_soci.hpp"

namespace tableq::inline v0::drivers {
namespace {

/// A value that a statement sends.
struct sent_value {
  std::string name;  ///< Empty: it has none.
  const void* data = nullptr;
  soci::details::exchange_type type = soci::details::x_stdstring;
  bool null = false;
};

/// The row and the result that the statements of one session exchange.
struct row_exchange {
  std::span<const served_column> served;
  std::vector<sent_value> sent;
  std::size_t nameless = 0;  ///< How many values without a name were bound.
};

class row_into final : public soci::details::standard_into_type_backend {
 public:
  explicit row_into(const row_exchange& exchange) : exchange_(&exchange) {}
  void define_by_pos(int& position, void* data, soci::details::exchange_type /*type*/) override {
    column_ = static_cast<std::size_t>(position++) - 1;
    data_ = data;
  }
  void pre_fetch() override {}
  void post_fetch(bool /*got*/, bool /*fetched*/, soci::indicator* null) override {
    const served_value& value = exchange_->served[column_].value;
    *null = std::holds_alternative<std::monostate>(value) ? soci::i_null : soci::i_ok;
    std::visit(
        [this]<class Value>(const Value& held) {
          if constexpr (std::is_arithmetic_v<Value>) {
            // SOCI's integer of this size may have another name.
            std::memcpy(data_, &held, sizeof held);
          } else if constexpr (!std::is_same_v<Value, std::monostate>) {
            *static_cast<Value*>(data_) = held;
          }
        },
        value);
  }
  void clean_up() override {}

 private:
  const row_exchange* exchange_;
  std::size_t column_ = 0;
  void* data_ = nullptr;
};

class row_use final : public soci::details::standard_use_type_backend {
 public:
  explicit row_use(row_exchange& exchange) : exchange_(&exchange) {}
  void bind_by_pos(int& position, void* data, soci::details::exchange_type type,
                   bool /*read_only*/) override {
    ++position;
    ++exchange_->nameless;
    value_ = {{}, data, type};
  }
  void bind_by_name(const std::string& name, void* data, soci::details::exchange_type type,
                    bool /*read_only*/) override {
    value_ = {name, data, type};
  }
  void pre_use(const soci::indicator* null) override {
    value_.null = null != nullptr && *null == soci::i_null;
    exchange_->sent.push_back(value_);
  }
  void post_use(bool /*got*/, soci::indicator* /*null*/) override {}
  void clean_up() override {}

 private:
  row_exchange* exchange_;
  sent_value value_;
};

#if SOCI_VERSION >= 400100
using described_type = soci::db_type;

described_type described(soci::data_type type) {
  switch (type) {
    case soci::dt_date:
      return soci::db_date;
    case soci::dt_double:
      return soci::db_double;
    case soci::dt_integer:
      return soci::db_int32;
    case soci::dt_long_long:
      return soci::db_int64;
    case soci::dt_unsigned_long_long:
      return soci::db_uint64;
    default:
      return soci::db_string;
  }
}
#else
using described_type = soci::data_type;

described_type described(soci::data_type type) {
  return type;
}
#endif

class row_statement final : public soci::details::statement_backend {
 public:
  explicit row_statement(row_exchange& exchange) : exchange_(&exchange) {}
  void alloc() override {}
  void clean_up() override {}
  void prepare(const std::string& /*text*/, soci::details::statement_type /*type*/) override {}
  exec_fetch_result execute(int /*rows*/) override { return ef_success; }
  exec_fetch_result fetch(int /*rows*/) override { return ef_no_data; }
  long long get_affected_rows() override { return 0; }
  int get_number_of_rows() override { return 1; }
  [[nodiscard]] std::string get_parameter_name(int /*index*/) const override { return {}; }
  std::string rewrite_for_procedure_call(const std::string& text) override { return text; }
  int prepare_for_describe() override { return static_cast<int>(exchange_->served.size()); }
  void describe_column(int number, described_type& type, std::string& name) override {
    const served_column& column = exchange_->served[static_cast<std::size_t>(number) - 1];
    type = described(column.type);
    name = column.name;
  }
  // SOCI deletes what these make.
  soci::details::standard_into_type_backend* make_into_type_backend() override {
    return new row_into(*exchange_);
  }
  soci::details::standard_use_type_backend* make_use_type_backend() override {
    return new row_use(*exchange_);
  }
  soci::details::vector_into_type_backend* make_vector_into_type_backend() override {
    core::refuse(no_vectors);
  }
  soci::details::vector_use_type_backend* make_vector_use_type_backend() override {
    core::refuse(no_vectors);
  }

 private:
  static constexpr const char* no_vectors = "a row of a table has no vectors of values";
  row_exchange* exchange_;
};

class row_session final : public soci::details::session_backend {
 public:
  explicit row_session(row_exchange& exchange) : exchange_(&exchange) {}
  bool is_connected() override { return true; }
  void begin() override {}
  void commit() override {}
  void rollback() override {}
  [[nodiscard]] std::string get_dummy_from_table() const override { return {}; }
  [[nodiscard]] std::string get_backend_name() const override { return "tableq row"; }
  soci::details::statement_backend* make_statement_backend() override {
    return new row_statement(*exchange_);
  }
  soci::details::rowid_backend* make_rowid_backend() override { return nullptr; }
  soci::details::blob_backend* make_blob_backend() override { return nullptr; }

 private:
  row_exchange* exchange_;
};

class row_factory final : public soci::backend_factory {
 public:
  explicit row_factory(row_exchange& exchange) : exchange_(&exchange) {}
  [[nodiscard]] soci::details::session_backend* make_session(
      const soci::connection_parameters& /*ignored*/) const override {
    return new row_session(*exchange_);
  }

 private:
  row_exchange* exchange_;
};

/// What SOCI reads a row into: it has the row while it is read, and calls `read` with it.
struct row_visit {
  const std::function<void(const soci::values&)>* read;
  std::exception_ptr thrown;  ///< Kept from SOCI, which would change its text.
};

/// What SOCI sends.
struct row_filling {
  const std::function<void(soci::values&)>* write;
  const row_exchange* exchange;
  std::size_t set = 0;  ///< The number of values that it has set.
  bool bound = false;
  std::exception_ptr thrown;
};

/// Stands behind the last value: values do not tell how many they are.
struct end_mark {};

/// The bytes of a number: SOCI calls a long and a long long by the same name.
template <class Number>
Number number_at(const void* data) {
  Number out{};
  std::memcpy(&out, data, sizeof out);
  return out;
}

timestamp time_at(const void* data) {
  std::tm out = *static_cast<const std::tm*>(data);
  return timestamp(std::chrono::seconds(timegm(&out)));
}

[[noreturn]] void refuse_sent(const std::string& name, const std::string& why) {
  core::refuse("to_base sets column \"" + name + "\" to " + why);
}

/// The value, whose type is known even if it is NULL.
row_value value_of(const sent_value& sent) {
  switch (sent.type) {
    case soci::details::x_char:
      return std::string(1, *static_cast<const char*>(sent.data));
    case soci::details::x_stdstring:
      return *static_cast<const std::string*>(sent.data);
    case soci::details::x_xmltype:
      return static_cast<const soci::xml_type*>(sent.data)->value;
    case soci::details::x_longstring:
      return static_cast<const soci::long_string*>(sent.data)->value;
    case soci::details::x_short:
      return number_at<short>(sent.data);
    case soci::details::x_integer:
      return number_at<int>(sent.data);
    case soci::details::x_long_long:
      return number_at<long long>(sent.data);
    case soci::details::x_unsigned_long_long: {
      const auto value = number_at<unsigned long long>(sent.data);
      if (!std::in_range<std::int64_t>(value)) {
        refuse_sent(sent.name, "an integer that is greater than a signed 64-bit integer can be");
      }
      return value;
    }
#if SOCI_VERSION >= 400100
    case soci::details::x_int8:
      return number_at<std::int8_t>(sent.data);
    case soci::details::x_uint8:
      return number_at<std::uint8_t>(sent.data);
    case soci::details::x_uint16:
      return number_at<std::uint16_t>(sent.data);
    case soci::details::x_uint32:
      return number_at<std::uint32_t>(sent.data);
    case soci::details::x_stdwstring:
      refuse_sent(sent.name, "a wide string: give it as UTF-8 in a std::string");
#endif
    case soci::details::x_double:
      return number_at<double>(sent.data);
    case soci::details::x_stdtm:
      return time_at(sent.data);
    case soci::details::x_statement:
    case soci::details::x_rowid:
    case soci::details::x_blob:
      break;
  }
  refuse_sent(sent.name, "a blob, a row id or a statement, which no row of tableq holds");
}

column_type type_of(soci::details::exchange_type type) noexcept {
  switch (type) {
    case soci::details::x_short:
    case soci::details::x_integer:
    case soci::details::x_long_long:
    case soci::details::x_unsigned_long_long:
#if SOCI_VERSION >= 400100
    case soci::details::x_int8:
    case soci::details::x_uint8:
    case soci::details::x_uint16:
    case soci::details::x_uint32:
#endif
      return column_type::integer;
    case soci::details::x_double:
      return column_type::number;
    case soci::details::x_stdtm:
      return column_type::time;
    default:
      return column_type::text;
  }
}

}  // namespace
}  // namespace tableq::inline v0::drivers

namespace soci {

template <>
struct type_conversion<tableq::drivers::row_visit> {
  using base_type = values;
  static void from_base(const values& row_values, indicator /*null*/,
                        tableq::drivers::row_visit& visit) {
    try {
      (*visit.read)(row_values);
    } catch (...) {  // Thrown on by serve_row.
      visit.thrown = std::current_exception();
    }
  }
  static void to_base(const tableq::drivers::row_visit& /*visit*/, values& /*row_values*/,
                      indicator& /*null*/) {}
};

template <>
struct type_conversion<tableq::drivers::end_mark> {
  // No other value has this type: SOCI sends an unsigned short as a long long.
  using base_type = unsigned short;
  static void from_base(base_type /*number*/, indicator /*null*/,
                        tableq::drivers::end_mark& /*mark*/) {}
  static void to_base(const tableq::drivers::end_mark& /*mark*/, base_type& number,
                      indicator& null) {
    number = 0;
    null = i_ok;
  }
};

}  // namespace soci

namespace tableq::inline v0::drivers {
namespace {

std::size_t number_before_the_mark(const soci::values& all) {
  for (std::size_t position = 0;; ++position) {
    try {
      static_cast<void>(all.get<end_mark>(position));
      return position;
    } catch (const soci::soci_error&) {  // A value of another type, or NULL: not the mark.
    }
  }
}

}  // namespace
}  // namespace tableq::inline v0::drivers

namespace soci {

template <>
struct type_conversion<tableq::drivers::row_filling> {
  using base_type = values;
  static void from_base(const values& /*row_values*/, indicator /*null*/,
                        tableq::drivers::row_filling& /*filling*/) {}
  /// SOCI calls it when it binds, and again when it executes. Only the second call makes NULL of a
  /// value that is given as one: `set` forgets that when it sees a name for the first time. A value
  /// without a name would be set once more, and never be freed.
  static void to_base(tableq::drivers::row_filling& filling, values& row_values,
                      indicator& /*null*/) {
    if (filling.thrown) return;
    try {
      const bool again = std::exchange(filling.bound, true);
      if (!again || filling.exchange->nameless == 1) (*filling.write)(row_values);
      if (again) return;
      row_values.set(tableq::drivers::end_mark());
      filling.set = tableq::drivers::number_before_the_mark(row_values);
    } catch (...) {  // Thrown on by written_by.
      filling.thrown = std::current_exception();
    }
  }
};

}  // namespace soci

namespace tableq::inline v0::drivers {

void serve_row(std::span<const served_column> columns,
               const std::function<void(const soci::values&)>& read) {
  check_one_soci();
  row_exchange exchange{columns, {}, 0};
  const row_factory factory(exchange);
  soci::session session(factory, {});
  row_visit visit{&read, {}};
  soci::statement statement = (session.prepare << "row", soci::into(visit));
  statement.execute(true);
  if (visit.thrown) std::rethrow_exception(visit.thrown);
}

written_row written_by(const std::function<void(soci::values&)>& write,
                       std::span<const std::string_view> names) {
  check_one_soci();
  // SOCI sends the values whose names stand in the statement.
  std::string text;
  for (const std::string_view name : names) text += ":" + std::string(name) + "\n";
  row_exchange exchange;
  const row_factory factory(exchange);
  soci::session session(factory, {});
  row_filling filling{&write, &exchange, 0, false, {}};
  soci::statement statement = (session.prepare << text, soci::use(filling));
  statement.execute(true);
  if (filling.thrown) std::rethrow_exception(filling.thrown);
  written_row out;
  for (const sent_value& each : exchange.sent) {
    if (each.name.empty()) continue;
    out.named.set(each.name, each.null ? row_value::null(type_of(each.type)) : value_of(each));
  }
  out.others = filling.set - out.named.size();
  return out;
}

}  // namespace tableq::inline v0::drivers
