#include "drivers/text.hpp"
#include "core/seam/contract.hpp"
#include "drivers/blocks.hpp"

#include <gtest/gtest.h>

#include <array>

#include "support/expect.hpp"

namespace {

using tableq::batching;
using tableq::core::contract;
using tableq::core::field;
using tableq::core::value;
using tableq::core::value_type;
using tableq::drivers::clock_source;
using tableq::drivers::compile;
using tableq::drivers::fill_names;
using tableq::drivers::marker;
using tableq::drivers::split_blocks;
using tableq::drivers::split_script;
using tableq::drivers::table_place;
using tableq::drivers::take_order;
using tableq::drivers::with_literals;

constexpr std::array shared{field{"max", value_type::integer}, field{"now", value_type::integer}};
constexpr std::array columns{field{"id", value_type::integer}, field{"payload", value_type::bytes}};
constexpr contract single{.id = tableq::core::statement::fifo_dequeue,
                          .name = "a.single",
                          .writes = true,
                          .shared = shared,
                          .columns = columns};

std::string numbered(std::string_view text) {
  return compile(text, single, {.markers = marker::numbered, .batches = batching::arrays}).sql;
}

const tableq::core::table_names plain{.schema = "", .table = "mail"};

TEST(blocks, are_empty_for_an_empty_text) {
  EXPECT_TRUE(split_blocks("").empty());
  EXPECT_EQ(split_blocks("-- name: a.b").at("a.b"), "");
  EXPECT_TRUE(split_blocks("-- name:\nSELECT 1").empty());
}

TEST(fragments, have_a_form_for_shards_which_a_given_clock_below_it_replaces) {
  const std::string file =
      "-- fragment: clock\nnow()\n-- fragment: clock.shard\nthere()\n-- fragment: "
      "clock.given\n:now\n"
      "-- fragment: place.shard\n FROM shard\n-- name: a.b\nSELECT {clock}{place}\n";
  EXPECT_EQ(split_blocks(file).at("a.b"), "SELECT now()");
  const auto shards = [&](clock_source clock) {
    return split_blocks(file, {.clock = clock, .place = table_place::shard}).at("a.b");
  };
  EXPECT_EQ(shards(clock_source::database), "SELECT there()FROM shard");
  EXPECT_EQ(shards(clock_source::given), "SELECT :nowFROM shard");
}

TEST(fragments, serve_only_what_comes_behind_them) {
  const auto found = split_blocks("-- name: a.b\nSELECT {one}\n-- fragment: one\n1\n");
  EXPECT_EQ(found.at("a.b"), "SELECT {one}");
}

TEST(fragments, that_grow_without_bound_are_refused) {
  std::string file = "-- fragment: x0\n0123456789\n";
  for (int i = 1; i < 30; ++i) {
    const std::string before = "{x" + std::to_string(i - 1) + "}";
    file += "-- fragment: x" + std::to_string(i) + "\n" + before + before + "\n";
  }
  EXPECT_THROW(split_blocks(file), tableq::error);
}

TEST(blocks, read_files_with_carriage_returns) {
  const auto found = split_blocks("-- name: a.b\r\nSELECT 1;\r\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found.at("a.b"), "SELECT 1");
}

TEST(names, leave_other_braces_alone) {
  for (const char* text :
       {"{", "}", "{}", "{tables}", "{table", "{table:due", "'{1,2}'", "{{x}}"}) {
    EXPECT_EQ(fill_names(text, tableq::dialect(), plain), text);
  }
}

TEST(markers, are_not_looked_for_in_strings_and_names) {
  for (const char* text : {"':max'", "\":max\"", "'it''s :max'", "'a\" :max'", "\"it's :max\"",
                           "a::text", "':' || '::'", "'unended :max", "1 : 2", ":", "a:"}) {
    EXPECT_EQ(numbered(text), text);
  }
}

TEST(markers, are_not_looked_for_in_comments) {
  EXPECT_EQ(
      numbered("-- It doesn't matter what :this says.\nSELECT :max\n  -- nor \":that\nFROM t"),
      "-- It doesn't matter what :this says.\nSELECT $1\n  -- nor \":that\nFROM t");
  EXPECT_EQ(numbered("SELECT :max -- :that"), "SELECT $1 -- :that");
  EXPECT_EQ(numbered("SELECT :max - :now"), "SELECT $1 - $2");
  EXPECT_EQ(numbered("SELECT '--' || :max"), "SELECT '--' || $1");
}

TEST(markers, for_unknown_parameters_are_refused_by_name) {
  const tableq::error refused = tableq_test::thrown_by([] {
    compile("SELECT :maximum", single, {.markers = marker::numbered, .batches = batching::loop});
  });
  EXPECT_NE(std::string(refused.what()).find("maximum"), std::string::npos) << refused.what();
  EXPECT_EQ(refused.operation(), "a.single");
}

TEST(blocks, of_one_name_are_refused) {
  for (const char* const twice : {"-- name: a.b\n1\n-- name: c.d a.b\n2",
                                  "-- fragment: f.given\n1\n-- fragment: f.given\n2"}) {
    EXPECT_THROW(static_cast<void>(split_blocks(twice)), tableq::error) << twice;
  }
  EXPECT_EQ(split_blocks("-- fragment: f\n1\n-- fragment: f.given\n2\n-- name: f\n{f}").at("f"),
            "1");
}

TEST(literals, stand_where_the_parameters_were) {
  constexpr std::array fields{field{"name", value_type::text}, field{"layout", value_type::integer},
                              field{"options", value_type::text}};
  const contract of{.id = tableq::core::statement::catalog_insert,
                    .name = "a.literal",
                    .writes = true,
                    .shared = fields};
  const std::array given{value(std::string_view("it's")), value(std::int64_t{-7}), value()};
  EXPECT_EQ(with_literals("(:name, :layout, :options, ':name')", of, given),
            "('it''s', -7, NULL, ':name')");
}

TEST(script, is_not_cut_within_a_marked_text) {
  EXPECT_EQ(split_script("DO $$ a; b $$; DO $x$ $$ ; ' $x$;c"),
            (std::vector<std::string>{"DO $$ a; b $$", " DO $x$ $$ ; ' $x$", "c"}));
  EXPECT_EQ(split_script("$1; $open$ a; b"), (std::vector<std::string>{"$1", " $open$ a; b"}));
}

}  // namespace
