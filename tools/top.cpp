#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <map>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include <tableq/tableq.hpp>

#include "commands.hpp"
#include "connection.hpp"
#include "figures.hpp"
#include "format.hpp"
#include "output.hpp"
#include "signals.hpp"
#include "source.hpp"
#include "streams.hpp"

namespace tool {

namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

/// A queue at its last query, and the changes since the one before.
struct watched_queue {
  any_source opened;
  std::int64_t identity = 0;
  std::optional<queue_figures> last = {};
  tableq::queue_rates rates = {};
};

/// All queues of a database, queried repeatedly.
class watch {
 public:
  explicit watch(const tableq::database& db) : db_(db) {}

  void look() {
    std::map<std::string, watched_queue> now;
    for (const tableq::queue_info& each : db_.queues()) {
      auto known = queues_.extract(each.name);
      // A queue that was dropped and created again is another one.
      if (known && known.mapped().identity == each.identity) {
        now.insert(std::move(known));
      } else {
        now.try_emplace(each.name, watched_queue{open_source(db_, each.name), each.identity});
      }
    }
    queues_ = std::move(now);
    for (auto& [name, queue] : queues_) {
      queue_figures found;
      try {
        found = look_at(queue.opened, {});
      } catch (const tableq::error& failure) {
        if (failure.code() != tableq::errc::permission_denied) throw;
        continue;  // a viewer of some queues
      }
      if (queue.last) queue.rates = rates_of(*queue.last, found);
      queue.last = std::move(found);
    }
  }

  [[nodiscard]] const std::map<std::string, watched_queue>& queues() const { return queues_; }

 private:
  tableq::database db_;
  std::map<std::string, watched_queue> queues_;
};

std::string age(const queue_figures& of) {
  const auto oldest = of.oldest();
  if (!oldest) return "-";
  const auto seconds =
      std::chrono::floor<std::chrono::seconds>(std::max(of.as_of() - *oldest, milliseconds{0}));
  if (seconds < std::chrono::minutes{2}) return std::to_string(seconds.count()) + "s";
  if (seconds < std::chrono::hours{2}) {
    return brief(std::chrono::floor<std::chrono::minutes>(seconds));
  }
  if (seconds < std::chrono::days{2}) {
    return brief(std::chrono::floor<std::chrono::hours>(seconds));
  }
  return brief(std::chrono::floor<std::chrono::days>(seconds));
}

std::string per_second(const std::optional<double>& rate) {
  if (!rate) return "-";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.1f", *rate);
  return text.data();
}

/// The sort order, by its key.
bool comes_first(char by, const watched_queue& a, const watched_queue& b) {
  const auto count = [](const watched_queue& of, std::string_view name) -> std::size_t {
    for (const figure& each : figures_of(*of.last)) {
      if (each.name == name) return each.count.value_or(0);
    }
    return 0;
  };
  const auto waited = [](const watched_queue& of) {
    const auto oldest = of.last->oldest();
    return oldest ? of.last->as_of() - *oldest : milliseconds{-1};
  };
  switch (by) {
    case 'd':
      return count(a, "dead") + count(a, "dead_letters") >
             count(b, "dead") + count(b, "dead_letters");
    case 'o':
      return waited(a) > waited(b);
    case 'n':
      return false;  // They are sorted by name already.
    default:
      return count(a, "ready") > count(b, "ready");
  }
}

std::vector<std::string> table_of(const watch& of, char sorted_by) {
  std::vector<const watched_queue*> sorted;
  for (const auto& [name, queue] : of.queues()) {
    if (queue.last) sorted.push_back(&queue);  // One may be forbidden, or its query has failed.
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const auto* a, const auto* b) { return comes_first(sorted_by, *a, *b); });
  std::vector<std::vector<std::string>> rows{{"QUEUE", "KIND", "READY", "DELAYED", "LEASED", "HELD",
                                              "DONE", "DEAD", "LETTERS", "OLDEST", "IN/S",
                                              "OUT/S"}};
  for (const watched_queue* queue : sorted) {
    const queue_figures& found = *queue->last;
    std::vector<std::string> row{found.queue, std::string(tableq::to_string(found.kind))};
    for (const figure& each : figures_of(found)) row.push_back(each.text());
    row.push_back(age(found));
    row.push_back(per_second(queue->rates.enqueued));
    row.push_back(per_second(queue->rates.left));
    rows.push_back(std::move(row));
  }
  return aligned(rows);
}

exit_status print_once(watch& all, milliseconds interval) {
  all.look();
  if (all.queues().empty()) return exit_status::nothing;
  std::this_thread::sleep_for(interval);  // A rate needs two readings.
  all.look();
  output out;
  for (const std::string& line : table_of(all, 'r')) out.line(line);
  out.flush();
  return exit_status::done;
}

/// Uses the whole terminal and redraws it: keys are read one by one and are not shown, and the
/// former content is back at the end. There is one terminal.
class full_screen {
 public:
  /// Standard input and output are terminals, as they must be.
  [[nodiscard]] static bool possible() {
    return is_terminal(stream::input) && is_terminal(stream::output);
  }

  full_screen() {
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
    show("\033[?1049h\033[?25l");
  }
  ~full_screen() {
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
    try {
      show("\033[?25h\033[?1049l");
    } catch (const output_error&) {  // A lost terminal needs no reset.
    }
  }
  full_screen(const full_screen&) = delete;
  full_screen& operator=(const full_screen&) = delete;

  /// Shows as many lines as fit, each cut at the edge. The lines are ASCII.
  /// @param marked the number of the line that is shown in reverse.
  /// @throws output_error when the terminal is lost.
  void draw(const std::vector<std::string>& lines, std::size_t marked) const {
    winsize size{};
    if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == -1 || size.ws_row == 0 || size.ws_col == 0) {
      size.ws_row = 24;
      size.ws_col = 80;
    }
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

  /// The pressed key, without waiting; 0 for none.
  [[nodiscard]] char key() const {
    char pressed = 0;
    return ::read(STDIN_FILENO, &pressed, 1) == 1 ? pressed : '\0';
  }

 private:
  static void show(const std::string& bytes) {
    output out;
    out.write(bytes);
    out.flush();
  }

  termios before_{};
};

/// Waits for a key, a signal or the time.
/// @return false when it is time to end.
bool wait(const signal_queue& signals, const full_screen& screen, steady_clock::time_point until,
          char& sorted_by) {
  const auto left = std::chrono::ceil<milliseconds>(until - steady_clock::now());
  std::array<pollfd, 2> events{{{signals.handle(), POLLIN, 0}, {STDIN_FILENO, POLLIN, 0}}};
  ::poll(events.data(), events.size(), static_cast<int>(std::max(left, milliseconds{0}).count()));
  if (signals.take() != 0) return false;
  // The terminal is lost, and poll would always return at once.
  if ((events[1].revents & (POLLHUP | POLLERR | POLLNVAL)) != 0) return false;
  while (const char pressed = screen.key()) {
    if (pressed == 'q' || pressed == 'Q') return false;
    if (std::string_view("nrdo").find(pressed) != std::string_view::npos) sorted_by = pressed;
  }
  return true;
}

exit_status show(watch& all, const signal_queue& signals, milliseconds interval) {
  all.look();
  const full_screen screen;
  char sorted_by = 'r';
  std::string trouble;
  for (bool go_on = true; go_on;) {
    const auto next = steady_clock::now() + interval;
    while (go_on && steady_clock::now() < next) {
      std::vector<std::string> lines{
          "tableq top: " + std::to_string(all.queues().size()) +
          " queues    keys: q quit; sort by n name, r ready, d dead, o oldest"};
      lines.push_back(printable(trouble));
      for (std::string& line : table_of(all, sorted_by)) lines.push_back(std::move(line));
      screen.draw(lines, 2);
      go_on = wait(signals, screen, next, sorted_by);
    }
    if (!go_on) break;
    try {
      all.look();
      trouble.clear();
    } catch (const tableq::error& failure) {  // The error may pass: the figures stay, with the
                                              // reason.
      trouble = sentence_of(failure);
    } catch (const refused_error&) {  // A queue was dropped between two statements.
      trouble.clear();
    }
  }
  return exit_status::done;
}

struct top_arguments : arguments {
  using arguments::arguments;
  argument interval{command, "--interval", "TIME",
                    "Time between two readings, from 100ms to 1h (1s)"};
  flag once{command, "--once", "Print the table once"};
};

exit_status top(const connection_options& connection, const top_arguments& given) {
  const milliseconds interval = given.interval.duration(std::chrono::seconds{1}, milliseconds{100});
  if (interval > std::chrono::hours{1}) throw usage_error("--interval must be at most 1h");
  const bool live = !given.once && full_screen::possible();
  // Before the first thread, which may be one of the library's.
  std::optional<signal_queue> signals;
  if (live) signals.emplace();
  const tableq::database db = connect(connection);
  watch all(db);
  if (live) return show(all, *signals, interval);
  tell_of_no_queues(db, connection);
  return print_once(all, interval);
}

}  // namespace

void add_top(CLI::App& app, invocation& call) {
  add_database_command<top_arguments>(
      app, call, "top",
      {.description = "Show the queues of a database live in a terminal",
       .details =
           "Shows the messages of each queue, the age of the oldest ready one, and how many "
           "messages come and\n"
           "leave each second. 10000+ means at least 10000; - means unknown. LETTERS: dead "
           "messages "
           "in the queue's\n"
           "dead-letter queue. Queues that the user may not read are left out.\n"
           "Keys: q quits; n, r, d, o sort by name, ready, dead, oldest. Without a "
           "terminal, or with --once, it\n"
           "prints the table once, after two readings, with exit status 1 when there is no queue.",
       .usage = "[--interval TIME] [--once]",
       .examples = "  tableq top\n"
                   "  tableq top --interval 5s\n"
                   "  watch -n 10 tableq top --once"},
      top);
}

}  // namespace tool
