#include <gtest/gtest.h>

#include <clocale>
#include <cstdlib>
#include <filesystem>
#include <locale>

#include <nlohmann/json.hpp>

#include "hostile/workload.hpp"
#include "support/fixture.hpp"
#include "support/text.hpp"

namespace {

using namespace tableq_test;  // NOLINT(google-build-using-namespace): the tests' own vocabulary

/// Numbers as 1.234.567,5 and truth as words.
class commas : public std::numpunct<char> {
 protected:
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
  std::string do_truename() const override { return "wahr"; }
  std::string do_falsename() const override { return "falsch"; }
};

/// A process whose locale writes commas, for C++ streams and for the C library.
class locales : public on_each_backend {
 protected:
  void SetUp() override {
    std::locale::global(std::locale(std::locale::classic(), new commas));
    if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) make_locale();
    on_each_backend::SetUp();
  }
  void TearDown() override {
    on_each_backend::TearDown();
    std::locale::global(std::locale::classic());
    std::setlocale(LC_ALL, "C");
  }
  static void TearDownTestSuite() {
    if (!folder_.empty()) std::filesystem::remove_all(folder_);
  }
  [[nodiscard]] static bool c_library_writes_commas() {
    return *std::localeconv()->decimal_point == ',';
  }

 private:
  /// A compiled locale, if the system has the tools but not the locale.
  static void make_locale() {
    if (!folder_.empty()) return use_locale();
    folder_ = std::filesystem::temp_directory_path() / unique_name();
    std::filesystem::create_directory(folder_);
    const std::string order = "localedef --no-archive -i de_DE -f UTF-8 '" + folder_.string() +
                              "/de_DE.UTF-8' >/dev/null 2>&1";
    if (std::system(order.c_str()) == 0) use_locale();
  }
  static void use_locale() {
    setenv("LOCPATH", folder_.c_str(), 1);
    std::setlocale(LC_ALL, "de_DE.UTF-8");
    unsetenv("LOCPATH");
  }
  static inline std::filesystem::path folder_;
};
TABLEQ_ON_BACKENDS(locales, all_backends);

TEST_P(locales, that_write_numbers_with_commas_spoil_nothing) {
  const auto figures = std::make_shared<tableq::metrics>();
  auto watched = open({.observer = figures});
  work_with(watched);
  const auto read = nlohmann::json::parse(figures->json());
  EXPECT_TRUE(read.is_object());
  const std::string text = figures->prometheus();
  EXPECT_FALSE(contains(text, "0,")) << text;
  EXPECT_TRUE(contains(text, "le=\"0.0001\"") || contains(text, "le=\"1e-04\"")) << text;
  EXPECT_NE(tableq::ddl(watched.backend(), "mail", {.kind = tableq::kind::fifo}), "");
  if (!c_library_writes_commas()) GTEST_SKIP() << "the C library has no such locale here";
}

}  // namespace
