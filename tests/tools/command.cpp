#include "tools/command.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <stdexcept>
#include <utility>

namespace tableq_test {

namespace {

void write_all(int file, const std::string& bytes) {
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t written = ::write(file, bytes.data() + done, bytes.size() - done);
    if (written < 0) throw std::runtime_error("cannot write the command's input");
    done += static_cast<std::size_t>(written);
  }
}

owned_descriptor memory_file(const std::string& bytes = {}) {
  owned_descriptor file(::memfd_create("stream", MFD_CLOEXEC));
  if (file.value() == -1) throw std::runtime_error("no file in memory");
  write_all(file.value(), bytes);
  ::lseek(file.value(), 0, SEEK_SET);
  return file;
}

/// For several writers at once: without O_APPEND they may write over each other in such a file.
owned_descriptor output_file() {
  owned_descriptor file = memory_file();
  if (::fcntl(file.value(), F_SETFL, O_APPEND) != 0) throw std::runtime_error("no file in memory");
  return file;
}

std::string all_of(int file) {
  std::string bytes(static_cast<std::size_t>(::lseek(file, 0, SEEK_END)), '\0');
  std::size_t done = 0;
  while (done < bytes.size()) {
    const ssize_t got =
        ::pread(file, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (got <= 0) throw std::runtime_error("cannot read the command's output");
    done += static_cast<std::size_t>(got);
  }
  return bytes;
}

void redirect(posix_spawn_file_actions_t& actions, int from, int to) {
  if (from == closed_stream) {
    posix_spawn_file_actions_addclose(&actions, to);
  } else {
    posix_spawn_file_actions_adddup2(&actions, from, to);
  }
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> result;
  result.reserve(texts.size() + 1);
  for (std::string& text : texts) result.push_back(text.data());
  result.push_back(nullptr);
  return result;
}

std::vector<std::string> environment_with(const std::vector<std::string>& more) {
  std::vector<std::string> all;
  for (char** one = environ; *one != nullptr; ++one) {
    const std::string variable = *one;
    const std::string name = variable.substr(0, variable.find('=') + 1);
    const bool replaced = std::any_of(more.begin(), more.end(), [&](const std::string& other) {
      return other.starts_with(name);
    });
    if (!replaced && !variable.starts_with("TABLEQ_DB=")) all.push_back(variable);
  }
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace

owned_descriptor& owned_descriptor::operator=(owned_descriptor&& other) noexcept {
  close();
  value_ = other.release();
  return *this;
}

int owned_descriptor::release() noexcept {
  return std::exchange(value_, -1);
}

void owned_descriptor::close() noexcept {
  if (value_ >= 0) ::close(value_);
  value_ = -1;
}

pipe_ends make_pipe() {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  return {owned_descriptor(ends[0]), owned_descriptor(ends[1])};
}

std::size_t ended::complaints() const {
  return static_cast<std::size_t>(std::count(err.begin(), err.end(), '\n'));
}

command::command(const std::string& program, const std::vector<std::string>& arguments,
                 const start_options& options)
    : out_(output_file()), err_(output_file()) {
  const owned_descriptor in = memory_file(options.input);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  redirect(actions, options.in == -1 ? in.value() : options.in, STDIN_FILENO);
  redirect(actions, options.out == -1 ? out_.value() : options.out, STDOUT_FILENO);
  redirect(actions, options.err == -1 ? err_.value() : options.err, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);

  std::vector<std::string> line{program};
  line.insert(line.end(), arguments.begin(), arguments.end());
  std::vector<std::string> variables = environment_with(options.environment);
  const int failed = ::posix_spawn(&process_, program.c_str(), &actions, &attributes,
                                   pointers(line).data(), pointers(variables).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start " + program);
}

command::~command() {
  if (process_ == -1) return;
  ::kill(process_, SIGKILL);
  ::waitpid(process_, nullptr, 0);
}

void command::signal(int number) const {
  ::kill(process_, number);
}

void command::signal_group(int number) const {
  ::kill(-process_, number);
}

ended command::wait() {
  int status = 0;
  ::waitpid(process_, &status, 0);
  process_ = -1;
  ended out{WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status),
            all_of(out_.value()),
            all_of(err_.value()),
            {}};
  constexpr std::string_view sign = "tableq: warning: this driver ";
  if (const std::size_t at = out.err.find(sign); at != std::string::npos) {
    const std::size_t end = std::min(out.err.find('\n', at), out.err.size() - 1) + 1;
    out.caution = out.err.substr(at, end - at);
    out.err.erase(at, end - at);
  }
  return out;
}

}  // namespace tableq_test
