#pragma once

#include <map>
#include <string>
#include <string_view>

namespace tableq::inline v0::drivers {

/// The source of `{clock}`.
enum class clock_source {
  database,  ///< A function of the database.
  given,     ///< The parameter `:now`, from a test or from the transport.
};

/// Texts by name.
using blocks = std::map<std::string, std::string, std::less<>>;

/// The blocks of a statements file, by name. A block begins with `-- name: a.b c.d`, and serves
/// each of these names.
///
/// A block that begins with `-- fragment: clock` replaces `{clock}` in the blocks and fragments
/// below it, without its comments. With clock_source::given the fragment `clock.given` replaces
/// `clock`, if there is one.
/// @throws error errc::invalid_argument when a text then has over 100,000 characters.
blocks split_blocks(std::string_view file, clock_source clock = clock_source::database);

}  // namespace tableq::inline v0::drivers
