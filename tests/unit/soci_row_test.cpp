#include <soci/soci.h>

#include <gtest/gtest.h>

#include <limits>
#include <stdexcept>

#include <tableq/soci.hpp>
#include <tableq/soci_row.hpp>
#include <tableq/tableq.hpp>

#include "support/expect.hpp"

namespace soci_row_objects {

enum class urgency { low = 1, high = 2 };

/// A letter as an application has it.
struct posting {
  long long id = 0;
  int tries = 0;
  std::string address;
  std::optional<std::string> subject;
  urgency how = urgency::low;
  double price = 0;
  std::tm at{};
};

/// Read by position.
struct listed {
  int id = 0;
  std::string address;
};

/// Asks for all indicators before all values, and spells the columns otherwise.
struct cautious {
  int tries = -1;
  std::string note = "none";
};

struct unsigned_object {
  unsigned long long large = 0;
  unsigned short small = 0;
};

/// Asks for what rows of SOCI do not hold.
struct odd {
  short small = 0;
};

struct angry {};

/// Its to_base sets a column that is not listed, and a value without a name.
struct unlisted {};
struct nameless {};

}  // namespace soci_row_objects

namespace soci {

using namespace soci_row_objects;

template <>
struct type_conversion<urgency> {
  using base_type = int;
  static void from_base(int from, indicator /*null*/, urgency& to) {
    if (from != 1 && from != 2) throw std::domain_error("no such urgency");
    to = static_cast<urgency>(from);
  }
  static void to_base(urgency from, int& to, indicator& null) {
    to = static_cast<int>(from);
    null = i_ok;
  }
};

template <>
struct type_conversion<std::optional<std::string>> {
  using base_type = std::string;
  static void from_base(const std::string& from, indicator null, std::optional<std::string>& to) {
    to = null == i_null ? std::nullopt : std::optional(from);
  }
  static void to_base(const std::optional<std::string>& from, std::string& to, indicator& null) {
    null = from ? i_ok : i_null;
    to = from.value_or("");
  }
};

template <>
struct type_conversion<posting> {
  using base_type = values;
  static void from_base(const values& from, indicator /*null*/, posting& to) {
    to.id = from.get<long long>("Id");
    to.tries = from.get<int>("Tries", -1);
    to.address = from.get<std::string>("Address");
    to.subject = from.get<std::optional<std::string>>("Subject");
    to.how = from.get<urgency>("Urgency", urgency::low);
    to.price = from.get<double>("Price", 0.5);
    to.at = from.get<std::tm>("At", std::tm());
  }
  static void to_base(const posting& from, values& to, indicator& null) {
    to.set("Id", from.id);
    to.set("Tries", from.tries, from.tries < 0 ? i_null : i_ok);
    to.set("Address", from.address);
    to.set("Subject", from.subject);
    to.set("Urgency", from.how);
    to.set("Price", from.price);
    to.set("At", from.at);
    null = i_ok;
  }
};

template <>
struct type_conversion<listed> {
  using base_type = values;
  static void from_base(const values& from, indicator /*null*/, listed& to) {
    from >> to.id >> to.address;
  }
};

template <>
struct type_conversion<cautious> {
  using base_type = values;
  static void from_base(const values& from, indicator /*null*/, cautious& to) {
    const indicator tries = from.get_indicator("TRIES");
    const indicator note = from.get_indicator("NOTE");
    if (tries == i_ok) to.tries = from.get<int>("TRIES");
    if (note == i_ok) to.note = from.get<std::string>("NOTE");
  }
};

template <>
struct type_conversion<unsigned_object> {
  using base_type = values;
  static void from_base(const values& from, indicator /*null*/, unsigned_object& to) {
    to.large = from.get<unsigned long long>("large");
    to.small = from.get<unsigned short>("small");
  }
  static void to_base(const unsigned_object& from, values& to, indicator& /*null*/) {
    to.set("large", from.large);
    to.set("small", from.small);
  }
};

template <>
struct type_conversion<odd> {
  using base_type = values;
  static void from_base(const values& from, indicator /*null*/, odd& to) {
    to.small = from.get<short>("small");
  }
};

template <>
struct type_conversion<angry> {
  using base_type = values;
  static void from_base(const values& /*from*/, indicator /*null*/, angry& /*to*/) {
    throw std::domain_error("not today");
  }
  static void to_base(const angry& /*from*/, values& to, indicator& /*null*/) {
    to.set("A", 1);
    throw std::domain_error("not today");
  }
};

template <>
struct type_conversion<unlisted> {
  using base_type = values;
  static void to_base(const unlisted& /*from*/, values& to, indicator& /*null*/) {
    to.set("A", 1);
    to.set("B", 2, i_null);
  }
};

template <>
struct type_conversion<nameless> {
  using base_type = values;
  static void to_base(const nameless& /*from*/, values& to, indicator& /*null*/) {
    to.set("A", 1);
    to << 2;
  }
};

}  // namespace soci

template <>
struct tableq::row_traits<soci_row_objects::posting>
    : tableq::soci_row_traits<soci_row_objects::posting, "Id", "Tries", "Address", "Subject",
                              "Urgency", "Price", "At"> {};
template <>
struct tableq::row_traits<soci_row_objects::listed>
    : tableq::soci_row_traits<soci_row_objects::listed> {};

namespace {

using namespace std::chrono_literals;
using namespace soci_row_objects;
using tableq::row;
using tableq::soci_row_traits;

static_assert(tableq::writable_row<posting>);
static_assert(tableq::readable_row<listed> && !tableq::writable_row<listed>);

const row stored_letter{{"Id", 9'007'199'254'740'993},
                        {"Tries", 3},
                        {"Address", "canary@b.example"},
                        {"Subject", "Hello"},
                        {"Urgency", 2},
                        {"Price", 0.25},
                        {"At", tableq::timestamp(1'704'067'201'000ms)}};

posting read_letter(const row& from) {
  return soci_row_traits<posting>::from_row(from);
}

void expect_refused(const row& from, std::initializer_list<const char*> words) {
  const tableq::error why = tableq_test::thrown_by([&] { static_cast<void>(read_letter(from)); });
  EXPECT_EQ(why.code(), tableq::errc::invalid_argument);
  for (const char* word : words) {
    EXPECT_NE(std::string(why.what()).find(word), std::string::npos) << word << ": " << why.what();
  }
  EXPECT_EQ(std::string(why.what()).find("canary"), std::string::npos) << why.what();
}

row changed(const char* column, const tableq::row_value& value) {
  row out = stored_letter;
  out.set(column, value);
  return out;
}

TEST(soci_rows, become_objects_and_rows_again) {
  const posting read = read_letter(stored_letter);
  EXPECT_EQ(read.id, 9'007'199'254'740'993);
  EXPECT_EQ(read.tries, 3);
  EXPECT_EQ(read.address, "canary@b.example");
  EXPECT_EQ(read.subject, "Hello");
  EXPECT_EQ(read.how, urgency::high);
  EXPECT_EQ(read.price, 0.25);
  EXPECT_EQ(tableq::row_traits<posting>::to_row(read), stored_letter);
}

TEST(soci_rows, hold_times_in_utc) {
  const std::tm at = read_letter(stored_letter).at;
  EXPECT_EQ(at.tm_year, 124);
  EXPECT_EQ(at.tm_yday, 0);
  EXPECT_EQ(at.tm_hour, 0);
  EXPECT_EQ(at.tm_sec, 1);
  EXPECT_EQ(read_letter(changed("At", "2024-01-01 02:00:01+02:00")).at.tm_hour, 0);
}

TEST(soci_rows, give_null_as_the_conversion_wants_it) {
  row nulls = stored_letter;
  for (const char* name : {"Tries", "Subject", "Urgency", "Price", "At"}) {
    nulls.set(name, std::nullopt);
  }
  const posting read = read_letter(nulls);
  EXPECT_EQ(read.tries, -1);
  EXPECT_EQ(read.subject, std::nullopt);
  EXPECT_EQ(read.how, urgency::low);
  EXPECT_EQ(read.price, 0.5);

  const row again = tableq::row_traits<posting>::to_row(read);
  EXPECT_TRUE(again.is_null("Tries"));
  EXPECT_EQ(again.value("Tries").type(), tableq::column_type::integer);
  EXPECT_TRUE(again.is_null("Subject"));
  expect_refused(changed("Address", std::nullopt), {"Address"});
}

TEST(soci_rows, are_read_in_any_order_of_nulls_and_values) {
  const row nulls{{"TRIES", std::nullopt}, {"NOTE", std::nullopt}};
  const row values{{"TRIES", 2}, {"NOTE", "x"}};
  const row both{{"TRIES", 3}, {"NOTE", std::nullopt}, {"more", 1}};
  for (const row& each : {nulls, values, both, nulls, values}) {
    const auto read = soci_row_traits<cautious>::from_row(each);
    EXPECT_EQ(read.tries, each.is_null("TRIES") ? -1 : each.get<int>("TRIES"));
    EXPECT_EQ(read.note, each.is_null("NOTE") ? "none" : "x");
  }
}

TEST(soci_rows, refuse_another_type_by_column_and_type) {
  expect_refused(changed("Address", 7), {"Address", "an integer", "text"});
  expect_refused(changed("Tries", "canary"), {"Tries", "text", "an integer"});
  expect_refused(changed("Tries", 3'000'000'000), {"Tries"});
  expect_refused(changed("At", "canary"), {"At", "time"});
  EXPECT_EQ(read_letter(stored_letter).tries, 3) << "a refused row leaves nothing behind";
  EXPECT_EQ(read_letter(changed("Price", 2)).price, 2.0);

  const tableq::error why = tableq_test::thrown_by([] {
    static_cast<void>(soci_row_traits<odd>::from_row({{"small", 1}}));
  });
  EXPECT_EQ(why.code(), tableq::errc::invalid_argument);
  EXPECT_NE(std::string(why.what()).find("small"), std::string::npos);
}

TEST(soci_rows, refuse_a_missing_column_by_name) {
  row few{{"Id", 1}, {"Tries", 1}};
  expect_refused(few, {"Address", "Id", "Tries"});
  EXPECT_CODE(invalid_argument, static_cast<void>(soci_row_traits<listed>::from_row({{"Id", 1}})));
}

TEST(soci_rows, find_columns_whose_names_differ_in_case) {
  const row lower{{"tries", 4}, {"Note", "x"}, {"more", 1}};
  for (int i = 0; i < 2; ++i) {
    const auto read = soci_row_traits<cautious>::from_row(lower);
    EXPECT_EQ(read.tries, 4);
    EXPECT_EQ(read.note, "x");
  }
  const auto nulls = soci_row_traits<cautious>::from_row({{"NOTE", std::nullopt}, {"Tries", 5}});
  EXPECT_EQ(nulls.tries, 5);
  EXPECT_EQ(nulls.note, "none");
}

TEST(soci_rows, are_read_by_position) {
  const auto read = soci_row_traits<listed>::from_row({{"a", 7}, {"b", "x"}, {"c", 1}});
  EXPECT_EQ(read.id, 7);
  EXPECT_EQ(read.address, "x");
}

TEST(soci_rows, hold_unsigned_integers_and_refuse_those_beyond_64_bits) {
  using traits = soci_row_traits<unsigned_object, "large", "small">;
  constexpr auto largest = std::numeric_limits<std::int64_t>::max();
  const auto read = traits::from_row({{"large", largest}, {"small", 65'535}});
  EXPECT_EQ(read.large, static_cast<unsigned long long>(largest));
  EXPECT_EQ(read.small, 65'535);
  EXPECT_EQ(traits::to_row(read).get<std::int64_t>("large"), largest);
  EXPECT_CODE(invalid_argument, static_cast<void>(traits::from_row({{"large", -1}, {"small", 1}})));
  EXPECT_CODE(invalid_argument,
              static_cast<void>(traits::from_row({{"large", 1}, {"small", 65'536}})));
  EXPECT_CODE(invalid_argument,
              static_cast<void>(traits::to_row({std::numeric_limits<std::uint64_t>::max(), 1})));
}

TEST(soci_rows, throw_the_exceptions_of_the_application) {
  EXPECT_THROW(static_cast<void>(soci_row_traits<angry>::from_row({{"A", 1}})), std::domain_error);
  EXPECT_THROW(static_cast<void>(soci_row_traits<angry, "A">::to_row({})), std::domain_error);
  EXPECT_THROW(static_cast<void>(read_letter(changed("Urgency", 3))), std::domain_error);
}

TEST(soci_rows, lose_no_column_that_is_not_listed) {
  const row all = soci_row_traits<unlisted, "A", "B", "C">::to_row({});
  EXPECT_EQ(all.get<int>("A"), 1);
  EXPECT_TRUE(all.is_null("B"));
  EXPECT_EQ(all.size(), 2U);
  EXPECT_CODE(invalid_argument, static_cast<void>(soci_row_traits<unlisted, "A">::to_row({})));
  EXPECT_CODE(invalid_argument, static_cast<void>(soci_row_traits<nameless, "A">::to_row({})));
}

#ifdef TABLEQ_WITH_SQLITE
TEST(soci_rows, of_a_table_are_taken_and_added) {
  tableq::database db = tableq::database::open("sqlite://:memory:");
  db.transact([](tableq::transaction& tx) {
    tableq::session_of(tx)
        << "CREATE TABLE Letters (Id integer PRIMARY KEY, Tries integer, Address text, "
           "Subject text, Urgency integer, Price real, At datetime, Sent integer DEFAULT 0 NOT "
           "NULL)";
  });
  auto letters = db.table("Letters", {.key = {"Id"}, .waiting = tableq::flag("Sent")});
  posting object = read_letter(stored_letter);
  object.subject.reset();
  letters.enqueue(object);
  const auto taken = letters.take<posting>(1);
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0].value.id, object.id);
  EXPECT_EQ(taken[0].value.tries, 3);
  EXPECT_EQ(taken[0].value.address, object.address);
  EXPECT_EQ(taken[0].value.subject, std::nullopt);
  EXPECT_EQ(taken[0].value.how, urgency::high);
  EXPECT_EQ(taken[0].value.price, 0.25);
  EXPECT_EQ(taken[0].value.at.tm_sec, 1);
}
#endif

}  // namespace
