#include "drivers/transport/file_system.hpp"

#if defined(TABLEQ_LINUX)
#include <sys/vfs.h>
#endif

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <system_error>

namespace tableq::inline v0::drivers {
namespace {

struct shared_one {
  std::uint64_t type;  ///< From linux/magic.h, statfs(2), and the file systems' own sources.
  std::string_view caution;
};

constexpr std::array shared_ones{
    shared_one{0x65735546,
               "the file is on FUSE or virtiofs: sessions of other machines damage it, and so may "
               "those of one machine"},
    shared_one{0x01021997, "the file is on 9p: sessions of other machines damage it"},
    shared_one{0x6969, "the file is on NFS: sessions of other machines damage it"},
    shared_one{0x517B, "the file is on SMB: sessions of other machines damage it"},
    shared_one{0xFF534D42, "the file is on SMB (CIFS): sessions of other machines damage it"},
    shared_one{0xFE534D42, "the file is on SMB: sessions of other machines damage it"},
    shared_one{0x786F4256, "the file is on vboxsf: sessions of other machines damage it"},
    shared_one{0xBACBACBC, "the file is on vmhgfs: sessions of other machines damage it"},
    shared_one{0x7C7C6673, "the file is on prl_fs: sessions of other machines damage it"},
    shared_one{0x5346414F, "the file is on AFS: sessions of other machines damage it"},
    shared_one{0x00C36400, "the file is on Ceph: sessions of other machines damage it"},
    shared_one{0x0BD00BD0, "the file is on Lustre: sessions of other machines damage it"},
    shared_one{0x47504653, "the file is on GPFS: sessions of other machines damage it"},
    shared_one{0x01161970, "the file is on GFS2: sessions of other machines damage it"},
    shared_one{0x7461636F, "the file is on OCFS2: sessions of other machines damage it"},
};

/// By which number the system knows it. Zero: unknown.
std::uint64_t type_of_file_system(const std::string& file) {
#if defined(TABLEQ_LINUX)
  std::error_code failed;
  const auto folder = std::filesystem::absolute(file, failed).parent_path();
  struct statfs found {};
  // The type is a signed number on some machines, of 32 bits everywhere.
  for (const std::string& each : {file, folder.string()}) {
    if (::statfs(each.c_str(), &found) == 0) return static_cast<std::uint32_t>(found.f_type);
  }
#else
  static_cast<void>(file);
#endif
  return 0;
}

}  // namespace

std::string name_from_root(const std::string& file) {
  std::error_code failed;
  auto place = std::filesystem::absolute(file, failed);  // of a new file the next one finds no root
  if (!failed) place = std::filesystem::weakly_canonical(place, failed);
  const std::string out = place.string();
  return failed || out.empty() || out.find('"') != std::string::npos ? file : out;
}

void note_file_system(const std::string& file, capabilities& of) {
  if (file.starts_with("file:")) return;  // Only SQLite can read it.
  const auto* const found =
      std::ranges::find(shared_ones, type_of_file_system(file), &shared_one::type);
  if (found != shared_ones.end()) {
    of.caution = found->caution;
    of.caution_remedy =
        "move it to a disk of this machine, which no other machine or virtual machine shares; "
        "docs/connecting.md";
    return;
  }
  std::error_code none;  // It is made by the first session.
  const auto names = std::filesystem::hard_link_count(file, none);
  if (none || names < 2) return;
  of.caution =
      "the file has a second name, a hard link: sessions that open it by that one damage it, for "
      "SQLite keeps a log beside each name";
  of.caution_remedy =
      "end all programs that use it, then remove the other names (find -samefile); "
      "docs/connecting.md";
}

}  // namespace tableq::inline v0::drivers
