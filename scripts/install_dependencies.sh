#!/bin/bash
# Installs missing Debian packages.
#
#   scripts/install_dependencies.sh [build] [postgresql] [patroni] [odbc] [test] [browser] [microsoft] [lint] [clang] [fuzz] [packages] [docs] [windows]
#
# build: the library and the command (the default). postgresql: the server for with_postgresql.sh. patroni: for
# with_patroni.sh. odbc: the driver of PostgreSQL. test, lint, fuzz, packages: the packages of tests, linters, fuzzers, and of
# scripts/packages.sh. browser: node, npm and Chromium, for tests/serve. clang: the compiler of scripts/test.sh --clang.
# microsoft: what Microsoft's ODBC driver and parser need, without these. windows: MinGW-w64 and Wine, for scripts/windows.sh.
# Uses sudo unless run as root.
set -euo pipefail

wanted=()
for group in "${@:-build}"; do
  case $group in
    build) wanted+=(g++ cmake ninja-build pkg-config libsoci-dev libsqlite3-dev libpq-dev
      unixodbc-dev libboost-dev libcli11-dev nlohmann-json3-dev) ;;
    postgresql) wanted+=(postgresql) ;;
    patroni) wanted+=(postgresql patroni python3-etcd etcd-server python3 util-linux) ;;
    odbc) wanted+=(odbcinst odbc-postgresql) ;;
    test) wanted+=(libgtest-dev libgmock-dev python3 sqlite3 postgresql-client
      odbcinst odbc-postgresql libsqliteodbc tdsodbc pgbouncer openssl libpqxx-dev libsqlitecpp-dev
      python3-pip python3-pytest python3-psycopg python3-psycopg2 python3-asyncpg python3-aiosqlite
      python3-django python3-sqlalchemy mypy zsh fish libasio-dev) ;;
    windows) wanted+=(g++-mingw-w64-x86-64-posix wine wine64 tcl dpkg-dev) ;;
    docs) wanted+=(python3 cmark-gfm doxygen) ;;
    packages) wanted+=(python3 file fakeroot dpkg-dev lintian mmdebstrap) ;;
    microsoft)
      wanted+=(python3 libicu-dev libltdl7 libkrb5-3 libgssapi-krb5-2)
      python3 -m pip --version >/dev/null 2>&1 || wanted+=(python3-pip)
      ;;
    browser)
      wanted+=(chromium fonts-dejavu-core fonts-liberation)
      command -v node >/dev/null || wanted+=(nodejs)
      command -v npm >/dev/null || wanted+=(npm)
      ;;
    fuzz) wanted+=(clang-14 libclang-rt-14-dev libfuzzer-14-dev) ;;
    clang) wanted+=(clang-14) ;;
    lint) wanted+=(clang-format-14 clang-tidy-14 doxygen python3) ;;
    *)
      echo "install_dependencies.sh: unknown group: $group" >&2
      exit 2
      ;;
  esac
done

missing=()
for package in "${wanted[@]}"; do
  # The status is "install ok installed" or "hold ok installed".
  status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null) || status=
  [[ $status == *" ok installed" ]] || missing+=("$package")
done
((${#missing[@]})) || exit 0

as_root=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "install_dependencies.sh: neither root nor sudo; install these: ${missing[*]}" >&2
    exit 1
  fi
  as_root=(sudo)
fi

log=$(mktemp)
trap 'rm -f "$log"' EXIT
quietly() {
  if ! "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive "$@" >"$log" 2>&1; then
    cat "$log" >&2
    echo "install_dependencies.sh: failed: $*" >&2
    exit 1
  fi
}

echo "Installing: ${missing[*]}" >&2
quietly apt-get update
quietly apt-get install -y --no-install-recommends "${missing[@]}"
