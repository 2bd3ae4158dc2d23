#pragma once

#include <string>
#include <string_view>

#include "html.hpp"

namespace tool::web {

/// How a payload is shown.
enum class payload_form { text, json, hex };

/// The form that fits: JSON if it is an object or a list, text if it is UTF-8, otherwise bytes.
payload_form fitting_form(std::string_view payload);

/// The payload in this form, at most 64 KiB of it.
html payload_block(std::string_view payload, payload_form form, literal label);

}  // namespace tool::web
