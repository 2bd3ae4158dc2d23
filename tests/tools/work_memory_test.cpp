#include <string>

#include "tools/tool_fixture.hpp"

// A sanitizer keeps memory that was freed.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define TABLEQ_MEMORY_TELLS 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
    __has_feature(memory_sanitizer)
#define TABLEQ_MEMORY_TELLS 0
#endif
#endif
#ifndef TABLEQ_MEMORY_TELLS
#define TABLEQ_MEMORY_TELLS 1
#endif

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

constexpr double long_payload = 64.0 * 1024 * 1024;

class tool_work_memory : public tool_test {
 protected:
  void SetUp() override {
    if (!TABLEQ_MEMORY_TELLS) GTEST_SKIP() << "a sanitizer keeps memory that was freed";
    tool_test::SetUp();
    done({"create", "claim", "jobs", "--retry", "0s"});
  }
  /// A figure of `tableq work` in bytes, which its command reads.
  double worked(const std::string& figure, const std::string& payload) {
    done({"enqueue", "jobs", "--stdin"}, {.input = payload});
    const std::string script = "cat > /dev/null; sed -n 's/^" + figure +
                               ":[^0-9]*\\([0-9]*\\) kB/\\1/p' /proc/$PPID/status";
    return 1024 * std::stod(done({"work", "jobs", "--until-empty", "--", "sh", "-c", script}));
  }
  /// What a long payload adds to the figure, in payloads.
  double added(const std::string& figure) {
    const double base = worked(figure, "short");
    return (worked(figure, std::string(static_cast<std::size_t>(long_payload), 'x')) - base) /
           long_payload;
  }
  [[nodiscard]] bool is_sqlite() const { return GetParam()->name() == "sqlite"; }
};
TABLEQ_ON_BACKENDS(tool_work_memory, distinct_backends);

// Allocators and libpq's buffers add a few per cent.
TEST_P(tool_work_memory, a_long_payload_is_in_memory_twice_at_most) {
  EXPECT_LE(added("VmHWM"), is_sqlite() ? 2.05 : 2.3);
}

TEST_P(tool_work_memory, a_running_command_has_the_only_copy_but_for_that_of_libpq) {
  EXPECT_LE(added("RssAnon"), is_sqlite() ? 0.05 : 1.1);
}

}  // namespace
