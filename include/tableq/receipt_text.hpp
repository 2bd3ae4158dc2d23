#pragma once

#include <string>

#include <tableq/export.hpp>
#include <tableq/message.hpp>
#include <tableq/text_view.hpp>

namespace tableq::inline v0 {

/// A receipt as text, for a program that settles elsewhere: in another process, another language or
/// a shell. It has digits, `a` to `f`, `.` and `-`, and later versions read it too. It is no secret
/// and no proof: every user who may settle messages of the queue can settle with it.
[[nodiscard]] TABLEQ_EXPORT std::string to_string(const receipt& taken);

/// The receipt that to_string has written. Whether it is still valid, the settlement says.
/// @throws error errc::invalid_argument for another text.
[[nodiscard]] TABLEQ_EXPORT receipt parse_receipt(text_view text);

}  // namespace tableq::inline v0
