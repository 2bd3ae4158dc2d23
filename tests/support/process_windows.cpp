#include <windows.h>

#include <array>
#include <filesystem>
#include <stdexcept>

#include "support/process.hpp"
#include "support/text.hpp"

namespace tableq_test {
namespace {

HANDLE handle_of(std::intptr_t number) {
  return reinterpret_cast<HANDLE>(number);
}

std::intptr_t number_of(HANDLE handle) {
  return reinterpret_cast<std::intptr_t>(handle);
}

/// As CommandLineToArgvW takes it apart: backslashes count twice before a quote.
std::wstring command_line_of(const std::vector<std::string>& command) {
  std::wstring out;
  for (const std::string& each : command) {
    out += out.empty() ? L"\"" : L" \"";
    std::size_t backslashes = 0;
    for (const wchar_t c : std::filesystem::path(each).wstring()) {
      if (c == L'"') out.append(backslashes + 1, L'\\');
      backslashes = c == L'\\' ? backslashes + 1 : 0;
      out += c;
    }
    out.append(backslashes, L'\\').append(L"\"");
  }
  return out;
}

}  // namespace

process::process(std::vector<std::string> command)
    : output_(
          (std::filesystem::temp_directory_path() / ("tableq-actor-" + unique_name())).string()) {
  SECURITY_ATTRIBUTES inherited{sizeof inherited, nullptr, TRUE};
  std::array<HANDLE, 2> ends{};
  if (::CreatePipe(ends.data(), &ends[1], &inherited, 0) == 0) throw std::runtime_error("no pipe");
  ::SetHandleInformation(ends[1], HANDLE_FLAG_INHERIT, 0);
  const HANDLE output = ::CreateFileW(std::filesystem::path(output_).c_str(), GENERIC_WRITE,
                                      FILE_SHARE_READ | FILE_SHARE_DELETE, &inherited,
                                      CREATE_ALWAYS, FILE_ATTRIBUTE_NORMAL, nullptr);
  STARTUPINFOW start{};
  start.cb = sizeof start;
  start.dwFlags = STARTF_USESTDHANDLES;
  start.hStdInput = ends[0];
  start.hStdOutput = output;
  start.hStdError = ::GetStdHandle(STD_ERROR_HANDLE);
  std::wstring line = command_line_of(command);
  PROCESS_INFORMATION started{};
  const bool done = ::CreateProcessW(nullptr, line.data(), nullptr, nullptr, TRUE, 0, nullptr,
                                     nullptr, &start, &started) != 0;
  ::CloseHandle(ends[0]);
  ::CloseHandle(output);
  input_ = number_of(ends[1]);
  if (!done) throw std::runtime_error("cannot start " + command.front());
  ::CloseHandle(started.hThread);
  id_ = number_of(started.hProcess);
}

process::~process() {
  let_go();
  if (runs()) kill();
  wait();
  std::error_code ignored;  // A file left in a temporary directory does no harm.
  std::filesystem::remove(output_, ignored);
}

void process::let_go() {
  if (input_ != -1) ::CloseHandle(handle_of(input_));
  input_ = -1;
}

void process::tell(std::string_view line) {
  const std::string text = std::string(line) + "\n";
  DWORD written = 0;
  if (::WriteFile(handle_of(input_), text.data(), static_cast<DWORD>(text.size()), &written,
                  nullptr) == 0 ||
      written != text.size()) {
    throw std::runtime_error("the process reads no more");
  }
}

bool process::ends_within(std::chrono::microseconds limit) {
  if (id_ == -1) return true;
  const auto most = std::chrono::ceil<std::chrono::milliseconds>(limit).count();
  return ::WaitForSingleObject(handle_of(id_), static_cast<DWORD>(most)) == WAIT_OBJECT_0;
}

bool process::runs() {
  return id_ != -1 && !ends_within({});
}

void process::kill() {
  constexpr UINT killed = 128 + 9;  // As of SIGKILL.
  if (id_ != -1) ::TerminateProcess(handle_of(id_), killed);
}

int process::wait() {
  if (id_ != -1) {
    ::WaitForSingleObject(handle_of(id_), INFINITE);
    DWORD code = 0;
    ::GetExitCodeProcess(handle_of(id_), &code);
    status_ = static_cast<int>(code);
    ::CloseHandle(handle_of(id_));
    id_ = -1;
  }
  return status_;
}

}  // namespace tableq_test
