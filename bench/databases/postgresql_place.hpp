#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "libpq_client.hpp"
#include "raw.hpp"

namespace bench {

/// A separate schema with the plain tables, dropped with the object.
class postgresql_place {
 public:
  /// @param address in libpq's URI form. @param synchronous `on` or `off`, for all sessions.
  postgresql_place(const std::string& address, const std::string& synchronous);
  postgresql_place(const postgresql_place&) = delete;
  postgresql_place& operator=(const postgresql_place&) = delete;
  ~postgresql_place();

  /// The address with the schema and the commits' mode in it.
  [[nodiscard]] const std::string& url() const { return url_; }
  [[nodiscard]] const std::string& schema() const { return schema_; }
  [[nodiscard]] static raw_words words();
  void run(const std::string& text) { on_.run(text); }
  void clear(std::string_view table);
  /// The statement of add().
  [[nodiscard]] static std::string addition(std::string_view table, std::size_t messages);
  void add(std::string_view table, std::size_t messages);
  void tidy(std::string_view table);
  /// Where the write-ahead log ends: also bytes that are not on the disk yet.
  [[nodiscard]] double log_bytes();
  [[nodiscard]] json describe();

 private:
  std::string schema_;
  std::string url_;
  libpq_connection on_;
};

}  // namespace bench
