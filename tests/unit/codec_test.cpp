#include "core/input/codec.hpp"

#include <gtest/gtest.h>

namespace {

using tableq::core::decode_errors;
using tableq::core::decode_headers;
using tableq::core::is_plain_utf8;

const std::string replacement = "\xEF\xBF\xBD";

TEST(headers, of_foreign_clients_may_hold_values_that_are_no_strings) {
  const auto found = decode_headers(R"({"n": 5, "b": true, "o": {"x": [1]}})");
  EXPECT_EQ(found, (tableq::headers{{"n", "5"}, {"b", "true"}, {"o", R"({"x":[1]})"}}));
}

TEST(headers, keep_numbers_as_they_were_written) {
  const auto found = decode_headers(
      R"({"a": 1e400, "b": -0.50, "c": 123456789012345678901234567890, "d": [1E-5, {"x": 1.0}],
          "e": [-0, 0, -0.0, -9223372036854775808, 18446744073709551615, 1E+2]})");
  const tableq::headers expected = {
      {"a", "1e400"},
      {"b", "-0.50"},
      {"c", "123456789012345678901234567890"},
      {"d", R"([1E-5,{"x":1.0}])"},
      {"e", "[-0,0,-0.0,-9223372036854775808,18446744073709551615,1E+2]"}};
  EXPECT_EQ(found, expected);
}

TEST(headers, say_what_their_escapes_mean) {
  const tableq::headers expected = {{"\"\\/\b\f\n\r\t", "A\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80"}};
  EXPECT_EQ(decode_headers(R"({"\"\\\/\b\f\n\r\t": "\u0041\u00e4\u20AC\ud83d\ude00"})"), expected);
  EXPECT_EQ(decode_headers(R"({"a": "\u0000"})")->at("a"), std::string(1, '\0'));
  EXPECT_EQ(decode_headers(R"({"a": {"\u0041": ["\u0041\n", "\u00e4"]}})")->at("a"),
            "{\"A\":[\"A\\n\",\"\xC3\xA4\"]}")
      << "also within a value, which stays JSON";
}

TEST(headers, of_one_name_count_but_once) {
  EXPECT_EQ(decode_headers(R"({"a": "first", "a": 2})"), (tableq::headers{{"a", "2"}}));
}

TEST(headers, that_are_no_object_are_none) {
  for (const char* bad : {"",
                          " ",
                          "x",
                          "[]",
                          "1",
                          R"("a")",
                          "{",
                          "{]",
                          R"({"a"})",
                          R"({"a":})",
                          R"({"a":"b"} x)",
                          R"({"a":"b",})",
                          "{,}",
                          R"({"a":1 "b":2})",
                          "{a:1}",
                          "{'a':1}",
                          "{1:1}",
                          R"({"a":"b)",
                          R"({"a":[1})",
                          R"({"a":[1,]})",
                          R"({"a":{"b":1]})",
                          R"({"a":{"b"}})",
                          R"({"a":{1:1}})",
                          R"({"a":{"b":1,}})"}) {
    EXPECT_FALSE(decode_headers(bad)) << bad;
  }
  EXPECT_FALSE(decode_headers(std::string_view("{}\0x", 4)));
  EXPECT_FALSE(decode_headers("\xEF\xBB\xBF{}"));
}

TEST(headers, of_values_that_are_no_json_are_none) {
  for (const char* bad : {"+1", "01", "-", ".5", "1.", "1e", "1e+", "0x10", "Infinity", "NaN",
                          "tru", "True", "truex", "[\"\xFF\"]", R"(["\ud800"])", "1e9999"}) {
    EXPECT_FALSE(decode_headers(R"({"a":)" + std::string(bad) + "}")) << bad;
  }
  for (const char* bad :
       {R"("\x")", R"("\u12")", R"("\u12g4")", R"("\ud800")", R"("\ud800\u0041")", R"("\udc00")",
        R"("\ud800\ud800")", "\"\x01\"", "\"\n\"", "\"\xFF\"", "\"\xC3\"", R"("\")"}) {
    EXPECT_FALSE(decode_headers(R"({"a":)" + std::string(bad) + "}")) << bad;
    EXPECT_FALSE(decode_headers("{" + std::string(bad) + ":1}")) << bad;
  }
}

TEST(headers, may_nest_without_end) {
  EXPECT_EQ(decode_headers(R"({"a": "[[[[\"{{{{"})")->at("a"), "[[[[\"{{{{");
  const std::size_t deep = 1'000'000;
  const std::string nested = std::string(deep, '[') + std::string(deep, ']');
  EXPECT_EQ(decode_headers("{\"a\": " + nested + "}")->at("a"), nested);
  EXPECT_FALSE(decode_headers("{\"a\": " + nested.substr(1) + "}"));
  EXPECT_EQ(decode_errors("[" + nested + "]").at(0).error, nested.substr(0, 2000));
}

TEST(failures, of_another_form_are_told_as_their_text) {
  for (const char* odd : {"{}", "1", "null", R"("x")", R"({"at":"5","error":"x"})", R"({"at":5})",
                          R"({"error":"x"})", R"({"at":5,"error":7})", R"({"at":1e3,"error":"x"})",
                          R"({"at":9223372036854775808,"error":"x"})", "[[1e400]]"}) {
    const auto found = decode_errors("[" + std::string(odd) + R"(, {"at": 6, "error": "good"}])");
    ASSERT_EQ(found.size(), 2U) << odd;
    EXPECT_EQ(found[0].error, odd);
    EXPECT_EQ(found[0].at, tableq::timestamp());
    EXPECT_EQ(found[1].error, "good");
  }
}

TEST(failures, that_are_no_array_are_one_text) {
  for (const char* odd : {"", "{}", "5", "[1", "[1,]", "[] x"}) {
    const auto found = decode_errors(odd);
    ASSERT_EQ(found.size(), 1U) << odd;
    EXPECT_EQ(found[0].error, odd);
  }
  EXPECT_EQ(decode_errors("\xFF").at(0).error, replacement);
}

TEST(failures, are_the_last_ten_and_no_longer_than_ours) {
  std::string many = "[0";
  for (int i = 1; i < 30; ++i) many += "," + std::to_string(i);
  const auto found = decode_errors(many + "]");
  ASSERT_EQ(found.size(), 10U);
  EXPECT_EQ(found.front().error, "20");
  EXPECT_EQ(found.back().error, "29");
  const std::string longer = R"([{"at": 1, "error": ")" + std::string(3000, 'x') + "\"}]";
  EXPECT_EQ(decode_errors(longer).at(0).error, std::string(2000, 'x'));
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

}  // namespace
