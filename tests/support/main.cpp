#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

namespace {

/// Prints at the end how many tests were skipped, for each reason.
class skip_counter : public testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (result.skipped()) ++reasons_[result.message()];
  }
  void OnTestProgramEnd(const testing::UnitTest& /*all*/) override {
    for (const auto& [reason, count] : reasons_) {
      std::printf("[ skipped: %d ] %s\n", count, reason.c_str());
    }
  }

 private:
  std::map<std::string, int> reasons_;
};

}  // namespace

int main(int count, char** arguments) {
  testing::InitGoogleTest(&count, arguments);
  testing::UnitTest::GetInstance()->listeners().Append(new skip_counter);
  return RUN_ALL_TESTS();
}
