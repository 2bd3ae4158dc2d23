#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <chrono>
#include <csignal>

#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary
using namespace std::chrono_literals;

/// A terminal, and the text that was written to it.
class pseudo_terminal {
 public:
  pseudo_terminal() : master_(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    ::grantpt(master_.value());
    ::unlockpt(master_.value());
    slave_ = owned_descriptor(::open(::ptsname(master_.value()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    const winsize size{.ws_row = 20, .ws_col = 120, .ws_xpixel = 0, .ws_ypixel = 0};
    ::ioctl(slave_.value(), TIOCSWINSZ, &size);
  }

  [[nodiscard]] int end() const { return slave_.value(); }
  void type(const std::string& keys) const {
    ASSERT_EQ(::write(master_.value(), keys.data(), keys.size()),
              static_cast<ssize_t>(keys.size()));
  }
  /// Reads until the text has come; false after a minute.
  bool shows(const std::string& text) {
    const auto until = std::chrono::steady_clock::now() + 60s;
    while (!contains(seen_, text)) {
      if (std::chrono::steady_clock::now() > until) return false;
      pollfd ready{master_.value(), POLLIN, 0};
      if (::poll(&ready, 1, 100) < 1) continue;
      char bytes[4096];
      const ssize_t got = ::read(master_.value(), bytes, sizeof bytes);
      if (got <= 0) return false;
      seen_.append(bytes, static_cast<std::size_t>(got));
    }
    return true;
  }
  /// Forgets the text so far.
  void forget() { seen_.clear(); }
  [[nodiscard]] const std::string& seen() const { return seen_; }
  [[nodiscard]] tcflag_t local_modes() const {
    termios modes{};
    ::tcgetattr(slave_.value(), &modes);
    return modes.c_lflag;
  }

 private:
  owned_descriptor master_;
  owned_descriptor slave_;
  std::string seen_;
};

class tool_top : public tool_test {
 protected:
  [[nodiscard]] std::unique_ptr<command> watch(const pseudo_terminal& on) {
    return start({"top", "--interval", "100ms"}, {.in = on.end(), .out = on.end()});
  }
};
TABLEQ_ON_BACKENDS(tool_top, distinct_backends);

TEST_P(tool_top, prints_the_table_once_where_there_is_no_terminal) {
  done({"create", "fifo", "mail"});
  done({"create", "claim", "jobs"});
  done({"enqueue", "jobs", "a", "b"});
  for (const words& arguments : {words{"top"}, words{"top", "--once"}}) {
    const auto lines = lines_of(done(arguments));
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_TRUE(lines[0].starts_with("QUEUE  KIND   READY")) << lines[0];
    EXPECT_TRUE(lines[1].starts_with("jobs   claim  2      0        0       0     0     0 "))
        << lines[1];
    EXPECT_TRUE(lines[2].starts_with("mail   fifo   0      -        -       -     -     -"))
        << lines[2];
    EXPECT_FALSE(contains(lines[1], "\033"));
    EXPECT_TRUE(lines[1].ends_with("0.0   0.0")) << "rates of two readings: " << lines[1];
  }
}

TEST_P(tool_top, of_no_queues_is_exit_status_1) {
  static_cast<void>(db());  // makes the file of a database that is one
  const ended end = run({"top", "--once"});
  EXPECT_EQ(end.status, 1);
  EXPECT_EQ(end.out + end.err, "");
}

TEST_P(tool_top, is_redrawn_sorted_and_ended_by_keys) {
  done({"create", "fifo", "full"});
  done({"create", "fifo", "another"});
  done({"enqueue", "full", "a", "b"});
  pseudo_terminal terminal;
  const tcflag_t before = terminal.local_modes();
  const auto running = watch(terminal);
  ASSERT_TRUE(terminal.shows("another")) << terminal.seen();
  EXPECT_LT(terminal.seen().find("full"), terminal.seen().find("another"));
  EXPECT_EQ(terminal.local_modes() & static_cast<tcflag_t>(ECHO | ICANON), 0U);
  done({"enqueue", "another", "c", "d", "e", "f"});
  terminal.forget();
  ASSERT_TRUE(terminal.shows("another  fifo  4")) << terminal.seen();
  terminal.forget();
  terminal.type("q");
  EXPECT_EQ(running->wait().status, 0);
  EXPECT_TRUE(terminal.shows("\033[?1049l"));
  EXPECT_TRUE(contains(terminal.seen(), "\033[?25h"));
  EXPECT_EQ(terminal.local_modes(), before);
}

TEST_P(tool_top, gives_the_terminal_back_on_a_signal) {
  done({"create", "fifo", "mail"});
  for (const int number : {SIGINT, SIGTERM}) {
    pseudo_terminal terminal;
    const tcflag_t before = terminal.local_modes();
    const auto running = watch(terminal);
    ASSERT_TRUE(terminal.shows("mail")) << terminal.seen();
    running->signal(number);
    EXPECT_EQ(running->wait().status, 0);
    EXPECT_TRUE(terminal.shows("\033[?1049l"));
    EXPECT_EQ(terminal.local_modes(), before);
  }
}

TEST_P(tool_top, shows_queues_that_come_and_go) {
  done({"create", "fifo", "mail"});
  pseudo_terminal terminal;
  const auto running = watch(terminal);
  ASSERT_TRUE(terminal.shows("1 queues")) << terminal.seen();
  done({"create", "claim", "jobs"});
  ASSERT_TRUE(terminal.shows("2 queues")) << terminal.seen();
  done({"drop", "mail", "--yes"});
  terminal.forget();
  ASSERT_TRUE(terminal.shows("1 queues")) << terminal.seen();
  terminal.type("q");
  EXPECT_EQ(running->wait().status, 0);
}

TEST_P(tool_top, leaves_out_what_its_user_may_not_read) {
  const auto schema = here().other_schema();
  const auto user = schema ? here().new_user() : std::nullopt;
  if (!user) GTEST_SKIP() << "this database, or this user, makes no users";
  done({"create", "fifo", "mail", "--schema", *schema});
  done({"create", "fifo", "secret", "--schema", *schema});
  here().sql(tableq::grants(db().backend(), tableq::role::viewer, user->name, "mail", {},
                            {.schema_name = *schema}));
  const words on_it{"--db", user->url, "--schema", *schema, "--interval", "100ms"};
  const auto lines = lines_of(done(joined({"top", "--once"}, on_it)));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_TRUE(lines[1].starts_with("mail ")) << lines[1];
  pseudo_terminal terminal;
  const auto running = start(joined({"top"}, on_it), {.in = terminal.end(), .out = terminal.end()});
  ASSERT_TRUE(terminal.shows("mail")) << terminal.seen();
  terminal.forget();
  ASSERT_TRUE(terminal.shows("mail")) << terminal.seen();
  EXPECT_FALSE(contains(terminal.seen(), "secret"));
  terminal.type("q");
  EXPECT_EQ(running->wait().status, 0);
}

TEST_P(tool_top, refuses_intervals_that_are_none) {
  TABLEQ_EXPECT_REFUSAL(2, run({"top", "--interval", "10ms"}));
  TABLEQ_EXPECT_REFUSAL(2, run({"top", "--interval", "2h"}));
}

}  // namespace
