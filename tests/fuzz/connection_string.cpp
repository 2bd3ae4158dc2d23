// Connection strings: any input gives an address or a tableq::error, without any part of a
// password.

#include <libpq-fe.h>

#include <chrono>
#include <memory>

#include <tableq/error.hpp>
#include <tableq/unstable/dialect.hpp>

#include "core/input/connection_string.hpp"

#include "drivers/transport/odbc_address.hpp"
#include "drivers/transport/odbc_tds.hpp"
#include "fuzz/check.hpp"

namespace {

using namespace tableq_fuzz;  // NOLINT(google-build-using-namespace): the targets' own vocabulary

void expect_libpq_reads(const std::string& connect) {
  struct closer {
    void operator()(PQconninfoOption* all) const noexcept { PQconninfoFree(all); }
  };
  const std::unique_ptr<PQconninfoOption, closer> all(PQconninfoParse(connect.c_str(), nullptr));
  must(all != nullptr, "libpq reads the address that was made for it");
}

/// @param secret stands for the input's `#`.
template <class Call>
void guarded(Call&& call, std::string_view secret) {
  try {
    call();
  } catch (const tableq::error& refused) {
    const std::string_view said = refused.what();
    // A key is shown, cut at 40 characters.
    must(said.find('`') != std::string_view::npos || said.find(secret) == std::string_view::npos,
         "no value of an address is in an error");
  }
}

void resolve(const tableq::dialect& definition, const std::string& url, std::string_view secret) {
  guarded(
      [&] {
        const tableq::connection_url parsed = tableq::core::parse_connection_string(url);
        const tableq::endpoint at = definition.resolve(definition, parsed);
        if (definition.transport == "libpq") expect_libpq_reads(at.connect);
      },
      secret);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const tableq::dialect sqlite = tableq::find_dialect("sqlite");
  static const tableq::dialect postgresql = tableq::find_dialect("postgresql");
  const std::string_view secret = "S3cr3t-w0rd";
  std::string rest(text_of(data, size));
  for (std::size_t at = 0; (at = rest.find('#', at)) != std::string::npos; at += secret.size()) {
    rest.replace(at, 1, secret);
  }
  guarded([&] { static_cast<void>(tableq::core::parse_connection_string(rest)); }, secret);
  resolve(sqlite, "sqlite://" + rest, secret);
  resolve(sqlite, "sqlite3://" + rest, secret);
  resolve(postgresql, "postgresql://" + rest, secret);
  resolve(postgresql, "postgresql://u:" + std::string(secret) + "@" + rest, secret);
  namespace odbc = tableq::drivers::odbc;
  for (const char* driver : {"FreeTDS", "ODBC Driver 18 for SQL Server"}) {
    for (const std::string& url : {"sqlserver://" + rest, "sqlserver://u:#@h/" + rest}) {
      guarded(
          [&] {
            static_cast<void>(odbc::resolve_tds(tableq::core::parse_connection_string(url),
                                                "sqlserver", {driver}));
          },
          secret);
    }
  }
  guarded(
      [&] {
        static_cast<void>(
            odbc::raw_connection_string(tableq::core::parse_connection_string("odbc://" + rest)));
      },
      secret);
  guarded(
      [&] {
        static_cast<void>(tableq::core::parse_duration("key", rest, {}, std::chrono::hours{1}));
      },
      secret);
  return 0;
}
