#pragma once

#include <compare>
#include <map>
#include <string>
#include <string_view>

#include <tableq/message.hpp>

namespace tableq::inline v0::drivers {

/// The source of `{clock}`.
enum class clock_source {
  database,  ///< A function of the database.
  given,     ///< The parameter `:now`, from a test or from the transport.
};

/// Where the tables of the queues are.
enum class table_place {
  server,  ///< On the server that runs the statement.
  shard,   ///< On one of the servers of a cluster, which gets the statement from the called one.
};

/// The order in which a claim queue hands out messages of one priority.
enum class take_order {
  ids,    ///< By their ids.
  turns,  ///< By the time when they became ready: its groups take turns.
};

/// Which of the fragments with endings count.
struct text_variant {
  clock_source clock = clock_source::database;
  take_order order = take_order::ids;
  table_place place = table_place::server;
  message_detail columns = message_detail::all;

  friend auto operator<=>(const text_variant&, const text_variant&) = default;
};

/// Texts by name.
using blocks = std::map<std::string, std::string, std::less<>>;

/// The blocks of a statements file, by name. A block begins with `-- name: a.b c.d`, and serves
/// each of these names.
///
/// A block that begins with `-- fragment: clock` replaces `{clock}` in the blocks and fragments
/// below it, without its comments. With clock_source::given the fragment `clock.given` replaces
/// `clock`, if there is one, with table_place::shard `clock.shard`, with take_order::turns
/// `clock.turns`, and with message_detail::seen `clock.seen`; `clock.seen.turns` needs both. Of
/// several that fit, the last one in the file counts. If there is none but others, `{clock}`
/// becomes empty.
/// @throws error errc::invalid_argument when a text then has over 100,000 characters, or two texts
///   have one name.
blocks split_blocks(std::string_view file, const text_variant& variant = {});

}  // namespace tableq::inline v0::drivers
