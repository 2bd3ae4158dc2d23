#pragma once

/// @file
/// The standard streams and the arguments, as the operating system has them.

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace tool {

enum class stream { input, output, error };

/// Opens the standard streams if they are closed, so that no file or socket of the database gets
/// one of them. Writing into a closed pipe becomes an error, not the end of the process. Bytes stay
/// as they are.
void prepare_standard_streams();

[[nodiscard]] bool is_terminal(stream which) noexcept;

/// Appends the bytes of one read of standard input, which may wait.
/// @return false at the end.
/// @throws refused_error when it cannot be read.
bool append_input(std::string& buffer);
/// Whether `append_input` returns at once, now or before that time.
[[nodiscard]] bool input_readable_before(std::chrono::steady_clock::time_point until);

/// Writes all of it to standard output.
/// @return the system's reason why it could not; empty: it is written.
[[nodiscard]] std::string write_output(std::string_view bytes);
/// Writes to standard error. Nothing is left to report a failure to.
void write_error(std::string_view bytes) noexcept;

/// The arguments of main as UTF-8, without the program's name.
[[nodiscard]] std::vector<std::string> arguments_of(int argc, char** argv);

}  // namespace tool
