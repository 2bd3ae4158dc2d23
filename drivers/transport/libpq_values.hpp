#pragma once

/// @file
/// Values to and from libpq, in PostgreSQL's binary format: it does not depend on a locale, and
/// bytes need no escaping. For libpq.cpp only.

#include <libpq-fe.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/seam/value.hpp"
#include "drivers/text.hpp"
#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers::libpq {

// The server's own numbers for types, from pg_type.dat; they never change.
enum type_oid : Oid {
  oid_bool = 16,
  oid_bytea = 17,
  oid_int8 = 20,
  oid_int2 = 21,
  oid_int4 = 23,
  oid_text = 25,
  oid_json = 114,
  oid_bytea_array = 1001,
  oid_text_array = 1009,
  oid_int8_array = 1016,
  oid_varchar = 1043,
};

// The server builds no message and no value of 1 GiB or more; the rest is reserved for lengths and
// names.
inline constexpr std::size_t longest_message = 0x3fffffff - 4096;

inline void put_number(std::string& out, std::uint64_t number, int bytes) {
  for (int shift = (bytes - 1) * 8; shift >= 0; shift -= 8) {
    out += static_cast<char>((number >> shift) & 0xffU);
  }
}

inline std::int64_t take_number(const char* data, int length) noexcept {
  std::uint64_t out = (static_cast<unsigned char>(*data) & 0x80U) != 0 ? ~std::uint64_t{0} : 0;
  for (int i = 0; i < length; ++i) out = (out << 8U) | static_cast<unsigned char>(data[i]);
  return static_cast<std::int64_t>(out);
}

inline Oid element_type(core::value_type type) noexcept {
  switch (type) {
    case core::value_type::integer:
      return oid_int8;
    case core::value_type::text:
      return oid_text;
    case core::value_type::bytes:
      return oid_bytea;
  }
  return 0;
}

inline Oid parameter_type(const parameter& place) noexcept {
  const Oid element = element_type(place.type);
  if (!place.array) return element;
  if (element == oid_int8) return oid_int8_array;
  return element == oid_text ? oid_text_array : oid_bytea_array;
}

/// Parameters as libpq sends them: all binary. Borrows bytes if possible.
class bound_values {
 public:
  bound_values(const std::vector<parameter>& places, const arguments& given) {
    owned_.reserve(places.size());  // the pointers must hold
    for (const parameter& place : places) {
      if (place.array) {
        add_array(place, given);
      } else {
        add(given.value_of(place));
      }
    }
  }

  [[nodiscard]] int count() const noexcept { return static_cast<int>(pointers_.size()); }
  [[nodiscard]] const char* const* pointers() const noexcept { return pointers_.data(); }
  [[nodiscard]] const int* lengths() const noexcept { return lengths_.data(); }
  [[nodiscard]] const int* formats() const noexcept { return formats_.data(); }

 private:
  void add(const core::value& one) {
    if (one.is == core::value::shape::null) {
      refer(nullptr, 0);
    } else if (one.is == core::value::shape::integer) {
      std::string& made = owned_.emplace_back();
      put_number(made, static_cast<std::uint64_t>(one.number), 8);
      refer(made.data(), made.size());
    } else {
      // A null pointer would be NULL, unlike an empty payload.
      refer(one.data.empty() ? "" : one.data.data(), one.data.size());
    }
  }

  /// One dimension, counted from 1, as array_recv reads it.
  void add_array(const parameter& place, const arguments& given) {
    const std::size_t count = given.item_width == 0 ? 0 : given.items.size() / given.item_width;
    const auto element = [&](std::size_t i) -> const core::value& {
      return given.items[i * given.item_width + place.source];
    };
    std::size_t size = 20;
    bool holds_null = false;
    for (std::size_t i = 0; i < count; ++i) {
      size += 12 + element(i).data.size();
      holds_null = holds_null || element(i).is == core::value::shape::null;
    }
    check_room(size);
    std::string& made = owned_.emplace_back();
    made.reserve(size);
    put_number(made, count == 0 ? 0 : 1, 4);
    put_number(made, holds_null ? 1 : 0, 4);
    put_number(made, element_type(place.type), 4);
    if (count != 0) {
      put_number(made, count, 4);
      put_number(made, 1, 4);
    }
    for (std::size_t i = 0; i < count; ++i) add_element(made, element(i));
    refer(made.data(), made.size());
  }

  static void add_element(std::string& out, const core::value& one) {
    if (one.is == core::value::shape::null) {
      put_number(out, 0xffffffffU, 4);
    } else if (one.is == core::value::shape::integer) {
      put_number(out, 8, 4);
      put_number(out, static_cast<std::uint64_t>(one.number), 8);
    } else {
      put_number(out, one.data.size(), 4);
      out += one.data;
    }
  }

  void refer(const char* data, std::size_t size) {
    check_room(size);
    total_ += size;
    pointers_.push_back(data);
    lengths_.push_back(static_cast<int>(size));
    formats_.push_back(1);
  }

  void check_room(std::size_t size) const {
    if (size <= longest_message - total_) return;
    throw native_failure(
        {.sqlstate = "54000", .sentence = "the values of one statement are over 1 GiB"});
  }

  std::vector<std::string> owned_;
  std::vector<const char*> pointers_;
  std::vector<int> lengths_;
  std::vector<int> formats_;
  std::size_t total_ = 0;
};

inline bool readable_as(core::value_type wanted, Oid found) noexcept {
  switch (wanted) {
    case core::value_type::integer:
      return found == oid_int8 || found == oid_int4 || found == oid_int2 || found == oid_bool;
    case core::value_type::text:
      return found == oid_text || found == oid_varchar || found == oid_json;
    case core::value_type::bytes:
      return found == oid_bytea;
  }
  return false;
}

/// Gives the whole pages between both addresses back to the system; they are zeros then. In memory
/// that is locked they stay.
inline void give_back(char* begin, const char* end) noexcept {
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const std::size_t before = (page - reinterpret_cast<std::uintptr_t>(begin) % page) % page;
  const auto size = static_cast<std::size_t>(end - begin);
  if (size < before + page) return;
  ::madvise(begin + before, (size - before) / page * page, MADV_DONTNEED);
}

/// Copies a value, and loses its bytes in the result if it is long: libpq has a long row twice, so
/// this is done in pieces, and no piece is in memory once more than that.
inline std::string moved_out(char* data, std::size_t size) {
  constexpr std::size_t piece = std::size_t{4} * 1024 * 1024;
  if (size <= piece) return {data, size};
  std::string out;
  out.reserve(size);
  for (std::size_t done = 0; done < size;) {
    const std::size_t next = std::min(piece, size - done);
    out.append(data + done, next);
    give_back(data + done, data + done + next);
    done += next;
  }
  return out;
}

inline core::cell read_cell(const PGresult* answer, int row, int column, core::value_type type) {
  if (PQgetisnull(answer, row, column) != 0) return {};
  char* data = PQgetvalue(answer, row, column);
  const int length = PQgetlength(answer, row, column);
  if (type == core::value_type::integer) return take_number(data, length);
  return moved_out(data, static_cast<std::size_t>(length));
}

/// Adds the rows of a binary answer, which is read once: long values leave it.
/// @throws native_failure if its columns differ from the contract.
inline void read_rows(const PGresult* answer, const std::vector<core::value_type>& columns,
                      core::row_set& out) {
  const int width = static_cast<int>(columns.size());
  for (int column = 0; column < width; ++column) {
    if (column >= PQnfields(answer) ||
        !readable_as(columns[static_cast<std::size_t>(column)], PQftype(answer, column))) {
      throw native_failure({.sqlstate = "42804",
                            .sentence = "a column of the answer is missing or of another type"});
    }
  }
  for (int row = 0; row < PQntuples(answer); ++row) {
    for (int column = 0; column < width; ++column) {
      out.add(read_cell(answer, row, column, columns[static_cast<std::size_t>(column)]));
    }
  }
}

}  // namespace tableq::inline v0::drivers::libpq
