#!/bin/bash
# Runs test suites on the server of TABLEQ_TEST_SQLSERVER, and prints what failed outside of a list of known lacks.
#
#   scripts/sqlserver_suites.sh [--lacks FILE] [--filter PATTERN] [--sample N SEED] [--jobs N] [--build DIR] [SUITE...]
#
#   SUITE             a folder of tests, or FOLDER/PROGRAM; conformance, model, concurrency and move/moves, if none is given
#   --lacks FILE      tests/sqlserver_lacks.txt, for an engine that speaks T-SQL; /dev/null for a SQL Server
#   --filter PATTERN  of googletest
#   --sample N SEED   only N of these tests, which SEED chooses
#   --jobs N          tests at a time (4)
#   --build DIR       build/dev
#
# Each test is a process of its own: a crash is one failure, and so is a test of more than ten minutes. Exit status 0 if
# tests passed and none failed outside of the list.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
build=$root/build/dev
lacks=$root/tests/sqlserver_lacks.txt
jobs=4 filter='*' sample='' seed=''
suites=()
while (($#)); do
  case $1 in
    --build | --lacks | --jobs | --filter) printf -v "${1#--}" '%s' "${2:?a value for $1}" && shift 2 ;;
    --sample) sample=${2:?a number} seed=${3:?a seed} && shift 3 ;;
    -*) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2 && exit 2 ;;
    *) suites+=("$1") && shift ;;
  esac
done
((${#suites[@]})) || suites=(conformance model concurrency move/moves)
: "${TABLEQ_TEST_SQLSERVER:?names no server}"
export TABLEQ_TEST_REQUIRE=sqlserver
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
touch "$work"/{passed,skipped,failed}

for suite in "${suites[@]}"; do
  program=$build/tests/${suite%/*}/${suite#*/}
  "$program" --gtest_list_tests --gtest_filter="$filter" |
    awk -v program="$program" '/^[^ ]/ {name = $1} /^ .*\/sqlserver/ {print program, name $1}'
done >"$work/all"
[[ -z $sample ]] || shuf -n "$sample" --random-source=<(yes "$seed") -o "$work/all" "$work/all"
# shellcheck disable=SC2016  # The inner shell expands it.
xargs -r -L 1 -P "$jobs" bash -c '
  log=$0/${2//\//+}.log result=passed
  timeout -k 10 600 "$1" --gtest_brief=1 --gtest_filter="$2" >"$log" 2>&1 </dev/null ||
    { echo "exit status $?" >>"$log" && result=failed; }
  [[ $result == failed ]] || ! grep -q "^\[  SKIPPED" "$log" || result=skipped
  echo "$2" >>"$0/$result"' "$work" <"$work/all"

mapfile -t patterns < <(sed -n 's/^\([^# ][^ ]*\)  .*/\1/p' "$lacks")
listed() {
  local pattern
  for pattern in "${patterns[@]}"; do
    # shellcheck disable=SC2053  # It is a pattern.
    [[ $1 == $pattern ]] && return
  done
  return 1
}
outside=0
while read -r name; do
  listed "$name" && continue
  outside=$((outside + 1))
  echo "== $name" && grep -v '^\[===' "$work/${name//\//+}.log"
done < <(sort "$work/failed")
while read -r name; do
  ! listed "$name" || echo "passed, though it is listed: $name"
done < <(sort "$work/passed")
echo "$(($(wc -l <"$work/failed") - outside)) failed by a lack that is listed"
echo "$(wc -l <"$work/passed") passed, $outside failed, $(wc -l <"$work/skipped") skipped"
((outside == 0)) && [[ -s $work/passed ]]
