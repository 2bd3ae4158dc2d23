#!/bin/bash
# Runs test suites on the server of TABLEQ_TEST_SQLSERVER, and prints what failed outside of tests/sqlserver_lacks.txt.
#
#   scripts/sqlserver_suites.sh [--build DIR] [--jobs N] [--filter PATTERN] [--sample N SEED] [SUITE...]
#
#   SUITE      of build/dev/tests: conformance, model and concurrency, if none is given
#   --sample   only N tests, chosen by SEED
#   --filter   of googletest
#
# Each test is a process of its own: a crash is one failure, and so is a run of more than ten minutes. A line of the
# list counts only for an engine that speaks T-SQL and is not SQL Server: run a SQL Server with TABLEQ_TEST_LACKS=none.
# Exit status 0 if nothing failed outside of the list, 1 otherwise.
set -uo pipefail
build=$PWD/build/dev
jobs=4
filter='*'
sample=
seed=
suites=()
while (($#)); do
  case $1 in
    --build | --jobs | --filter) printf -v "${1#--}" '%s' "${2:?a value for $1}" && shift 2 ;;
    --sample) sample=${2:?a number} seed=${3:?a seed} && shift 3 ;;
    -*) sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2 && exit 2 ;;
    *) suites+=("$1") && shift ;;
  esac
done
((${#suites[@]})) || suites=(conformance model concurrency)
: "${TABLEQ_TEST_SQLSERVER:?names no server}"
export TABLEQ_TEST_REQUIRE=sqlserver
lacks=${TABLEQ_TEST_LACKS-$(dirname "$0")/../tests/sqlserver_lacks.txt}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for suite in "${suites[@]}"; do
  "$build/tests/$suite/$suite" --gtest_list_tests --gtest_filter="$filter" | sed 's/ *#.*//' |
    awk -v program="$build/tests/$suite/$suite" '/^[^ ]/ {name = $1; next} /\/sqlserver/ {print program " " name $1}'
done >"$work/all"
[[ -z $sample ]] || { shuf -n "$sample" --random-source=<(yes "$seed") "$work/all" >"$work/some" && mv "$work/some" "$work/all"; }
# shellcheck disable=SC2016  # Expanded by the inner shell.
xargs -r -L 1 -P "$jobs" bash -c '
  log=$0/${2//\//+}.log
  timeout -k 10 600 "$1" --gtest_brief=1 --gtest_filter="$2" >"$log" 2>&1 </dev/null
  status=$?
  if ((status != 0)); then
    echo "$2" >>"$0/failed" && echo "exit status $status" >>"$log"
  elif grep -q "^\[  SKIPPED" "$log"; then
    echo "$2" >>"$0/skipped"
  else
    echo "$2" >>"$0/passed"
  fi' "$work" <"$work/all"
touch "$work"/{passed,skipped,failed}

# listed NAME: a line of the list is a pattern, two blanks or more, and the lack.
patterns=()
[[ $lacks == none ]] || mapfile -t patterns < <(sed -n 's/^\([^# ][^ ]*\)  .*/\1/p' "$lacks")
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
  echo "== $name"
  grep -v '^\[===' "$work/${name//\//+}.log"
done < <(sort "$work/failed")
while read -r name; do
  ! listed "$name" || echo "passed, though it is listed: $name"
done < <(sort "$work/passed")
echo "$(($(wc -l <"$work/failed") - outside)) failed by a lack that is listed"
echo "$(wc -l <"$work/passed") passed, $outside failed, $(wc -l <"$work/skipped") skipped"
((outside == 0)) && [[ -s $work/passed ]]
