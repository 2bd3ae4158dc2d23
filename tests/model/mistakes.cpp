#include "model/mistakes.hpp"

#include <algorithm>
#include <map>

#include "support/text.hpp"

namespace tableq_test {
namespace {

/// In every statement whose names have this beginning, or in the fragment of that name.
struct change {
  std::string place;
  std::string from;
  std::string to;
};
/// All of them make the mistake, in the texts of one database or more.
using changes = std::vector<change>;

const std::string passing = "WITH (UPDLOCK, ROWLOCK, READPAST, READCOMMITTEDLOCK";

const std::map<std::string, std::vector<changes>>& all_mistakes() {
  static const std::map<std::string, std::vector<changes>> all = {
      {"a read takes nothing away",
       {{{"fifo.dequeue", "DELETE FROM {table}", "UPDATE {table} SET payload = payload"}},
        {{"delete_picked", "DELETE FROM {table}", "UPDATE {table} SET payload = payload"}},
        {{"fifo.dequeue", "{delete}", "{update} SET payload = payload"}},
        {{"delete_picked", "DELETE FROM picked", "UPDATE picked SET payload = payload"}}}},
      {"a queue reads its end", {{{"fifo.dequeue", "ORDER BY id", "ORDER BY id DESC"}}}},
      {"a stack reads its bottom", {{{"lifo.dequeue", "ORDER BY id DESC", "ORDER BY id"}}}},
      {"a read finds without a lock",
       {{{"fifo.dequeue", "FOR UPDATE SKIP LOCKED", ""}},
        {{"delete_picked", "FOR UPDATE SKIP LOCKED", ""}},
        // The second step waits for the row of another read, and finds it deleted.
        {{"fifo.dequeue", passing + ")", "WITH (READUNCOMMITTED)"},
         {"delete_picked", "DELETE FROM picked", "DELETE q"},
         {"delete_picked", "AS due_at, deleted.payload",
          "AS due_at, deleted.payload\nFROM {table} AS q WITH (ROWLOCK)\n"
          "INNER JOIN picked ON picked.id = q.id"}}}},
      {"a take finds without a lock",
       {{{"claim.take", "FOR NO KEY UPDATE SKIP LOCKED", ""}},
        {{"ready_locked_in_parts", "FOR NO KEY UPDATE SKIP LOCKED", ""}},
        {{"claim.take", passing + ", {seek_ready})", "WITH (READUNCOMMITTED)"},
         {"claim.take",
          "id, state, priority, due_at, fence, attempts, created_at, claimed_at, [key], past_key,\n"
          "         group_key, expires_at, headers, payload",
          "id AS found"},
         {"claim.take", "UPDATE picked", "UPDATE q"},
         {"claim.take", "inserted.headers, inserted.payload",
          "inserted.headers, inserted.payload\nFROM {table} AS q WITH (ROWLOCK)\n"
          "INNER JOIN picked ON picked.found = q.id"}}}},
      {"a lease has ended when it begins",
       {{{"lease_end", "+ :lease", "+ 0 * :lease"}},
        {{"new_lease", "+ CAST(:lease AS bigint)", "+ 0 * CAST(:lease AS bigint)"}},
        {{"claim.take", "+ CAST(:lease AS bigint)", "+ 0 * CAST(:lease AS bigint)"},
         {"lease_picked", "+ CAST(:lease AS bigint)", "+ 0 * CAST(:lease AS bigint)"}},
        {{"claim.take", "+ CAST(:lease AS bigint)", "+ 0 * CAST(:lease AS bigint)"}}}},
      {"any fence settles",
       {{{"receipt_held", "fence = :fence", "fence >= :fence * 0"}},
        {{"claim.complete", "fence END = CAST(:fence AS bigint)",
          "fence END >= 0 * CAST(:fence AS bigint)"}},
        {{"receipt_held", "q.fence = v.fence", "q.fence >= 0 * v.fence"}}}},
      {"each attempt is the first",
       {{{"claim.take", "2147483646) + 1", "2147483646) * 0 + 1"}},
        {{"new_lease", "2147483646) + 1", "2147483646) * 0 + 1"}},
        {{"next_attempt", "2147483646) END + 1", "2147483646) END * 0 + 1"}},
        {{"claim.take", "attempts + 1 ELSE", "1 ELSE"}}}},
      // Its count is left out.
      {"a fence is its random part",
       {{{"claim.take", "/ 4294967296 + 1", "* 0 + 1"}},
        {{"new_lease", "/ 4294967296 + 1", "* 0 + 1"}},
        {{"next_fence", "/ 4294967296 + 1", "* 0 + 1"}},
        {{"claim.take", "/ CAST(4294967296 AS bigint) + 1", "* 0 + 1"}}}},
      {"no message waits for its group", {{{"new_state", "THEN 5", "THEN 0"}}}},
      {"the next message of a group keeps its place", {{{"claim.advance", "{set_ready_at}", ""}}}},
      {"a completed message is ready again",
       {{{"claim.complete", "DELETE FROM {table}", "UPDATE {table} SET state = 0, due_at = 0"}},
        {{"claim.complete", "DELETE FROM main.{table}",
          "UPDATE main.{table} SET state = 0, due_at = 0"}},
        {{"claim.complete", "{delete}", "{update} SET state = 0, due_at = 0"}},
        {{"claim.complete", "DELETE q\n", "UPDATE q\nSET state = 0, due_at = 0\n"}}}},
  };
  return all;
}

/// @return nothing if no text has it.
std::optional<std::string> changed(const std::string& statements, const change& one) {
  const auto next = [&](std::size_t at) {
    return std::min(statements.find("-- name: ", at), statements.find("-- fragment: ", at));
  };
  std::size_t begin = next(0);
  std::string out = statements.substr(0, begin);
  bool found = false;
  while (begin != std::string::npos) {
    const std::size_t end = next(begin + 1);
    std::string block = statements.substr(begin, end - begin);
    if (contains(block.substr(0, block.find('\n')), " " + one.place) && contains(block, one.from)) {
      block = replaced(block, one.from, one.to);
      found = true;
    }
    out += block;
    begin = end;
  }
  return found ? std::optional(out) : std::nullopt;
}

}  // namespace

std::vector<std::string> mistakes() {
  std::vector<std::string> out;
  for (const auto& [name, ways] : all_mistakes()) out.push_back(name);
  return out;
}

std::optional<std::string> with_mistake(const std::string& statements, const std::string& mistake) {
  bool found = false;
  std::string out = statements;
  // A dialect may have the text in several forms, of which each must be wrong.
  for (const changes& way : all_mistakes().at(mistake)) {
    std::optional<std::string> whole = out;
    for (const change& one : way) {
      if (whole) whole = changed(*whole, one);
    }
    if (!whole) continue;
    out = *whole;
    found = true;
  }
  return found ? std::optional(out) : std::nullopt;
}

}  // namespace tableq_test
