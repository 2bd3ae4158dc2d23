#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include <tableq/error.hpp>

namespace tool {

/// Standard output accepts no more: a closed pipe, a full disk.
class output_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Standard output, buffered, with every write checked. The destructor discards buffered bytes:
/// only a flush that returned has delivered.
///
/// @par Thread safety
/// Distinct objects: safe. Shared objects: unsafe.
class output {
 public:
  /// @throws output_error, as all others.
  void write(std::string_view bytes);
  /// The bytes and a newline.
  void line(std::string_view bytes);
  void flush();

 private:
  std::string buffer_;
};

/// One line on standard output. @throws output_error
void print_line(std::string_view text);

/// One line on standard error, after `tableq: `. Control characters become blanks.
void complain(std::string_view sentence);

/// What an error says; of one that no rule covers, also the database's own numbers.
std::string sentence_of(const tableq::error& failure);

/// Whether other queues can be read all the same: the database is there, and can be reached.
bool of_one_queue(const tableq::error& failure);

/// Text for one line of a terminal: control characters become blanks.
std::string printable(std::string_view text);

}  // namespace tool
