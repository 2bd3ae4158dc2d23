#include "machine.hpp"

#include <fcntl.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <tableq/version.hpp>

#include "statistics.hpp"

namespace bench {

namespace {

std::string file_system(const std::string& directory) {
  struct statfs found {};
  if (::statfs(directory.c_str(), &found) != 0) return "unknown";
  switch (static_cast<unsigned long>(found.f_type)) {
    case 0xEF53:
      return "ext4";
    case 0x01021994:
      return "tmpfs";
    case 0x58465342:
      return "xfs";
    case 0x9123683E:
      return "btrfs";
    case 0x794C7630:
      return "overlayfs";
    default:
      break;
  }
  char text[32];
  std::snprintf(text, sizeof text, "0x%lx", static_cast<unsigned long>(found.f_type));
  return text;
}

/// Microseconds to append 4 KiB and force them to the disk.
double fsync_time(const std::string& directory) {
  std::string name = directory + "/tableq-bench-XXXXXX";
  const int file = ::mkstemp(name.data());
  if (file == -1) return 0;
  ::unlink(name.c_str());
  const std::string page(4096, 'x');
  std::vector<double> times;
  for (int i = 0; i < 50; ++i) {
    const auto before = std::chrono::steady_clock::now();
    if (::write(file, page.data(), page.size()) < 0 || ::fdatasync(file) != 0) break;
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before)
            .count());
  }
  ::close(file);
  return median(times);
}

}  // namespace

json machine(const settings& how, raw_database& raw) {
  json out;
  out["processors"] = std::thread::hardware_concurrency();
  out["memory_mib"] = ::sysconf(_SC_PHYS_PAGES) * (::sysconf(_SC_PAGE_SIZE) / 1024) / 1024;
  utsname kernel{};
  ::uname(&kernel);
  out["kernel"] = std::string(kernel.sysname) + ' ' + kernel.release + ' ' + kernel.machine;
  out["file_system"] = file_system(how.directory);
  out["fdatasync_us"] = static_cast<long>(fsync_time(how.directory));
  out["tableq"] = std::to_string(TABLEQ_VERSION_MAJOR) + '.' +
                  std::to_string(TABLEQ_VERSION_MINOR) + '.' + std::to_string(TABLEQ_VERSION_PATCH);
#ifdef __VERSION__
  out["compiler"] = __VERSION__;
#endif
#ifdef NDEBUG
  out["build"] = "release";
#else
  out["build"] = "not for measuring: assertions are on";
#endif
  out.update(raw.describe());
  return out;
}

}  // namespace bench
