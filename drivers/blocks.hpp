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

/// The columns of each message that a text reads.
enum class message_columns {
  all,
  outline,  ///< Without payload and headers.
  seen,     ///< What a viewer may read.
};

/// Texts by name.
using blocks = std::map<std::string, std::string, std::less<>>;

/// The blocks of a statements file, by name. A block begins with `-- name: a.b c.d`, and serves
/// each of these names.
///
/// A block that begins with `-- fragment: clock` replaces `{clock}` in the blocks and fragments
/// below it, without its comments. With clock_source::given the fragment `clock.given` replaces
/// `clock`, if there is one, with table_place::shard `clock.shard`, with take_order::turns
/// `clock.turns`, and with message_columns::seen `clock.seen`; `clock.seen.turns` needs both. Of
/// several that fit, the last one in the file counts. If there is none but others, `{clock}`
/// becomes empty.
/// @throws error errc::invalid_argument when a text then has over 100,000 characters, or two texts
///   have one name.
blocks split_blocks(std::string_view file, clock_source clock = clock_source::database,
                    take_order order = take_order::ids, table_place place = table_place::server,
                    message_columns columns = message_columns::all);

}  // namespace tableq::inline v0::drivers
