#!/bin/bash
# Checks the sources with the formatter and the linters.
#
#   scripts/lint.sh [format] [tidy] [tsql] [docs]        all, without an argument
#
# format: clang-format over all sources. tidy: clang-tidy over core, drivers and tools, with the
# flags of the preset `dev`. tsql: the texts for SQL Server with a grammar and rules. docs: the doc
# comments of public headers.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/install_dependencies.sh lint
jobs=$(nproc)
log=$(mktemp)
trap 'rm -f "$log"' EXIT

format() {
  local folders=()
  for folder in include core drivers tools examples tests bench; do
    [[ -d $folder ]] && folders+=("$folder")
  done
  if ! find "${folders[@]}" \( -name '*.cpp' -o -name '*.hpp' \) -print0 |
    xargs -0 clang-format-14 --dry-run -Werror >"$log" 2>&1; then
    sed -n 's/^\([^ :][^:]*:[0-9]*\):.*error: /\1: /p' "$log" | sort -u -t : -k 1,2 >&2
    return 1
  fi
}

tidy() {
  local build=build/tidy generated
  scripts/install_dependencies.sh build test
  # Each file by itself, to find missing includes.
  cmake --preset dev -B "$build" -DCMAKE_DISABLE_PRECOMPILE_HEADERS=ON -DCMAKE_UNITY_BUILD=OFF >/dev/null
  # The headers that the build makes from SQL.
  generated=$(ninja -C "$build" -t targets all | sed -n 's/^\(generated\/[^:]*\.hpp\):.*/\1/p')
  # And each public header, which must compile alone.
  # shellcheck disable=SC2086  # A list of names without spaces.
  if ! ninja -C "$build" $generated tableq_headers_alone >"$log" 2>&1; then
    grep -e ' error: ' "$log" >&2
    return 1
  fi
  if ! run-clang-tidy-14 -quiet -p "$build" -j "$jobs" "^$PWD/(core|drivers|tools)/.*\.cpp$" \
    >"$log" 2>&1; then
    grep -v -e '^[0-9]* warnings\? ' -e '^clang-tidy-14 ' -e '^$' "$log" >&2
    return 1
  fi
}

tsql() {
  python3 -B tests/lint/tsql.py .
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
    format | tidy | tsql | docs) "$step" ;;
    *)
      echo "lint.sh: unknown: $step" >&2
      exit 2
      ;;
  esac
  echo "$step: clean"
done
