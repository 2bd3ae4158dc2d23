#!/bin/bash
# Checks the sources with the formatter and the linters.
#
#   scripts/lint.sh [format] [tidy] [each] [tsql] [docs]        all but each, without an argument
#
# format: clang-format over all sources. tidy: clang-tidy over core, drivers and tools as the preset `dev` joins
# them: names, speed, and the checks that found faults here. each: all checks over each source by itself, and each
# public header compiles by itself, a quarter of an hour: it also finds missing includes.
# tsql: the texts for SQL Server with rules, and with Microsoft's parser if TABLEQ_TEST_MICROSOFT_PARSER names it.
# docs: the doc comments of public headers.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh lint
jobs=$(nproc)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

format() {
  local folders=()
  for folder in include core drivers bindings tools examples tests bench; do
    [[ -d $folder ]] && folders+=("$folder")
  done
  if ! find "${folders[@]}" \( -name '*.cpp' -o -name '*.hpp' -o -name '*.[ch]' \) -print0 |
    xargs -0 clang-format-14 --dry-run -Werror >"$log" 2>&1; then
    sed -n 's/^\([^ :][^:]*:[0-9]*\):.*error: /\1: /p' "$log" | sort -u -t : -k 1,2 >&2
    return 1
  fi
}

# tidy_build FOLDER OPTION...: configures a build for clang-tidy, and makes the sources that come from SQL and pages.
tidy_build() {
  local build=$1 generated
  shift
  scripts/install_dependencies.sh build test
  cmake --preset dev -B "$build" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON "$@" >/dev/null
  generated=$(ninja -C "$build" -t targets all | sed -n 's/^\([a-z/]*generated\/[^:]*\.[ch]pp\):.*/\1/p')
  # shellcheck disable=SC2086  # A list of names without spaces.
  made "$build" $generated
}

# made FOLDER TARGET...: builds them, and shows errors alone.
made() {
  if ! ninja -C "$@" >"$log" 2>&1; then
    grep -e ' error: ' "$log" >&2
    return 1
  fi
}

# run_tidy FOLDER PATTERN OPTION...: clang-tidy over the sources of a build whose paths match.
run_tidy() {
  local build=$1 pattern=$2
  shift 2
  if ! run-clang-tidy-14 -quiet -p "$build" -j "$jobs" "$@" "$pattern" >"$log" 2>&1; then
    grep -v -e '^[0-9]* warnings\? ' -e '^clang-tidy-14 ' -e '^$' "$log" >&2
    return 1
  fi
}

tidy() {
  local build=$PWD/build/tidy
  # Few large files: the headers of the libraries are checked again with each.
  tidy_build "$build" -DCMAKE_UNITY_BUILD_BATCH_SIZE=70 || return
  # All checks take twice as long. Of the sources that are not joined, those outside of transport take a quarter of
  # the time, for the headers that they include.
  run_tidy "$build" "^($PWD/drivers/transport|$build/(CMakeFiles|tools|bindings/c/CMakeFiles/tableq_c_objects.dir))/.*\.(cpp|cxx)$" \
    "-checks=-*,clang-analyzer-*,bugprone-dangling-handle,bugprone-use-after-move,performance-inefficient-vector-operation,performance-move-const-arg,performance-unnecessary-copy-initialization,readability-identifier-naming"
}

each() {
  local build=$PWD/build/tidy_each
  tidy_build "$build" -DCMAKE_UNITY_BUILD=OFF && made "$build" tableq_headers_alone || return
  run_tidy "$build" "^$PWD/(core|drivers|tools)/.*\.cpp$"
}

tsql() {
  python3 -B tests/lint/tsql.py . || return
  python3 -B tests/lint/tsql_parser.py . || (($? == 77))
}

docs() {
  local out status=0
  out=$(mktemp -d)
  TABLEQ_DOXYGEN_OUT=$out doxygen .doxygen >"$log" 2>&1 || status=$?
  rm -rf "$out"
  ((status == 0)) || cat "$log" >&2
  return "$status"
}

(($#)) || set -- format tidy tsql docs
for step in "$@"; do
  case $step in
    format | tidy | each | tsql | docs) "$step" ;;
    *)
      echo "lint.sh: unknown: $step" >&2
      exit 2
      ;;
  esac
  echo "$step: clean"
done
