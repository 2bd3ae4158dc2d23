#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include <soci/soci.h>

#include <tableq/unstable/dialect.hpp>

#include "core/input/connection_string.hpp"
#include "core/seam/contract.hpp"
#include "core/seam/value.hpp"
#include "drivers/text.hpp"
#include "drivers/transport.hpp"
#include "support/fixture.hpp"

namespace tableq_test {

/// One parameter or column, `v`.
inline constexpr std::array text_field{tableq::core::field{"v", tableq::core::value_type::text}};
inline constexpr std::array bytes_field{tableq::core::field{"v", tableq::core::value_type::bytes}};

/// A session of a transport, opened as tableq's own sessions are.
class opened_transport {
 public:
  explicit opened_transport(const std::string& url) {
    const tableq::connection_url parsed = tableq::core::parse_connection_string(url);
    for (const std::string& name : tableq::dialects()) {
      const tableq::dialect one = tableq::find_dialect(name);
      for (const std::string& scheme : one.schemes) {
        if (scheme != parsed.scheme) continue;
        kind = tableq::drivers::find_transport(one.transport);
        at = one.resolve(one, parsed);
        definition = one;
      }
    }
    if (parsed.scheme == "odbc") {
      kind = tableq::drivers::find_transport("odbc");
      at.connect = url.substr(std::string("odbc://").size());
      // The database object has the name of its dialect.
      definition = tableq::find_dialect(tableq::database::open(url).backend());
    }
    at.wide_text = definition.wide_text;
    at.prepares = definition.prepares;
    at.setup.insert(at.setup.begin(), definition.setup.begin(), definition.setup.end());
    session = kind->open(at);
    executor = kind->attach({.soci = session.get()}, at, false);
  }

  tableq::endpoint at;
  tableq::dialect definition;
  const tableq::drivers::transport_kind* kind = nullptr;
  std::unique_ptr<soci::session> session;
  std::unique_ptr<tableq::drivers::transport> executor;

  /// Prepares a text with `:name` parameters, all shared.
  [[nodiscard]] std::unique_ptr<tableq::drivers::prepared> prepare(
      std::string_view sql, std::span<const tableq::core::field> shared,
      std::span<const tableq::core::field> columns, bool keep = true) const {
    const tableq::core::contract of{.id = tableq::core::statement::catalog_lock,
                                    .name = "test",
                                    .writes = true,
                                    .shared = shared,
                                    .columns = columns};
    return executor->prepare(tableq::drivers::compile(sql, of, {.markers = kind->markers}), keep);
  }

  /// Runs a statement without parameters that returns integers.
  [[nodiscard]] std::int64_t integer(std::string_view sql) const {
    constexpr tableq::core::field number{"number", tableq::core::value_type::integer};
    tableq::core::row_set found(1);
    prepare(sql, {}, {&number, 1}, false)->run({}, found);
    return found.integer(0, 0);
  }
};

/// One integer, as parameter or result.
inline constexpr std::array a_number{tableq::core::field{"v", tableq::core::value_type::integer}};

/// A test with a session of a transport on the backend's place.
class on_each_transport : public on_each_backend {
 protected:
  void SetUp() override {
    on_each_backend::SetUp();
    if (!IsSkipped()) at_.emplace(here().url());
  }
  void TearDown() override {
    at_.reset();
    on_each_backend::TearDown();
  }
  [[nodiscard]] const opened_transport& at() const { return *at_; }
  [[nodiscard]] tableq::drivers::transport& executor() const { return *at_->executor; }

  /// The integer that a statement without parameters returns.
  static std::int64_t run(tableq::drivers::prepared& what) {
    tableq::core::row_set found(1);
    what.run({}, found);
    return found.integer(0, 0);
  }

 private:
  std::optional<opened_transport> at_;
};

/// The exception of a transport; empty without one.
template <class F>
std::optional<tableq::native_error> native_failure_of(F&& call) {
  try {
    call();
    return {};
  } catch (const tableq::drivers::native_failure& failure) {
    return failure.details();
  }
}

}  // namespace tableq_test
