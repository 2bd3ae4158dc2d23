#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "support/tds_request.hpp"

namespace tableq_test {

/// Types of columns in an answer. All may be NULL.
/// `utf16` is `nvarchar(max)` with a value in TDS's own form.
enum class tds_type { integer, bigint, nvarchar, nvarchar_max, utf16, varbinary, varbinary_max };

/// Does not open.
struct tds_gate {};

struct tds_column {
  std::string name;
  tds_type type = tds_type::bigint;
  /// Of `nvarchar` and `varbinary`, in units; 0: the longest, 4000 or 8000.
  std::uint16_t size = 0;
};

/// The answer of a scripted TDS server to one request, built from left to right:
///
///     tds_answer().columns({{"id", tds_type::bigint}}).row({7}).error(1205, "deadlock")
///
/// An empty answer means: done.
class tds_answer {
 public:
  /// Begins a result; one that is open ends here.
  tds_answer& columns(std::vector<tds_column> of);
  tds_answer& row(const std::vector<tds_value>& values);
  /// The end of a statement without a result, with the number of affected rows.
  tds_answer& affected(std::int64_t rows);
  tds_answer& info(std::int32_t number, std::string_view text);
  /// Ends a result that is open.
  tds_answer& error(std::int32_t number, std::string_view text, std::uint8_t severity = 16,
                    std::uint8_t state = 1);
  /// Says nothing more, except to an attention. The client has all earlier parts.
  tds_answer& wait(const tds_gate& gate = {});
  /// Says nothing more, also to an attention, until the client closes the connection.
  tds_answer& hang();
  /// Closes the connection. The client has all earlier parts.
  tds_answer& cut();
  /// Closes the connection in the middle of a row, after this number of its bytes.
  tds_answer& cut_in_row(const std::vector<tds_value>& values, std::size_t bytes);
  /// Closes the connection after this number of bytes of the answer, packet headers included.
  tds_answer& cut_after_bytes(std::size_t bytes);

  /// For the server: bytes, and what comes after them.
  struct part {
    enum class then { nothing, wait, hang, cut };
    std::string bytes = {};
    then next = then::nothing;
  };
  /// @param call whether it answers a call of a procedure rather than a batch
  /// @param end the bytes before the end of a call
  [[nodiscard]] std::vector<part> parts(bool call, std::string_view end) const;
  [[nodiscard]] std::optional<std::size_t> byte_limit() const { return byte_limit_; }
  [[nodiscard]] bool has_error() const { return has_error_; }
  [[nodiscard]] std::size_t steps() const { return steps_.size(); }

 private:
  /// The end of a statement, whose form the kind of the request decides, stands between parts.
  struct step {
    std::string bytes = {};
    std::optional<std::string> end = {};  ///< flags and rows of a statement that ends before
    part::then next = part::then::nothing;
  };

  tds_answer& add(std::string bytes, part::then next = part::then::nothing);
  tds_answer& message(bool error, std::int32_t number, std::string_view text, std::uint8_t severity,
                      std::uint8_t state);
  void end_statement();
  [[nodiscard]] std::string flags(bool more) const;

  std::vector<step> steps_;
  std::vector<tds_column> columns_;
  std::optional<std::size_t> byte_limit_;
  bool statement_ = false;
  bool counted_ = false;
  bool failed_ = false;
  bool has_error_ = false;
  std::int64_t rows_ = 0;
};

/// The end of a message: a batch, an attention, a login.
std::string tds_end(std::uint16_t flags);

}  // namespace tableq_test
