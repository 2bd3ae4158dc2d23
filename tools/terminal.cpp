#include "terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "output.hpp"
#include "streams.hpp"

namespace tool {

namespace {

constexpr const char* enter = "\033[?1049h\033[?25l";
constexpr const char* leave = "\033[?25h\033[?1049l";

winsize size_of_terminal() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == -1 || size.ws_row == 0 || size.ws_col == 0) {
    size.ws_row = 24;
    size.ws_col = 80;
  }
  return size;
}

void show(const std::string& bytes) {
  output out;
  out.write(bytes);
  out.flush();
}

}  // namespace

bool full_screen::possible() {
  return is_terminal(stream::input) && is_terminal(stream::output);
}

full_screen::full_screen() {
  if (::tcgetattr(STDIN_FILENO, &before_) == -1) {
    throw std::system_error(errno, std::generic_category(), "tcgetattr");
  }
  termios raw = before_;
  raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  // read returns at once. A suspended job must not leave the terminal in this state.
  raw.c_cc[VMIN] = 0;
  raw.c_cc[VTIME] = 0;
  raw.c_cc[VSUSP] = _POSIX_VDISABLE;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
  show(enter);
}

full_screen::~full_screen() {
  ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  try {
    show(leave);
  } catch (const output_error&) {  // A lost terminal needs no reset.
    return;
  }
}

void full_screen::draw(const std::vector<std::string>& lines, std::size_t marked) const {
  const winsize size = size_of_terminal();
  const std::size_t count = std::min<std::size_t>(lines.size(), size.ws_row);
  std::string frame = "\033[H";
  for (std::size_t i = 0; i < count; ++i) {
    if (i == marked) frame += "\033[7m";
    frame += lines[i].substr(0, size.ws_col);
    frame += i == marked ? "\033[0m\033[K" : "\033[K";
    if (i + 1 < count) frame += '\n';
  }
  show(frame + "\033[J");
}

char full_screen::key() const {
  char pressed = 0;
  return ::read(STDIN_FILENO, &pressed, 1) == 1 ? pressed : '\0';
}

}  // namespace tool
