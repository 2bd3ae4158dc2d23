#!/bin/bash
# Builds tableq for Windows with MinGW-w64, and runs suites on SQLite under Wine: a port in progress, see docs/install.md.
#
#   scripts/windows.sh [build] [SUITE...]      conformance, model, concurrency without an argument; build: no suite
#
# All goes to build/windows; SOCI and SQLite are built from Debian's source packages.
# Exit status 0 when everything that ran has passed. Wine's own database is build/windows/wine.
set -euo pipefail
cd "$(dirname "$0")/.."
for name; do
  case $name in
    build | conformance | model | concurrency) ;;
    *)
      sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
      exit 2
      ;;
  esac
done
scripts/install_dependencies.sh build test windows
out=$PWD/build/windows
ready=$out/dependencies
mkdir -p "$ready/include" "$ready/lib/pkgconfig" "$ready/share/cmake"
toolchain=(-G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/cmake/mingw.cmake" -DWINDOWS_DEPENDENCIES="$ready"
  -DCMAKE_PREFIX_PATH="$ready" -DCMAKE_INSTALL_PREFIX="$ready")
export PKG_CONFIG_LIBDIR=$ready/lib/pkgconfig

# quietly LOG COMMAND...: shows the log of a command that fails.
quietly() {
  local log=$out/$1.log
  shift
  "$@" >"$log" 2>&1 || {
    tail -n 40 "$log" >&2
    echo "windows.sh: failed: $*" >&2
    exit 1
  }
}

# installed SOURCE NAME OPTION...: a project of CMake, for its use by tableq.
installed() {
  local source=$1 name=$2
  shift 2
  quietly "$name" cmake -S "$source" -B "$out/$name" "${toolchain[@]}" -DCMAKE_BUILD_TYPE=Release "$@"
  quietly "$name" cmake --build "$out/$name" -j "$(nproc)"
  quietly "$name" cmake --install "$out/$name"
}

dependencies() {
  [[ -e $ready/done ]] && return
  local sqlite soci
  soci=$(scripts/debian_source.sh soci "$out/sources")
  sqlite=$(scripts/debian_source.sh sqlite3 "$out/sources")
  mkdir -p "$out/sqlite"
  (
    cd "$out/sqlite"
    quietly sqlite "$sqlite/configure"
    quietly sqlite make sqlite3.c
    quietly sqlite x86_64-w64-mingw32-gcc-posix -O2 -DSQLITE_THREADSAFE=1 -DSQLITE_ENABLE_COLUMN_METADATA -c sqlite3.c
    x86_64-w64-mingw32-ar rcs "$ready/lib/libsqlite3.a" sqlite3.o
    cp sqlite3.h sqlite3ext.h "$ready/include"
  )
  cat >"$ready/lib/pkgconfig/sqlite3.pc" <<END
Name: SQLite
Description: SQLite
Version: $(sed -n 's/^#define SQLITE_VERSION  *"\(.*\)"/\1/p' "$ready/include/sqlite3.h")
Libs: -L$ready/lib -lsqlite3
Cflags: -I$ready/include
END
  installed "$soci" soci -DCMAKE_CXX_STANDARD=11 -DSOCI_CXX11=ON -DSOCI_TESTS=OFF -DSOCI_SHARED=OFF -DSOCI_EMPTY=OFF \
    -DWITH_BOOST=OFF -DWITH_DB2=OFF -DWITH_FIREBIRD=OFF -DWITH_MYSQL=OFF -DWITH_ORACLE=OFF -DWITH_POSTGRESQL=OFF \
    -DWITH_ODBC=ON -DWITH_SQLITE3=ON -DSQLITE3_INCLUDE_DIR="$ready/include" -DSQLITE3_LIBRARY="$ready/lib/libsqlite3.a"
  installed /usr/src/googletest googletest -DCMAKE_CXX_STANDARD=17
  # Headers that are the same on all systems.
  ln -sfn /usr/include/{boost,nlohmann,CLI} "$ready/include/"
  cp -r /usr/share/cmake/{nlohmann_json,CLI11} "$ready/share/cmake/"
  touch "$ready/done"
}

# Left out: tests of ODBC, since Wine's goes to the host's drivers; of files that are deleted or moved while they are open, which
# Windows refuses; of a file without the right to write, which root has under Wine; of relative paths, as Wine's folder of
# temporary files is on another drive.
left_out='*odbc*:lost_file*:address.a_read_only_place*:address.every_form*:enlisted_session.by_another_name*'

# part NAME NUMBER: under Wine, as ctest runs a part. Each takes less than a minute where the machine has nothing else to
# do, and is ended after ten.
part() {
  local status=0 log=$out/$1.run.$2.log
  cd "$out/tests/$1"
  GTEST_SHARD_INDEX=$2 timeout -k 10 600 "$wine" "./$1.exe" --gtest_filter="-$left_out" >"$log" 2>&1 || status=$?
  sed -i 's/\r$//' "$log"
  # Nothing has told the name of a test that did not end.
  ((status < 2)) || echo "windows.sh: $1: part $2: exit status $status in $(sed -n 's/^\[ RUN      \] //p' "$log" | tail -n 1)"
  ((status == 0)) || touch "$out/$1.run.failed"
}

# suite NAME: in twelve parts, some at a time, as tests wait for much of their time.
suite() {
  local status=0 number at_once=$((2 * $(nproc)))
  export WINEPREFIX=$out/wine WINEDEBUG=-all TABLEQ_TEST_REQUIRE=sqlite TZDIR='Z:\usr\share\zoneinfo' GTEST_TOTAL_SHARDS=12
  rm -f "$out/$1".run.*
  for ((number = 0; number < GTEST_TOTAL_SHARDS; ++number)); do
    ((number < at_once)) || wait -n
    (part "$1" "$number") &
  done
  wait
  [[ ! -e $out/$1.run.failed ]] || status=1
  cat "$out/$1".run.*.log | grep '^\[  FAILED  \].* ms)$' || true
  echo "windows.sh: $1: $(cat "$out/$1".run.*.log | awk '/^\[  PASSED  \]/ { all += $4 } END { print all + 0 }') passed," \
    "exit status $status, all of it in $out/$1.run.*.log"
  return "$status"
}

mkdir -p "$out"
dependencies
quietly configure cmake -S . -B "$out" "${toolchain[@]}" -DCMAKE_BUILD_TYPE=RelWithDebInfo \
  -DCMAKE_CXX_FLAGS_RELWITHDEBINFO='-O1 -g0' -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=24 \
  -DTABLEQ_POSTGRESQL=OFF -DTABLEQ_SERVE=OFF -DTABLEQ_C=OFF -DTABLEQ_EXAMPLES=OFF -DTABLEQ_INSTALL=OFF
quietly build cmake --build "$out" -j "$(nproc)"
wine=$(command -v wine64 || echo /usr/lib/wine/wine64)
[[ ${1-} != build ]] || exit 0
(($#)) || set -- conformance model concurrency
failed=0
for name; do
  suite "$name" || failed=1
done
exit "$failed"
