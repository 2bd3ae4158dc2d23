#include "core/input/codec.hpp"

#include <gtest/gtest.h>

#include <chrono>

#include "support/expect.hpp"

namespace {

using tableq::core::decode_errors;
using tableq::core::decode_headers;
using tableq::core::encode_headers;
using tableq::core::is_plain_utf8;
using tableq::core::to_plain_utf8;

const std::string replacement = "\xEF\xBF\xBD";

TEST(headers, come_back_as_they_were) {
  const tableq::headers given = {{"a", ""},
                                 {"quote\"s", "back\\slash"},
                                 {"lines", "one\ntwo\ttab\x01"},
                                 {"\xC3\xA4", "\xE2\x82\xAC \xF0\x9F\x98\x80"}};
  EXPECT_EQ(decode_headers(encode_headers(given)), given);
  EXPECT_EQ(decode_headers(encode_headers({})), tableq::headers());
}

TEST(headers, of_foreign_clients_may_hold_values_that_are_no_strings) {
  const auto found = decode_headers(R"({"n": 5, "b": true, "o": {"x": [1]}})");
  EXPECT_EQ(found.at("n"), "5");
  EXPECT_EQ(found.at("b"), "true");
  EXPECT_EQ(found.at("o"), R"({"x":[1]})");
}

TEST(headers, that_are_no_object_are_told) {
  for (const char* bad : {"", "x", "[]", "1", "{\"a\":}", "{\"a\":\"b\"} x"}) {
    EXPECT_CODE(schema_mismatch, decode_headers(bad)) << bad;
  }
}

TEST(headers, that_nest_without_end_are_told) {
  const auto nested = [](std::size_t deep) {
    std::string open;
    std::string close;
    for (std::size_t i = 1; i < deep; ++i) {
      open += "[";
      close += "]";
    }
    return "{\"a\":" + open + close + "}";
  };
  EXPECT_EQ(decode_headers(nested(64)).size(), 1U);
  EXPECT_EQ(decode_headers(R"({"a": "[[[[\"{{{{"})").at("a"), "[[[[\"{{{{");
  for (const std::size_t deep : {65U, 1'000'000U}) {
    EXPECT_CODE(schema_mismatch, static_cast<void>(decode_headers(nested(deep))));
    EXPECT_CODE(schema_mismatch, static_cast<void>(decode_errors("[" + nested(deep) + "]")));
  }
}

TEST(failures, come_in_their_order) {
  const auto found = decode_errors(R"([{"at": 5, "error": "one"}, {"at": 6, "error": "two"}])");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].at.time_since_epoch().count(), 5);
  EXPECT_EQ(found[0].error, "one");
  EXPECT_EQ(found[1].error, "two");
  EXPECT_TRUE(decode_errors("[]").empty());
}

TEST(failures, of_another_form_are_told) {
  for (const char* bad : {"", "{}", "[1]", R"([{"at": "5", "error": "x"}])", R"([{"at": 5}])",
                          R"([{"error": "x"}])", R"([{"at": 5, "error": 7}])"}) {
    EXPECT_CODE(schema_mismatch, decode_errors(bad)) << bad;
  }
}

TEST(utf8, is_told_from_what_is_not) {
  for (const char* good :
       {"", "a", "\x7F", "\xC2\x80", "\xDF\xBF", "\xE0\xA0\x80", "\xED\x9F\xBF", "\xEE\x80\x80",
        "\xEF\xBF\xBF", "\xF0\x90\x80\x80", "\xF4\x8F\xBF\xBF"}) {
    EXPECT_TRUE(is_plain_utf8(good)) << good;
  }
  for (const char* bad : {"\x80", "\xBF", "\xC0\x80", "\xC1\xBF", "\xC2", "\xE0\x9F\xBF",
                          "\xE0\xA0", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF", "\xF0\x90\x80",
                          "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "a\xC2"}) {
    EXPECT_FALSE(is_plain_utf8(bad)) << bad;
  }
  EXPECT_FALSE(is_plain_utf8(std::string_view("a\0b", 3)));
}

TEST(utf8, is_made_of_anything) {
  EXPECT_EQ(to_plain_utf8("plain", 100), "plain");
  EXPECT_EQ(to_plain_utf8("a\xFF"
                          "b",
                          100),
            "a" + replacement + "b");
  EXPECT_EQ(to_plain_utf8(std::string_view("a\0b", 3), 100), "a" + replacement + "b");
  EXPECT_EQ(to_plain_utf8("\xE2\x82", 100), replacement + replacement);
}

TEST(utf8, is_cut_between_characters) {
  EXPECT_EQ(to_plain_utf8("abc", 2), "ab");
  EXPECT_EQ(to_plain_utf8("a\xE2\x82\xAC", 3), "a");
  EXPECT_EQ(to_plain_utf8("a\xE2\x82\xAC", 4), "a\xE2\x82\xAC");
  EXPECT_EQ(to_plain_utf8("\xFF\xFF", 5), replacement);
  EXPECT_EQ(to_plain_utf8("abc", 0), "");
}

}  // namespace
