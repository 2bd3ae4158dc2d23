#!/bin/bash
# Installs the packages beside this file into a clean Debian, uses each, and removes them. scripts/packages.sh runs it.
set -euo pipefail
cd /try
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
quietly() {
  "$@" >log 2>&1 || {
    cat log >&2
    echo "try_packages.sh: failed: $*" >&2
    exit 1
  }
}
installed() {
  dpkg-query -W -f '${Package} ${Status}\n' '*tableq*' 2>/dev/null | grep -c ' installed$' || true
}

# A newer version replaces an older one: what only that had goes.
dpkg-deb -R libtableq0_*.deb older
sed -i 's/^Version: .*/Version: 0.0.1-1/' older/DEBIAN/control
touch older/usr/share/doc/libtableq0/only-in-the-older
quietly dpkg-deb -b older older.deb
quietly apt-get install -y --no-install-recommends ./older.deb
quietly test -e /usr/share/doc/libtableq0/only-in-the-older

# A library alone brings all that it needs.
quietly apt-get install -y --no-install-recommends ./libtableq0_*.deb
(($(installed) == 1))
quietly test ! -e /usr/share/doc/libtableq0/only-in-the-older
quietly dpkg --verify libtableq0
quietly apt-get install -y --no-install-recommends ./tableq_*.deb ./libtableq-cpp*.deb ./python3-tableq_*.deb
if ldd /usr/bin/tableq /usr/lib/*/libtableq*.so* | grep 'not found'; then exit 1; fi

# The command: a message, and workers of which one is killed.
export TABLEQ_DB=sqlite:///try/jobs.db
quietly tableq create claim jobs
quietly tableq enqueue jobs hello
quietly tableq work jobs --until-empty -- grep -q '^hello$'
quietly ./quickstart.sh --command /usr/bin/tableq --files /usr/share/doc
quietly test -e /usr/share/man/man1/tableq-enqueue.1.gz
quietly bash -ec 'source /usr/share/bash-completion/completions/tableq; COMP_WORDS=(tableq enq); COMP_CWORD=1; _tableq
  [[ ${COMPREPLY[*]} == enqueue ]]'

# Python, as the one who runs it and as pip sees it.
quietly python3 -c '
import importlib.metadata, tableq
assert importlib.metadata.version("tableq")
with tableq.open("sqlite:///try/python.db") as db:
    jobs = db.claim("jobs")
    jobs.put(b"a")
    assert jobs.take_one(wait=1).complete()
'

# Headers: C and C++ by pkg-config, C++ by CMake.
quietly apt-get install -y --no-install-recommends ./libtableq-dev_*.deb gcc g++ libc6-dev pkg-config cmake make
# shellcheck disable=SC2046  # Words.
quietly gcc -std=c99 -D_POSIX_C_SOURCE=200809L c_worker.c -o c_worker $(pkg-config --cflags --libs tableq-c)
quietly ./c_worker sqlite:///try/c.db
# shellcheck disable=SC2046
quietly g++ -std=c++20 main.cpp -o main $(pkg-config --cflags --libs tableq)
quietly ./main
cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.22)
project(try LANGUAGES CXX)
find_package(tableq REQUIRED CONFIG)
add_executable(try main.cpp)
target_link_libraries(try PRIVATE tableq::tableq)
END
quietly cmake -S . -B build
quietly cmake --build build
quietly build/try

quietly apt-get purge -y '*tableq*'
(($(installed) == 0))
left=$(find /usr /etc /var/lib/python3 -path '*tableq*' 2>/dev/null || true)
[[ -z $left ]] || {
  echo "try_packages.sh: left after the removal: $left" >&2
  exit 1
}
