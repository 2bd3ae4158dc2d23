// Preloaded, it leaves no room for nameless files while the file FULL_MEMORY exists.

#include <dlfcn.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>

namespace {

template <class... Parameters>
int refused_or(const char* name, Parameters... with) {
  const char* const sign = std::getenv("FULL_MEMORY");
  if (sign != nullptr && access(sign, F_OK) == 0) {
    errno = ENOSPC;
    return -1;
  }
  return reinterpret_cast<int (*)(Parameters...)>(dlsym(RTLD_NEXT, name))(with...);
}

}  // namespace

extern "C" int memfd_create(const char* name, unsigned flags) {
  return refused_or("memfd_create", name, flags);
}

// On systems without the other.
extern "C" int mkstemp(char* name) {
  return refused_or("mkstemp", name);
}
