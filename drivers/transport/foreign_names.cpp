#include "drivers/transport/foreign_names.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <string>
#include <utility>

#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {
namespace {

constexpr auto npos = std::string_view::npos;

/// Without quotation marks: databases quote a name in other ways than the statement does.
std::string bare(std::string_view text) {
  constexpr std::string_view marks = "\"'`[]";
  std::string out;
  std::copy_if(text.begin(), text.end(), std::back_inserter(out),
               [&](char c) { return marks.find(c) == npos; });
  return out;
}

bool knows(const std::string& statement, std::string_view name) {
  return statement.find(bare(name)) != std::string::npos;
}

/// Whether the statement has all that the sentence quotes by this mark.
bool knows_quoted(const std::string& statement, std::string_view sentence, char mark) {
  for (;;) {
    const std::size_t begin = sentence.find(mark);
    if (begin == npos) return true;
    const std::size_t end = sentence.find(mark, begin + 1);
    // A mark without its end is part of a name.
    if (end == npos || !knows(statement, sentence.substr(begin + 1, end - begin - 1))) return false;
    sentence.remove_prefix(end + 1);
  }
}

/// The name after the colon of SQLite's `no such table: NAME`. Its ODBC driver adds a number.
std::string_view missing(std::string_view sentence) {
  constexpr std::string_view start = "no such ";
  const std::size_t at = sentence.find(": ");
  if (!sentence.starts_with(start) || at == npos) return {};
  const std::string_view rest = sentence.substr(at + 2);
  return rest.substr(0, rest.rfind(" ("));
}

/// The name in PostgreSQL's `function NAME(...) does not exist`.
std::string_view function(std::string_view sentence) {
  constexpr std::string_view start = "function ";
  const std::size_t at = sentence.find(start);
  if (at == npos) return {};
  const std::string_view rest = sentence.substr(at + start.size());
  return rest.substr(0, rest.find('('));
}

/// Other errors tell names of the schema only.
bool tells_names(const native_error& failure) {
  constexpr std::array<std::string_view, 5> classes{"34", "3F", "42", "58", "HY"};
  constexpr int sqlite_error = 1;
  const std::string_view state = failure.sqlstate;
  if (state.empty()) return failure.number == sqlite_error;
  if (state == "42000" || state.starts_with("42S")) return false;  // SQL Server's
  return std::any_of(classes.begin(), classes.end(),
                     [&](std::string_view one) { return state.starts_with(one); });
}

}  // namespace

void refuse_foreign_name(const native_error& failure, std::string_view statement) {
  const std::string_view sentence = failure.sentence;
  const std::string known = bare(statement);
  if (!tells_names(failure) ||
      (knows_quoted(known, sentence, '"') && knows_quoted(known, sentence, '\'') &&
       knows(known, missing(sentence)) && knows(known, function(sentence)))) {
    return;
  }
  native_error what = failure;
  what.sentence = trigger_failed;
  throw native_failure::judged_as({errc::constraint_violated, advice::never}, std::move(what));
}

}  // namespace tableq::inline v0::drivers
