#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <memory>

#include "core/input/identifier.hpp"
#include "core/seam/driver.hpp"
#include "core/seam/statement.hpp"
#include "support/backends.hpp"
#include "support/fixture.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::core::value;

/// The listener of a driver, and a session of the same or of another one.
class listening_to_sqlite : public tableq_test::on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (IsSkipped()) return;
    listens_ = tableq::core::make_driver(here().quick_url());
    session_ = listens_->connect();
    session_->define("catalog", mail_);
    session_->define("heap", mail_);
  }

  void enqueue(tableq::core::connection& by) const {
    const std::array shared{value()};
    const std::array item{value("x"), value()};
    by.execute(tableq::core::contract_of(tableq::core::statement::heap_enqueue), mail_, shared,
               item);
  }

  /// Whether the listener continues to sleep during a write. Tried several times, because a delay
  /// between the write and the check causes a report. Every write is reported in the end.
  [[nodiscard]] bool sleeps_through(const std::function<void()>& write) const {
    for (int i = 0; i < 100; ++i) {
      const auto ear = listens_->listen();
      write();
      const bool slept = !ear->wait(0ms).any_queue;
      if (slept) return ear->wait(10s).any_queue;
    }
    return false;
  }

  const tableq::core::table_names mail_ = tableq::core::names_for({}, "mail");
  std::unique_ptr<tableq::core::driver> listens_;
  std::unique_ptr<tableq::core::connection> session_;
};
INSTANTIATE_TEST_SUITE_P(, listening_to_sqlite,
                         testing::Values(&tableq_test::sqlite_file_backend()),
                         tableq_test::backend_name);

TEST_P(listening_to_sqlite, is_told_a_little_later_of_what_its_own_sessions_write) {
  EXPECT_TRUE(sleeps_through([&] { enqueue(*session_); }));
}

TEST_P(listening_to_sqlite, is_told_a_little_later_of_what_its_own_sessions_commit) {
  EXPECT_TRUE(sleeps_through([&] {
    session_->begin();
    enqueue(*session_);
    session_->commit();
  }));
}

TEST_P(listening_to_sqlite, is_told_at_once_of_what_another_database_object_writes) {
  const auto another = tableq::core::make_driver(here().quick_url());
  const auto session = another->connect();
  const auto ear = listens_->listen();
  enqueue(*session);
  EXPECT_TRUE(ear->wait(0ms).any_queue);
}

}  // namespace
