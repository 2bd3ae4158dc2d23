#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "support/tds_request.hpp"

namespace tableq_test {

/// Types of columns in an answer. All may be NULL.
/// `utf16` is `nvarchar(max)` with a value in TDS's own form.
enum class tds_type { integer, bigint, nvarchar, nvarchar_max, utf16, varbinary_max };

struct tds_column {
  std::string name;
  tds_type type = tds_type::bigint;
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
  tds_answer& error(std::int32_t number, std::string_view text, std::uint8_t severity = 16);

  /// The end of the answer, after the parts so far, which the client has. Wait: nothing comes but
  /// the answer to an attention. Hang: not even that, until the client closes the connection.
  enum class ending { done, wait, hang, cut };
  tds_answer& wait() { return add("", ending::wait); }
  tds_answer& hang() { return add("", ending::hang); }
  tds_answer& cut() { return add("", ending::cut); }
  /// Closes the connection after this number of bytes of the answer, packet headers included.
  tds_answer& cut_after_bytes(std::size_t bytes) {
    byte_limit_ = bytes;
    return *this;
  }

  /// For the server.
  /// @param call whether it answers a call of a procedure rather than a batch
  [[nodiscard]] std::string bytes(bool call) const;
  [[nodiscard]] ending how_it_ends() const { return ending_; }
  [[nodiscard]] std::size_t byte_limit() const { return byte_limit_; }
  [[nodiscard]] bool empty() const { return out_.empty() && ending_ == ending::done; }

 private:
  tds_answer& add(std::string_view bytes, ending next = ending::done);
  tds_answer& message(std::uint8_t token, std::int32_t number, std::string_view text,
                      std::uint8_t severity);
  void end_statement();
  [[nodiscard]] std::string flags(bool more) const;

  std::string out_;
  std::vector<std::size_t> ends_;  ///< Of statements: their token depends on the kind of request.
  ending ending_ = ending::done;
  std::vector<tds_column> columns_;
  std::size_t byte_limit_ = std::string_view::npos;
  bool statement_ = false;
  bool counted_ = false;
  bool failed_ = false;
  std::int64_t rows_ = 0;
};

/// The end of a message: a batch, an attention, a login.
std::string tds_end(std::uint16_t flags);

}  // namespace tableq_test
