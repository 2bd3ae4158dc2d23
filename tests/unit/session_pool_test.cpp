#include "core/session/session_pool.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <thread>

namespace {

using namespace std::chrono_literals;
namespace core = tableq::core;

/// A session without a database; counts open ones.
class fake_session final : public core::connection {
 public:
  fake_session(int& open, bool& alive) : open_(open), alive_(alive) { ++open_; }
  ~fake_session() override { --open_; }
  void run(std::string_view, const core::table_names&, std::span<core::statement_call>) override {}
  void define(std::string_view, const core::table_names&) override {}
  void begin() override {}
  void end(core::transaction_end) override {}
  core::transaction_status transaction(core::asking) noexcept override {
    return alive_ ? core::transaction_status::none : core::transaction_status::unknown;
  }
  core::any_session session() noexcept override { return {}; }

 private:
  int& open_;
  bool& alive_;
};

class fake_driver final : public core::driver {
 public:
  fake_driver() : driver("fake", {}) {}
  std::unique_ptr<core::connection> connect(const core::callers_session*) override {
    ++connects;
    return std::make_unique<fake_session>(open, alive);
  }
  std::unique_ptr<core::listener> listen() override { return {}; }

  int connects = 0;
  int open = 0;
  bool alive = true;
};

class a_pool : public testing::Test {
 protected:
  fake_driver from_;
};

TEST_F(a_pool, hands_a_returned_session_to_who_waits) {
  core::session_pool pool(from_, 1, 1min);
  std::optional<core::leased_session> only = pool.lease();
  std::jthread other([&] { only.reset(); });
  static_cast<void>(pool.lease());
  EXPECT_EQ(from_.connects, 1);
}

TEST_F(a_pool, closes_what_comes_back_broken) {
  core::session_pool pool(from_, 1, 1s);
  {
    const auto lent = pool.lease();
    from_.alive = false;
  }
  EXPECT_EQ(from_.open, 0);
  from_.alive = true;
  static_cast<void>(pool.lease());
  EXPECT_EQ(from_.connects, 2);
}

}  // namespace
