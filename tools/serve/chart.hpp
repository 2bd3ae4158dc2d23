#pragma once

#include "html.hpp"
#include "watched.hpp"

namespace tool::web {

/// A small line of the ready messages, without axes.
html sparkline(const history* past);

/// One figure over time: a line, its highest value, and words for those who cannot see it.
/// @param second another line in the same picture, or null.
html chart(const history* past, std::chrono::milliseconds span, literal title, float sample::*first,
           literal first_name, float sample::*second = nullptr, literal second_name = "");

}  // namespace tool::web
