#include "drivers/one_soci.hpp"

#include <soci/soci.h>
#include <soci/version.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <string>

#include <tableq/error.hpp>

namespace tableq::inline v0::drivers {
namespace {

/// Room for a session of any SOCI.
struct room {
  static constexpr std::size_t spare = 4096;
  alignas(soci::session) std::array<std::uint8_t, sizeof(soci::session) + spare> bytes;
};

/// Whether the constructor that is linked writes a session as long as the headers say. A shorter
/// one leaves more bytes than those that align its members.
bool constructor_fits() {
  std::size_t end = 0;
  // A byte that it writes may have one of the two values before.
  for (const auto before : {std::uint8_t{0}, std::uint8_t{255}}) {
    auto place = std::make_unique<room>();
    place->bytes.fill(before);
    auto* const made = new (place->bytes.data()) soci::session;
    const auto last = std::find_if(place->bytes.rbegin(), place->bytes.rend(),
                                   [&](std::uint8_t each) { return each != before; });
    end = std::max(end, static_cast<std::size_t>(place->bytes.rend() - last));
    if (end > sizeof(soci::session)) {
      // No destructor fits it either.
      static_cast<void>(place.release());
      return false;
    }
    made->~session();
  }
  return end + alignof(soci::session) > sizeof(soci::session);
}

}  // namespace

void check_one_soci() {
  static const bool fits = constructor_fits();
  if (fits) return;
  constexpr int series = SOCI_VERSION / 100;
  throw error(errc::unsupported, advice::never,
              "the program is linked with another SOCI than " + std::to_string(series / 1000) +
                  "." + std::to_string(series % 1000) +
                  ", with which tableq was built, and both in one would damage memory: use one "
                  "SOCI for both, or tableq as a shared library (docs/drivers.md, One SOCI)",
              {.operation = "connect"});
}

}  // namespace tableq::inline v0::drivers
