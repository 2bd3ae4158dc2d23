#!/bin/bash
# Runs the fuzzers of tests/fuzz, each for SECONDS, and keeps their findings.
#
#   scripts/fuzz.sh SECONDS [TARGET...]        all targets, without one
#
# Built by Clang under the address and undefined-behaviour sanitizers, in build/fuzz. An input that
# fails is left in build/fuzz/found/TARGET; new inputs are kept in build/fuzz/corpus/TARGET for the next
# run. Exit status 1 with a finding. `tests/fuzz/corpus` holds the seeds, which the test suite replays in
# each run.
set -euo pipefail
cd "$(dirname "$0")/.."

all=(connection_string identifiers arguments odbc_string codec statements c_options)
if (($# == 0)) || [[ ! $1 =~ ^[1-9][0-9]*$ ]]; then
  sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
seconds=$1
shift
(($#)) || set -- "${all[@]}"
for target in "$@"; do
  if [[ " ${all[*]} " != *" $target "* ]]; then
    echo "fuzz.sh: unknown: $target; there are ${all[*]}" >&2
    exit 2
  fi
done

scripts/install_dependencies.sh build fuzz
cmake --preset fuzz >/dev/null
cmake --build --preset fuzz -j "$(nproc)" --target "${@/#/fuzz_}" >/dev/null
export ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1
export UBSAN_OPTIONS=print_stacktrace=1
status=0
for target in "$@"; do
  found=build/fuzz/found/$target
  kept=build/fuzz/corpus/$target
  mkdir -p "$found" "$kept"
  log=build/fuzz/$target.log
  if ! "build/fuzz/tests/fuzz/fuzz_$target" -max_total_time="$seconds" -max_len=4096 -timeout=10 \
    -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$found/" "$kept" \
    "tests/fuzz/corpus/$target" >"$log" 2>&1; then
    status=1
    echo "$target: found something; see $log and $found" >&2
    tail -n 40 "$log" >&2
  fi
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  echo "$target: ${runs:-?} inputs in $seconds s, $(find "$kept" -type f | wc -l) kept"
done
exit "$status"
