#include "drivers/transport/other_sqlite.hpp"

#include <algorithm>
#include <exception>
#include <map>
#include <utility>
#include <vector>

#include "core/base/process.hpp"
#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {
namespace {

using descriptors = std::vector<int>;

/// Free in a child of fork(). Made after prepare_sqlite_for_forks(), so that a fork takes it before
/// the mutexes of SQLite, as an opening does.
std::mutex& opening() {
  static std::mutex one;
  static const int registered =
      core::at_fork([] { one.lock(); }, [] { one.unlock(); }, [] { one.unlock(); });
  static_cast<void>(registered);
  return one;
}
/// Those of sessions, at the end of the last opening. A number that is another file's meanwhile is
/// not found there. Guarded by opening(). Never destroyed: static objects may hold databases.
std::map<file_identity, descriptors>& known_descriptors() {
  static auto* const made = new std::map<file_identity, descriptors>;
  return *made;
}

}  // namespace

only_sqlite::only_sqlite(std::string file) : hold_(opening()), file_(std::move(file)) {
  const file_identity found = identity_of_file(file_);
  const auto open = descriptors_on(found);
  if (!open) {
    throw native_failure::judged_as(
        {errc::unsupported, advice::never},
        "this system does not tell which files a process has open; leave other_sqlite=refuse out, "
        "and use one libsqlite3 in the process");
  }
  if (found == file_identity()) return;  // none has it open
  const descriptors& ours = known_descriptors()[found];
  for (const int each : *open) {
    if (std::find(ours.begin(), ours.end(), each) != ours.end()) continue;
    throw native_failure::judged_as(
        {errc::unsupported, advice::never},
        "another SQLite, or other code, of this process has " + file_ +
            " open, and what it closes drops the locks of this one; close it first, or use one "
            "libsqlite3 for both");
  }
}

void only_sqlite::closed(const file_identity& file) noexcept {
  try {
    const std::scoped_lock hold(opening());
    const auto known = known_descriptors().find(file);
    const auto open = descriptors_on(file);
    if (known == known_descriptors().end() || !open) return;
    std::erase_if(known->second, [&](int each) {
      return std::find(open->begin(), open->end(), each) == open->end();
    });
    if (known->second.empty()) known_descriptors().erase(known);
  } catch (const std::exception&) {
    // noexcept: without memory a number may stay known.
  }
}

only_sqlite::~only_sqlite() {
  try {
    const file_identity found = identity_of_file(file_);
    auto open = descriptors_on(found);
    if (open && found != file_identity()) {
      known_descriptors()[found] = *std::move(open);
    }
  } catch (const std::exception&) {
    // A destructor must not throw. Without memory the next opening refuses the file.
  }
}

}  // namespace tableq::inline v0::drivers
