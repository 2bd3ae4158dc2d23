#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>

#include <soci/soci.h>

#include <tableq/soci.hpp>

#include "support/fixture.hpp"
#include "support/forked.hpp"
#include "support/scratch_directory.hpp"
#include "support/soci_sessions.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

constexpr const char* in_the_child = "TABLEQ_TEST_POOLED";

/// A driver manager that pools the sessions of all drivers. It keeps its settings, so each test
/// runs in a process of its own.
class driver_pool : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    if (!here().url().starts_with("odbc://")) GTEST_SKIP() << "only ODBC has a driver manager";
  }

  /// Runs the test in a child. @return false in that child.
  [[nodiscard]] static bool ran_in_child() {
    if (std::getenv(in_the_child) != nullptr) return false;
    EXPECT_EQ(run_again(), 0);
    return true;
  }

  /// The settings of an application in its session.
  [[nodiscard]] std::string change() const {
    return can().schemas ? "SET default_transaction_read_only TO on" : "PRAGMA query_only = 1";
  }
  /// Whether it is set.
  [[nodiscard]] bool changed(soci::session& session) const {
    std::string value;
    session << (can().schemas ? "SHOW default_transaction_read_only" : "PRAGMA query_only"),
        soci::into(value);
    return value == "on" || value == "1";
  }
  /// A session of the application, by the address that tableq gets.
  [[nodiscard]] std::unique_ptr<soci::session> plain() {
    return soci_odbc_session(here().url().substr(std::string("odbc://").size()));
  }

 private:
  /// The settings of the machine, with pooling for each driver.
  static void write_settings(const scratch_directory& folder) {
    std::ifstream machine("/etc/odbcinst.ini");
    std::ofstream own(folder / "odbcinst.ini");
    own << "[ODBC]\nPooling = Yes\n";
    for (std::string line; std::getline(machine, line);) {
      if (line.starts_with("CPTimeout")) continue;
      own << line << '\n';
      if (line.starts_with("[")) own << "CPTimeout = 120\n";
    }
  }

  static int run_again() {
    const scratch_directory folder;
    write_settings(folder);
    const auto* test = testing::UnitTest::GetInstance()->current_test_info();
    const std::string filter =
        std::string("--gtest_filter=") + test->test_suite_name() + "." + test->name();
    forked child([&] {
      ::setenv("ODBCSYSINI", folder.path().c_str(), 1);
      ::setenv(in_the_child, "1", 1);
      return ::execl("/proc/self/exe", "again", filter.c_str(), "--gtest_brief=1", nullptr);
    });
    return child.wait();
  }
};
TABLEQ_ON_BACKENDS(driver_pool, shared_backends);

TEST_P(driver_pool, gives_tableq_no_session_of_the_application) {
  if (ran_in_child()) return;
  plain()->once << change();
  // From unixODBC 2.3.12 on, each environment has a pool of its own: tableq's is empty.
  if (!changed(*plain())) GTEST_SKIP() << "this driver manager keeps applications apart";
  db().fifo("mail").enqueue("stored");
  EXPECT_EQ(db().fifo("mail").dequeue()->payload, "stored");
}

TEST_P(driver_pool, gives_no_session_of_tableqs_to_the_application_or_to_tableq) {
  if (ran_in_child()) return;
  db().fifo("mail").enqueue("first");
  db().transact([&](tableq::transaction& tx) { tableq::session_of(tx).once << change(); });
  clear_database();
  EXPECT_FALSE(changed(*plain()));
  db().fifo("mail").enqueue("stored");
}

}  // namespace
