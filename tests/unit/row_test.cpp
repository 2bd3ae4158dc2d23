#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <limits>

#include <tableq/row.hpp>

#include "support/expect.hpp"

namespace {

using namespace std::chrono_literals;
using tableq::row;
using tableq::row_value;

const row letter{{"Email", "canary@b.example"},
                 {"Tries", 300},
                 {"Sent", true},
                 {"Price", 0.1},
                 {"At", tableq::timestamp(1'704'067'200'123ms)},
                 {"Note", std::nullopt}};

TEST(rows, give_values_by_name_and_type) {
  EXPECT_EQ(letter.get<std::string>("Email"), "canary@b.example");
  EXPECT_EQ(letter.get<int>("tries"), 300);
  EXPECT_EQ(letter.get<double>("Tries"), 300.0);
  EXPECT_TRUE(letter.get<bool>("Sent"));
  EXPECT_EQ(letter.get<double>("Price"), 0.1);
  EXPECT_EQ(letter.get<std::string>("Price"), "0.1");
  EXPECT_EQ(letter.get<tableq::timestamp>("At").time_since_epoch(), 1'704'067'200'123ms);
  EXPECT_EQ(letter.get<std::optional<int>>("Tries"), 300);
  EXPECT_EQ(letter.get<std::optional<int>>("Note"), std::nullopt);
}

TEST(rows, refuse_what_does_not_fit_without_its_value) {
  const auto refused = [](auto&& call, const std::string& column) {
    const tableq::error why = tableq_test::thrown_by(call);
    EXPECT_EQ(why.code(), tableq::errc::invalid_argument);
    EXPECT_NE(std::string(why.what()).find(column), std::string::npos) << why.what();
    EXPECT_EQ(std::string(why.what()).find("canary"), std::string::npos) << why.what();
  };
  refused([] { static_cast<void>(letter.get<int>("Email")); }, "Email");
  refused([] { static_cast<void>(letter.get<std::string>("Tries")); }, "Tries");
  refused([] { static_cast<void>(letter.get<std::int8_t>("Tries")); }, "Tries");
  refused([] { static_cast<void>(letter.get<bool>("Tries")); }, "Tries");
  refused([] { static_cast<void>(letter.get<std::string>("Note")); }, "Note");
  refused([] { static_cast<void>(letter.get<tableq::timestamp>("Email")); }, "Email");
  refused([] { static_cast<void>(letter.get<int>("Nothing")); }, "Nothing");
}

TEST(rows, find_no_column_by_a_name_that_fits_two) {
  const row twins{{"name", 1}, {"NAME", 2}};
  EXPECT_EQ(twins.get<int>("NAME"), 2);
  EXPECT_CODE(invalid_argument, static_cast<void>(twins.get<int>("Name")));
}

TEST(rows, share_no_change) {
  row first = letter;
  row second = first;
  second.set("Tries", 4);
  second.set("More", "x");
  EXPECT_EQ(first, letter);
  EXPECT_EQ(second.get<int>("Tries"), 4);
  EXPECT_EQ(second.size(), letter.size() + 1);
}

TEST(row_values, keep_bytes) {
  const std::array bytes{std::byte{0}, std::byte{255}};
  const row_value value(bytes);
  EXPECT_EQ(value.type(), tableq::column_type::bytes);
  EXPECT_EQ(value.get<std::string>(), std::string("\0\xFF", 2));
  EXPECT_EQ(value.get<std::vector<std::byte>>().size(), 2U);
}

TEST(row_values, are_refused_beyond_64_bits) {
  constexpr auto most = std::numeric_limits<std::uint64_t>::max();
  EXPECT_CODE(invalid_argument, static_cast<void>(row_value(most)));
  EXPECT_CODE(invalid_argument, row_value::decimal("12x"));
}

TEST(times, are_read_from_text) {
  const auto milliseconds = [](const char* text) -> std::optional<std::int64_t> {
    const auto at = tableq::parse_timestamp(text);
    if (!at) return std::nullopt;
    return at->time_since_epoch().count();
  };
  EXPECT_EQ(milliseconds("1970-01-02"), 86'400'000);
  EXPECT_EQ(milliseconds("1970-01-01 00:00:01.5"), 1500);
  EXPECT_EQ(milliseconds("1970-01-01T01:00:00+01:00"), 0);
  EXPECT_EQ(milliseconds("1970-01-01T00:00:00.1239Z"), 123);
  EXPECT_EQ(milliseconds("2023-02-29"), std::nullopt);
  EXPECT_EQ(milliseconds("1970-01-01 25:00:00"), std::nullopt);
  EXPECT_EQ(milliseconds("yesterday"), std::nullopt);
  EXPECT_EQ(milliseconds(""), std::nullopt);
}

}  // namespace
