#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "crash/crew.hpp"
#include "crash/own_postgresql.hpp"
#include "support/backends.hpp"
#include "support/report.hpp"
#include "support/seed.hpp"

namespace tableq_test {

/// The longest time until all processes work again after the database's return. Longer with
/// sanitizers.
#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
constexpr std::chrono::seconds soon{30};
#else
constexpr std::chrono::seconds soon{5};
#endif

/// TABLEQ_TEST_OUTAGES, or the test's number in every run.
inline std::uint64_t chosen_outages(std::uint64_t usual) {
  const char* given = std::getenv("TABLEQ_TEST_OUTAGES");
  return given == nullptr ? usual : std::stoull(given);
}

/// Tests on a separate PostgreSQL server, which all tests of a suite share. Each test has its own
/// database.
class on_own_server : public testing::Test {
 protected:
  static void SetUpTestSuite() { begin_server({}); }
  static void TearDownTestSuite() { server_.reset(); }
  static void begin_server(const std::string& disk,
                           own_postgresql::on_disk what = own_postgresql::on_disk::tables) {
    server_.reset();
    // Without a required PostgreSQL the server may be missing.
    if (!postgresql_backend().missing()) server_ = std::make_unique<own_postgresql>(disk, what);
  }

  void SetUp() override {
    if (server_ == nullptr) GTEST_SKIP() << *postgresql_backend().missing();
    if (server_->missing()) GTEST_SKIP() << *server_->missing();
    seed_ = chosen_seed();
    std::printf("[ seed     ] %s\n", std::to_string(seed_).c_str());
    server().begin_database();
  }

  [[nodiscard]] static own_postgresql& server() { return *server_; }
  /// Runs plain SQL in the test's database.
  [[nodiscard]] static plain_sql sql() {
    return [](const std::string& text) { return server().sql(text); };
  }
  [[nodiscard]] std::uint64_t seed() const { return seed_; }

 private:
  inline static std::unique_ptr<own_postgresql> server_;
  std::uint64_t seed_ = 0;
};

}  // namespace tableq_test
