#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "support/backend.hpp"
#include "support/process.hpp"

namespace tableq_test {

/// PostgreSQL servers that a test may stop, lose and promote: `first`, and `second` as its standby.
/// They end with the object, or with the process that holds it. own_postgresql.sh does the work.
class own_postgresql {
 public:
  /// The part that is on a small file system.
  enum class on_disk { tables, log };
  /// A separate clock.
  struct with_clock {
    std::string preloaded;  ///< tests/hostile/wrong_clock.cpp
  };

  /// @param disk the size of a file system for the tablespace `small`, or for the write-ahead log,
  ///   in mount's form; empty: none.
  explicit own_postgresql(const std::string& disk = {}, on_disk what = on_disk::tables);
  explicit own_postgresql(const with_clock& clock);
  own_postgresql(const own_postgresql&) = delete;
  own_postgresql& operator=(const own_postgresql&) = delete;
  ~own_postgresql();

  /// The reason why there is no server; empty when there is one.
  [[nodiscard]] const std::optional<std::string>& missing() const { return missing_; }

  /// Makes an empty database on the server that takes writes, for all addresses from now on.
  void begin_database();
  /// @param more parameters of the address: `target_session_attrs=read-write`.
  [[nodiscard]] std::string url(const std::string& more = {}) const;
  /// The same with all servers in it.
  [[nodiscard]] std::string url_of_all(const std::string& more) const;
  /// The same on another port of this machine.
  [[nodiscard]] std::string url_at(std::uint16_t port, const std::string& more = {}) const;
  /// The same through its ODBC driver.
  [[nodiscard]] std::string odbc_url() const;
  /// That of the server that takes writes.
  [[nodiscard]] std::uint16_t port() const { return ports_.at(writes_); }

  /// Runs plain SQL on the server that takes writes, in its own session.
  [[nodiscard]] rows sql(const std::string& text) const;

  /// @param how smart, fast or immediate.
  void stop(const std::string& how);
  /// Returns when it accepts connections.
  void start();
  /// Returns when it accepts connections, also if it stopped by itself.
  void revive();
  /// Adds the standby, and lets each commit wait for it.
  void add_standby();
  void stop_standby();
  void start_standby();
  /// Makes the standby the server that takes writes.
  void promote();
  /// Uses this much of the small disk; empty: frees it.
  void fill(const std::string& size);
  /// Makes its clock wrong by this much from now on.
  void set_clock(std::chrono::seconds off);

 private:
  explicit own_postgresql(const std::vector<std::string>& command);
  nlohmann::json order(const std::string& line);
  [[nodiscard]] std::string url_with(const std::string& hosts, const std::string& more) const;

  process helper_;
  std::size_t asked_ = 0;
  std::optional<std::string> missing_;
  std::map<std::string, std::uint16_t> ports_;
  std::string writes_ = "first";
  std::string password_;
  std::string database_ = "tableq";
};

}  // namespace tableq_test
