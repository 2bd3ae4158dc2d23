#!/bin/bash
# Builds a static library with SQLite alone, and measures what it adds to a program.
#
#   scripts/embedded.sh        build/embedded/installed has the library, its headers and tableq.pc
#
# The program has tableq, SOCI and SQLite in itself, and needs the C and C++ runtime only. Prints its size, the time of a
# whole run (opens a database in memory, enqueues, dequeues, ends), and the time to compile a file with
# <tableq/tableq.hpp>. The times are processor time, the shortest of several.
set -euo pipefail
if (($#)); then
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
cd "$(dirname "$0")/.."
scripts/install_dependencies.sh build
cmake --preset embedded >/dev/null
cmake --build --preset embedded -j "$(nproc)"
installed=$PWD/build/embedded/installed
rm -rf "$installed"
cmake --install build/embedded --prefix "$installed" >/dev/null
PKG_CONFIG_PATH=$(dirname "$(find "$installed" -name tableq.pc)")
export PKG_CONFIG_PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

cat >program.cpp <<'END'
#include <tableq/tableq.hpp>

int main() {
  auto db = tableq::database::open("sqlite://:memory:");
  auto mail = db.fifo("mail");
  mail.enqueue("hello");
  return mail.dequeue() ? 0 : 1;
}
END
echo 'int main() {}' >empty.cpp
read -ra flags < <(pkg-config --cflags tableq)
read -ra libraries < <(pkg-config --libs tableq)
compiler=("${CXX:-c++}" -std=c++20 -O2 "${flags[@]}")

# shortest TIMES COMMAND...: the shortest processor time of a command in milliseconds, of five samples of TIMES runs.
shortest() {
  local times=$1 best='' spent user system
  shift
  TIMEFORMAT='%3U %3S'
  for _ in 1 2 3 4 5; do
    read -r user system < <({ time for ((i = 0; i < times; i++)); do "$@"; done; } 2>&1)
    spent=$(((10#${user/./} + 10#${system/./}) * 10 / times))
    [[ -n $best ]] && ((spent >= best)) || best=$spent
  done
  echo "$((best / 10)).$((best % 10))"
}

compiles=$(shortest 1 "${compiler[@]}" -c program.cpp)
empty=$(shortest 1 "${compiler[@]}" -c empty.cpp -o empty.o)
# -static-libstdc++ would add the runtime.
"${compiler[@]}" program.o -o program -s -Wl,--gc-sections -Wl,-Bstatic "${libraries[@]}" -Wl,-Bdynamic -ldl -lm
"${compiler[@]}" empty.o -o empty -s
"${compiler[@]}" -x c++ - -o sqlite -s -Wl,--gc-sections -Wl,-Bstatic -lsqlite3 -Wl,-Bdynamic -lm -ldl -lpthread <<'END'
extern "C" int sqlite3_open(const char*, void**);
int main() { void* db; return sqlite3_open(":memory:", &db); }
END
runs=$(shortest 50 ./program)
nothing=$(shortest 50 ./empty)
cat <<END
program with tableq, SOCI and SQLite: $(($(stat -c %s program) / 1024)) KiB; with SQLite alone: $(($(stat -c %s sqlite) / 1024)) KiB
its whole run: $runs ms; of an empty program: $nothing ms
compiling a file with <tableq/tableq.hpp>: $compiles ms; an empty file: $empty ms
END
ldd program | awk '{print $1}' | grep -vE 'linux-vdso|ld-linux|libstdc|libm\.|libgcc_s|libc\.' && {
  echo "embedded.sh: the program needs a library more" >&2
  exit 1
}
exit 0
