#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace tableq_test {

/// A file descriptor that closes itself.
class owned_descriptor {
 public:
  explicit owned_descriptor(int value = -1) noexcept : value_(value) {}
  owned_descriptor(owned_descriptor&& other) noexcept : value_(other.release()) {}
  owned_descriptor& operator=(owned_descriptor&& other) noexcept;
  ~owned_descriptor() { close(); }

  [[nodiscard]] int value() const noexcept { return value_; }
  int release() noexcept;
  void close() noexcept;

 private:
  int value_;
};

struct pipe_ends {
  owned_descriptor reader;
  owned_descriptor writer;
};
pipe_ends make_pipe();

/// A closed standard stream, as `>&-` of a shell makes it.
constexpr int closed_stream = -2;

/// The start of a command, besides its arguments.
struct start_options {
  std::string input = {};
  std::vector<std::string> environment = {};  ///< `NAME=value`, over that of this process.
  int in = -1;                                ///< Instead of `input`; borrowed. -1: none.
  int out = -1;                               ///< Instead of keeping what is written; borrowed.
  int err = -1;
};

/// Its exit status and output.
struct ended {
  int status = -1;  ///< The exit status, or 128 and the signal that killed it.
  std::string out;
  std::string err;      ///< But for the line of `caution`.
  std::string caution;  ///< The warning about a dialect that no server has run.

  /// Lines on standard error.
  [[nodiscard]] std::size_t complaints() const;
};

/// A running program; killed if this object is destroyed before its end.
class command {
 public:
  command(const std::string& program, const std::vector<std::string>& arguments,
          const start_options& options = {});
  ~command();
  command(const command&) = delete;
  command& operator=(const command&) = delete;

  void signal(int number) const;
  /// Like a terminal's Ctrl-C: to the command and the processes of its group.
  void signal_group(int number) const;
  ended wait();

 private:
  pid_t process_ = -1;
  owned_descriptor out_;
  owned_descriptor err_;
};

}  // namespace tableq_test
