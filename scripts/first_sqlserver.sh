#!/bin/bash
# Checks everything that only a real SQL Server can show, and writes one file to send.
#
#   scripts/first_sqlserver.sh [URL] [--accept-licence] [--output FILE] [--seconds N] [--minutes N] [--filter PATTERN]
#                              [--build DIR]
#
#   URL               sqlserver://user:password@host/database?...; without it TABLEQ_TEST_SQLSERVER, which
#                     other users of this machine cannot see
#   --accept-licence  you accept the licence of Microsoft's ODBC driver, which is fetched for this run: see
#                     scripts/microsoft_odbc.sh. An address without driver= then takes it, and otherwise the newest
#                     of Microsoft's drivers on this machine, or FreeTDS.
#   --output FILE     the report (first_sqlserver.txt)
#   --seconds N       for the readers on two layouts (60)
#   --minutes N       the longest time for each test suite (30)
#   --filter PATTERN  of googletest, for the suites (*sqlserver*)
#   --build DIR       programs that are built already; without it they are built here
#
# A login that finds its database starting is tried again for two minutes. Connection and driver, version and settings,
# tables, `doctor`, every statement once with its plan, 16 readers on two layouts, and the suites conformance,
# concurrency and plan. Each failure is a finding in the report, and the next step follows. Everything is in one schema, which is dropped at the end, also after an interrupt; only the
# suites need databases of their own, and are left out where the login may not create them, as in Azure SQL Database.
# The report has no password, user, host, database's name or payload.
# Exit status 0 if the report was written, whatever it says.
set -uo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
url=${TABLEQ_TEST_SQLSERVER-}
output=first_sqlserver.txt seconds=60 minutes=30 filter='*sqlserver*' build='' licence=''
refuse() {
  echo "first_sqlserver.sh: $1 (see --help)" >&2
  exit 2
}
while (($#)); do
  case $1 in
    -h | --help) sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p;}' "$0" && exit ;;
    --accept-licence) licence=$1 ;;
    --output | --seconds | --minutes | --filter | --build)
      (($# > 1)) || refuse "$1 needs a value"
      printf -v "${1#--}" '%s' "$2"
      shift
      ;;
    sqlserver://* | mssql://*) url=$1 ;;
    *://*) refuse 'an address begins with sqlserver:// here, in small letters; odbc:// is not taken' ;;
    # Not shown: it may be an address with a password.
    *) refuse 'an argument is neither an address nor known' ;;
  esac
  shift
done
[[ -n $url ]] || refuse 'no address: put it into TABLEQ_TEST_SQLSERVER, or give it as the argument'
[[ $url == sqlserver://* || $url == mssql://* ]] || refuse 'the address in TABLEQ_TEST_SQLSERVER begins with sqlserver://'
[[ $seconds =~ ^[0-9]+$ ]] || refuse '--seconds takes a whole number, such as 60'
[[ $minutes =~ ^[1-9][0-9]*$ ]] || refuse '--minutes takes a whole number from 1, such as 30'
export TABLEQ_TEST_SQLSERVER=$url

# Before the build, which takes long.
{ : >"$output"; } 2>/dev/null || refuse 'cannot write the report; give another --output'
output=$(cd "$(dirname "$output")" && pwd)/$(basename "$output")
work=$(mktemp -d "${TMPDIR:-/tmp}/tableq-first.XXXXXX") || exit 1
trap 'rm -rf "$work" "$output"' EXIT

build_all() {
  cd "$root" && scripts/install_dependencies.sh build test && cmake --preset dev &&
    cmake --build --preset dev --target tableq_first_sqlserver conformance concurrency plan
}
if [[ -z $build ]]; then
  build=$root/build/dev
  echo "first_sqlserver.sh: building (once)" >&2
  if ! (build_all) >"$work/build.log" 2>&1; then
    tail -n 40 "$work/build.log" >&2
    exit 1
  fi
fi
if [[ -n $licence ]]; then
  "$root/scripts/install_dependencies.sh" microsoft || exit 1
  settings=$("$root/scripts/microsoft_odbc.sh" "$licence") || exit 1
  eval "$settings"
fi
program=$build/tests/first/tableq_first_sqlserver
schema=tableq_first_$(date +%s)_$$
[[ -x $program ]] || refuse "no program $program; leave out --build, or name the folder of a build"
commit=$(git -C "$root" rev-parse --short HEAD 2>/dev/null || echo unknown)
# Refuses an address that cannot be read.
"$program" note "$output" tableq "commit $commit, $(date -u +%F)" || exit 2

child=
# Nothing is in the database before the first login.
unreached=1
# shellcheck disable=SC2317  # Called by the trap.
finish() {
  trap '' INT TERM
  trap - EXIT
  [[ -n $unreached ]] || echo "first_sqlserver.sh: cleaning up, two minutes at most" >&2
  if [[ -n $child ]] && kill -0 "$child" 2>/dev/null; then
    kill -TERM -- "-$child" 2>/dev/null
    wait "$child" 2>/dev/null
    (($? == 3)) && unreached=1
    "$program" note "$output" interrupt 'the run was interrupted'
  fi
  [[ -n $unreached ]] || timeout 120 "$program" clean "$output" "$schema" ||
    "$program" note "$output" 'clean up' "ended early: the schema $schema may be left"
  "$program" end "$output"
  rm -rf "$work"
  echo "first_sqlserver.sh: $output" >&2
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# In a process group of its own, so that an interrupt ends it with all its processes.
in_group() {
  local status=0
  set -m
  "$@" &
  child=$!
  set +m
  wait "$child" || status=$?
  child=
  return "$status"
}

unreached=
in_group timeout -k 30 $((minutes * 60 + seconds)) "$program" run "$output" "$schema" "$seconds"
status=$?
case $status in
  0) ;;
  3)
    unreached=1
    sed -n 's/^  FINDING /first_sqlserver.sh: /p' "$output" >&2
    exit 0
    ;;
  4)
    "$program" note "$output" suites 'left out: the login may not create databases, or the server cannot be reached'
    exit 0
    ;;
  *) "$program" note "$output" run "the program ended with status $status" ;;
esac
for suite in conformance concurrency plan; do
  in_group env TABLEQ_TEST_REQUIRE=sqlserver timeout -k 30 $((minutes * 60)) \
    "$build/tests/$suite/$suite" --gtest_brief=1 --gtest_filter="$filter" >"$work/$suite.log" 2>&1
  status=$?
  # Failures, and then counts; a log without an end is of a suite that ran out of time, 124, or crashed.
  { tail -n 2000 "$work/$suite.log"; echo "exit status $status"; } | "$program" lines "$output" "suite $suite"
done
exit 0
