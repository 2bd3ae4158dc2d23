#include "drivers/opening.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <soci/soci.h>
#include <soci/version.h>

#include <tableq/error.hpp>

#include "drivers/faulty_transport.hpp"

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

/// Runs `open()`, which connects a session.
template <class Open>
auto connecting(const dialect_texts& texts, const session_share* share, Open open) {
  if (share != nullptr) refuse_to_connect(texts, share->file.complaint());
  try {
    return open();
  } catch (const native_failure& failure) {
    // The file may have gone while it was opened.
    if (share != nullptr) refuse_to_connect(texts, share->file.complaint());
    auto [native, means] = judge(texts.definition, failure);
    if (!failure.judged() && means.code != errc::internal) {
      native.sentence += number_of_refusal(native);
    }
    if (ends_session(means) || means.code == errc::internal) {
      means = {errc::connection_failed, advice::session};
      // Told of a statement, a time-out would leave open what it has changed.
      if (native.sqlstate.starts_with("HYT0")) {
        native.sentence =
            "the server did not answer the login in time; check host, port and firewall, then its "
            "load";
      }
    }
    throw error(means.code, means.advice, native.sentence,
                {texts.definition.name, "connect", native.sqlstate, native.number});
  }
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

bool fits(const transport_kind& kind, const core::any_session& session, const dialect& definition) {
  const bool of_kind =
      session.soci == nullptr
          ? session.client == kind.name && session.handle != nullptr
          : session.soci->get_backend() != nullptr &&
                // By name: the library does not export the class's type information.
                session.soci->get_backend_name() == kind.backend;
  return of_kind && (kind.fits == nullptr || kind.fits(session, definition));
}

judged_failure judge(const dialect& definition, const native_failure& failure, std::size_t sent,
                     std::string_view table) {
  if (failure.judged()) return {failure.details(), *failure.judged()};
  native_error first = failure.details();
  first.sent = sent;
  first.table = table;
  judged_failure out{first, definition.classify(first)};
  for (native_error other : failure.more()) {
    if (out.means.code != errc::internal) break;
    other.sent = sent;
    other.table = table;
    const verdict means = definition.classify(other);
    if (means.code != errc::internal) out = {other, means};
  }
  if (!out.means.sentence.empty()) out.native.sentence = out.means.sentence;
  if (out.native.sentence.empty()) {
    out.native.sentence = "the database refused it; its log has the words, which may hold data";
  }
  if (out.means.code == errc::internal && out.native.number != 0) {
    out.native.sentence += " (number " + std::to_string(out.native.number) + ")";
  }
  if (out.means.code == errc::storage_full && out.means.sentence.empty()) {
    out.native.sentence += "; make room where the database keeps it, then call again";
  }
  return out;
}

std::string number_of_refusal(const native_error& what) {
  constexpr int of_programs = 50'000;  // THROW gives them, as in setup.sql
  if (!refused_by_server(what.sqlstate) || what.number == 0 || what.number >= of_programs)
    return {};
  return " (number " + std::to_string(what.number) + ")";
}

void refuse_to_connect(const dialect_texts& texts, const std::string& complaint) {
  if (complaint.empty()) return;
  throw error(errc::not_found, advice::never, complaint, {texts.definition.name, "connect"});
}

std::unique_ptr<soci::session> open_session(const dialect_texts& texts, const endpoint& address,
                                            core::fault_plan* faults, const session_share* share) {
  return connecting(texts, share, [&] {
    return faults == nullptr ? texts.transport->open(address)
                             : open_with_faults(*texts.transport, address, *faults);
  });
}

std::unique_ptr<transport> attach(const dialect_texts& texts, const endpoint& address,
                                  const core::any_session& session, bool callers,
                                  std::shared_ptr<core::fault_plan> faults) {
  auto made = texts.transport->attach(session, address, callers);
  if (faults == nullptr) return made;
  return with_faults(std::move(made), session, texts.definition, std::move(faults));
}

void open_callers(const dialect_texts& texts, const endpoint& address, const session_share& share,
                  soci::session& session) {
  const auto refuse = [&](errc code, const std::string& sentence) {
    throw error(code, advice::never, sentence,
                {.backend = texts.definition.name, .operation = "open_session"});
  };
  if (session.get_backend() != nullptr) {
    refuse(errc::invalid_argument, "the session is open; close it first, or give another one");
  }
  const session_place place = share.place.get();
  if (place.exclusive && place.name.empty()) {
    refuse(errc::unsupported,
           "no other session can reach a database in memory; open a file in a temporary directory");
  }
  connecting(texts, &share, [&] {
    try {
      texts.transport->open_callers(session, address);
    } catch (...) {  // It stays closed; the exception continues unchanged.
      if (session.get_backend() != nullptr) session.close();
      throw;
    }
  });
}

}  // namespace tableq::inline v0::drivers
