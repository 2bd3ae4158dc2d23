#include "row_json.hpp"

#include <optional>
#include <utility>

#include <tableq/receipts.hpp>
#include <tableq/timestamp.hpp>

#include "format.hpp"

namespace tool {

namespace {

/// Text as JSON; nothing unless it is UTF-8.
std::optional<std::string> text_json(const std::string& text) {
  try {
    return json(text).dump();
  } catch (const json::type_error&) {  // The library's own check for UTF-8.
    return std::nullopt;
  }
}

std::string member(const std::string& name, const std::string& value) {
  return line_of(name) + ':' + value;
}

/// A value that is not NULL.
std::string member_of(const std::string& name, const tableq::row_value& value) {
  switch (value.type()) {
    case tableq::column_type::integer:
      return member(name, std::to_string(value.get<std::int64_t>()));
    case tableq::column_type::boolean:
      return member(name, value.get<bool>() ? "true" : "false");
    case tableq::column_type::time:
      return member(name, json(iso(value.get<tableq::timestamp>())).dump());
    case tableq::column_type::number: {
      const auto digits = value.get<std::string>();
      return member(name, json::accept(digits) ? digits : json(digits).dump());
    }
    case tableq::column_type::text:
      if (const auto text = text_json(value.get<std::string>())) return member(name, *text);
      break;
    case tableq::column_type::bytes:
      break;
  }
  return member(name + "_base64", json(base64(value.get<std::string>())).dump());
}

}  // namespace

std::string row_json(const tableq::row& row) {
  std::string out = "{";
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (i > 0) out += ',';
    const std::string& name = row.name(i);
    const tableq::row_value value = row.value(name);
    out += value.is_null() ? member(name, "null") : member_of(name, value);
  }
  return out + '}';
}

std::string delivery_json(const tableq::delivery& taken, const std::string& from) {
  json object{{"receipt", to_string(taken.receipt)}, {"id", taken.receipt.id.value}};
  if (!from.empty()) object["queue"] = from;
  object["attempt"] = taken.attempt;
  object["lease_until"] = iso(taken.lease_until);
  if (!taken.row.empty()) {
    std::string out = line_of(object);
    out.back() = ',';
    return out + member("row", row_json(taken.row)) + '}';
  }
  object["priority"] = taken.priority;
  object["key"] = or_null(taken.key);
  object["group"] = or_null(taken.group);
  object["headers"] = json::object();
  for (const auto& [name, value] : taken.headers) object["headers"][name] = value;
  object["created_at"] = iso(taken.created_at);
  return with_payload(std::move(object), taken.payload);
}

}  // namespace tool
