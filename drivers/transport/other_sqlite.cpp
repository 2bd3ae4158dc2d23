#include "drivers/transport/other_sqlite.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <map>
#include <system_error>
#include <utility>
#include <vector>

#include "drivers/transport.hpp"

namespace tableq::inline v0::drivers {
namespace {

using file_number = std::pair<std::uint64_t, std::uint64_t>;  // device and node
using descriptors = std::vector<int>;

std::mutex& opening() {
  static std::mutex one;
  return one;
}
/// Those of sessions, at the end of the last opening. A number that is another file's meanwhile is
/// not found there. Guarded by opening(). Never destroyed: static objects may hold databases.
std::map<file_number, descriptors>& known_descriptors() {
  static auto* const made = new std::map<file_number, descriptors>;
  return *made;
}

file_number file_number_of(const struct stat& found) {
  return {found.st_dev, found.st_ino};
}

/// The descriptors of this process on the file. Opens none of its own on it: to close one would
/// drop the locks.
descriptors descriptors_on(const file_number& file) {
  descriptors out;
  std::error_code failed;
  std::filesystem::directory_iterator each("/proc/self/fd", failed);
  for (; !failed && each != std::filesystem::directory_iterator(); each.increment(failed)) {
    const std::string name = each->path().filename().string();
    int descriptor = -1;
    std::from_chars(name.data(), name.data() + name.size(), descriptor);
    struct stat found {};
    if (::fstat(descriptor, &found) == 0 && file_number_of(found) == file)
      out.push_back(descriptor);
  }
  return out;
}

}  // namespace

only_sqlite::only_sqlite(std::string file) : hold_(opening()), file_(std::move(file)) {
  struct stat found {};
  if (::stat(file_.c_str(), &found) != 0) return;  // none has it open
  const file_number number = file_number_of(found);
  const descriptors& ours = known_descriptors()[number];
  for (const int each : descriptors_on(number)) {
    if (std::find(ours.begin(), ours.end(), each) != ours.end()) continue;
    throw native_failure::judged_as(
        {errc::unsupported, advice::never},
        "another SQLite, or other code, of this process has " + file_ +
            " open, and what it closes drops the locks of this one; close it first, or use one "
            "libsqlite3 for both");
  }
}

only_sqlite::~only_sqlite() {
  try {
    struct stat found {};
    if (::stat(file_.c_str(), &found) != 0) return;
    const file_number number = file_number_of(found);
    known_descriptors()[number] = descriptors_on(number);
  } catch (const std::exception&) {
    // A destructor must not throw. Without memory the next opening refuses the file.
  }
}

}  // namespace tableq::inline v0::drivers
