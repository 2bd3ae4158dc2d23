#include <fcntl.h>
#include <io.h>
#include <windows.h>

#include <shellapi.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>
#include <thread>

#include "exit_status.hpp"
#include "streams.hpp"

namespace tool {

namespace {

constexpr unsigned chunk = 64U * 1024;

std::string last_reason() {
  return std::generic_category().message(errno);
}

}  // namespace

void prepare_standard_streams() {
  for (int each = 0; each <= 2; ++each) ::_setmode(each, _O_BINARY);
}

bool is_terminal(stream which) noexcept {
  return ::_isatty(static_cast<int>(which)) != 0;
}

bool append_input(std::string& buffer) {
  std::array<char, chunk> bytes;
  const int got = ::_read(0, bytes.data(), chunk);
  if (got < 0) throw refused_error("cannot read standard input: " + last_reason());
  buffer.append(bytes.data(), static_cast<std::size_t>(got));
  return got > 0;
}

bool input_readable_before(std::chrono::steady_clock::time_point until) {
  const HANDLE input = ::GetStdHandle(STD_INPUT_HANDLE);
  for (;;) {
    DWORD there = 0;
    // Fails for a file, which never waits, and at the end of a pipe.
    if (::PeekNamedPipe(input, nullptr, 0, nullptr, &there, nullptr) == 0 || there > 0) return true;
    if (std::chrono::steady_clock::now() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds{5});
  }
}

std::string write_output(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto size = static_cast<unsigned>(std::min<std::size_t>(bytes.size(), chunk));
    const int written = ::_write(1, bytes.data(), size);
    if (written < 0) return last_reason();
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return {};
}

void write_error(std::string_view bytes) noexcept {
  ::_write(2, bytes.data(), static_cast<unsigned>(bytes.size()));
}

std::vector<std::string> arguments_of(int /*argc*/, char** /*argv*/) {
  int count = 0;
  LPWSTR* const wide = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  std::vector<std::string> out;
  for (int i = 1; i < count; ++i) out.push_back(std::filesystem::path(wide[i]).string());
  ::LocalFree(wide);
  return out;
}

}  // namespace tool
