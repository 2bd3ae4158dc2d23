#include "drivers/row_trial.hpp"

#include <chrono>
#include <optional>
#include <stdexcept>
#include <typeinfo>

namespace tableq::inline v0::drivers {

candidate_types candidates_of(column_type type) noexcept {
  using namespace soci;
  switch (type) {
    case column_type::integer:
      return {dt_long_long, dt_integer, dt_unsigned_long_long, dt_double, dt_string, dt_date};
    case column_type::boolean:
      return {dt_integer, dt_long_long, dt_unsigned_long_long, dt_double, dt_string, dt_date};
    case column_type::number:
      return {dt_double, dt_string, dt_long_long, dt_integer, dt_unsigned_long_long, dt_date};
    case column_type::time:
      return {dt_date, dt_string, dt_long_long, dt_integer, dt_unsigned_long_long, dt_double};
    case column_type::text:
    case column_type::bytes:
      break;
  }
  return {dt_string, dt_date, dt_long_long, dt_integer, dt_unsigned_long_long, dt_double};
}

namespace {

std::tm calendar_time(timestamp time) {
  const std::time_t seconds =
      std::chrono::floor<std::chrono::seconds>(time).time_since_epoch().count();
  std::tm out{};
  gmtime_r(&seconds, &out);
  return out;
}

/// SOCI's error for a name that a row lacks, with the name cut out.
struct name_error {
  std::string before;
  std::string after;
};

std::string message_of_soci(const soci::soci_error& thrown) {
  return thrown.get_error_message();
}

/// Taken from SOCI itself, so that no text of it stands here.
const name_error& error_for_names() {
  static const name_error found = [] {
    const std::string asked = "?";
    std::string text;
    try {
      static_cast<void>(soci::row().get_indicator(asked));
    } catch (const soci::soci_error& missing) {
      text = message_of_soci(missing);
    }
    const std::size_t at = text.find(asked);
    if (at == std::string::npos) {
      throw error(errc::internal, advice::never, "SOCI does not name a column that a row lacks");
    }
    return name_error{text.substr(0, at), text.substr(at + asked.size())};
  }();
  return found;
}

std::optional<std::string> name_that_is_missing(const soci::soci_error& thrown) {
  const std::string text = message_of_soci(thrown);
  const auto& [before, after] = error_for_names();
  if (text.size() < before.size() + after.size() || !text.starts_with(before) ||
      !text.ends_with(after)) {
    return {};
  }
  return text.substr(before.size(), text.size() - before.size() - after.size());
}

}  // namespace

served_value value_as(const row& source, std::string_view column, soci::data_type type) {
  if (source.is_null(column)) return {};
  switch (type) {
    case soci::dt_integer:
      return source.get<int>(column);
    case soci::dt_long_long:
      return source.get<long long>(column);
    case soci::dt_unsigned_long_long:
      return source.get<unsigned long long>(column);
    case soci::dt_double:
      return source.get<double>(column);
    case soci::dt_date:
      return calendar_time(source.get<timestamp>(column));
    default:
      return source.get<std::string>(column);
  }
}

served_value empty_value(soci::data_type type) {
  switch (type) {
    case soci::dt_integer:
      return 0;
    case soci::dt_long_long:
      return 0LL;
    case soci::dt_unsigned_long_long:
      return 0ULL;
    case soci::dt_double:
      return 0.0;
    case soci::dt_date:
      return calendar_time(timestamp());
    default:
      return std::string();
  }
}

ending try_columns(std::span<const served_column> columns, const from_base_function& from_base) {
  using kind = ending::kind;
  const auto ended = [](kind how, std::string name = {}) {
    return ending{how, std::move(name), std::current_exception()};
  };
  try {
    serve_row(columns, from_base);
    return {};
  } catch (const soci::soci_error& thrown) {
    auto name = name_that_is_missing(thrown);
    return name ? ended(kind::no_such_name, *std::move(name)) : ended(kind::refused_by_soci);
  } catch (const std::bad_cast& thrown) {
    return ended(typeid(thrown) == typeid(std::bad_cast) ? kind::wrong_type : kind::foreign);
  } catch (const std::out_of_range& thrown) {
    return ended(typeid(thrown) == typeid(std::out_of_range) ? kind::no_such_place : kind::foreign);
  } catch (...) {  // The reader throws it on, unless a value was missing.
    return {kind::foreign, {}, std::current_exception()};
  }
}

}  // namespace tableq::inline v0::drivers
