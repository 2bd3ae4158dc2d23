
#include "tools/tool_fixture.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

constexpr std::size_t mebibyte = 1024UL * 1024;

/// All 256 values, also invalid UTF-8, in an order with a long period.
std::string bytes(std::size_t size) {
  std::string result(size, '\0');
  std::uint32_t state = 1;
  for (std::size_t i = 0; i < size; ++i) {
    result[i] = static_cast<char>(i < 256 ? 255 - i : state >> 24);
    state = state * 1664525U + 1013904223U;
  }
  return result;
}

class tool_payload : public tool_test {
 protected:
  /// Not EXPECT_EQ, which would print 64 MiB.
  static void expect_same(const std::string& got, const std::string& sent) {
    EXPECT_EQ(got.size(), sent.size());
    EXPECT_TRUE(got == sent) << sent.size() << " bytes came back changed";
  }
};
TABLEQ_ON_BACKENDS(tool_payload, distinct_backends);

TEST_P(tool_payload, bytes_come_back_unchanged) {
  done({"create", "fifo", "mail"});
  for (const std::size_t size : {std::size_t{0}, std::size_t{1}, std::size_t{256},
                                 std::size_t{8000}, std::size_t{65'536}, mebibyte, 64 * mebibyte}) {
    const std::string sent = bytes(size);
    done({"enqueue", "mail", "--stdin"}, {.input = sent});
    expect_same(done({"dequeue", "mail", "--raw"}), sent);
  }
}

TEST_P(tool_payload, a_batch_of_bytes_comes_back_unchanged) {
  auto mail = db().fifo("mail");
  std::string all;
  for (const std::size_t size : {std::size_t{0}, std::size_t{300}, 5 * mebibyte, std::size_t{7}}) {
    const std::string sent = bytes(size);
    mail.enqueue(sent);
    all += sent + "\n";
  }
  expect_same(done({"dequeue", "mail", "--all"}), all);
}

TEST_P(tool_payload, a_worked_on_payload_reaches_the_command_unchanged) {
  done({"create", "claim", "jobs"});
  const std::string file = (scratch / "got").string();
  for (const std::size_t size : {std::size_t{0}, std::size_t{8000}, 5 * mebibyte}) {
    const std::string sent = bytes(size);
    done({"enqueue", "jobs", "--stdin"}, {.input = sent});
    done({"work", "jobs", "--until-empty", "--", "sh", "-c", "cat > " + file});
    expect_same(contents_of(file), sent);
  }
}

}  // namespace
