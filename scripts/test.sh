#!/bin/bash
# Installs what is missing, builds, and runs the tests on SQLite and PostgreSQL.
#
#   scripts/test.sh [--accept-licence] [--clang] [STAGE...]        dev, format and docs, without a stage
#
# dev         all tests, but those of before a release: they repeat others without combining, through ODBC where the
#             transport matters little, or for more kinds, build a shared library, read a million rows, or measure
# quick       unit tests, conformance on SQLite, the rules of tests/lint, the formatter
# format      the formatter
# docs        the doc comments of public headers
# tidy        clang-tidy
# tsql        the texts for SQL Server
# lint        all linters, also each source by itself
# asan, tsan  the tests under the address and undefined-behaviour sanitizers, or the thread sanitizer
# sanitizers  under both, but only the suites conformance, unit and drivers: less than an hour
# all         before a release: all tests, lint, asan, tsan
#
# Checks of the sources run beside the tests, in the time in which these wait.
# A PostgreSQL server is started for the run and removed after it, unless TABLEQ_TEST_POSTGRESQL names one. If
# TABLEQ_TEST_SQLSERVER names a SQL Server, the tests run on it too: see docs/sqlserver.md.
# --accept-licence: you accept the licences of Microsoft's ODBC driver and parser of T-SQL. The tests of SQL Server's
# drivers run over the driver too, and the parser reads their texts: see scripts/microsoft_odbc.sh and
# scripts/microsoft_parser.sh. Without it they run over FreeTDS alone, and the end says what was left out.
# --clang: Clang compiles the programs, which is quicker; the library stays GCC's.
# Exit status 0 when everything passed; the last line counts.
set -euo pipefail
cd "$(dirname "$0")/.."

licence=()
options=()
first=(build test)
stages=()
for word; do
  if [[ $word == --accept-licence ]]; then
    licence=("$word")
  elif [[ $word == --clang ]]; then
    first+=(clang)
    options+=(-DTABLEQ_PROGRAMS_BY_CLANG=ON)
  else
    stages+=("$word")
  fi
done
((${#stages[@]})) || stages=(dev format docs)
left_out=(-LE before_release)
if [[ ${stages[*]} == all ]]; then
  left_out=()
  options+=(-DTABLEQ_BENCH=ON)
  stages=(dev lint asan tsan)
fi
for stage in "${stages[@]}"; do
  case $stage in
    dev | quick | lint | format | tidy | tsql | docs | asan | tsan | sanitizers) ;;
    *)
      echo "test.sh: unknown: $stage" >&2
      exit 2
      ;;
  esac
done

groups=()
if [[ ${stages[*]} != quick ]]; then
  [[ -n ${TABLEQ_TEST_POSTGRESQL-} ]] || groups+=(postgresql)
  groups+=(patroni browser)
fi
((${#licence[@]} == 0)) || groups+=(microsoft)
[[ " ${stages[*]} " =~ " lint "|" format "|" tidy "|" tsql "|" docs "|" quick " ]] && groups+=(lint)
microsoft() {
  scripts/microsoft_odbc.sh "${licence[@]}" && scripts/microsoft_parser.sh "${licence[@]}"
}
# The rest is installed while the build runs.
scripts/install_dependencies.sh "${first[@]}"
{
  scripts/install_dependencies.sh "${groups[@]}"
  ((${#licence[@]} == 0)) || microsoft >/dev/null
} &
installing=$!

checked=
checking=
scratch=
# shellcheck disable=SC2317  # Called by the trap.
cleanup() {
  [[ -z $checking ]] || kill -- "-$checking" 2>/dev/null || true
  [[ -z $checked ]] || rm -f "$checked"
  [[ -z $scratch ]] || rm -rf "$scratch"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# Databases of tests need not reach the disk: where memory has room, the tests wait for half the time. PostgreSQL's user
# must get in.
if [[ -z ${TMPDIR-} && -w /dev/shm ]] && (($(df --output=avail -k /dev/shm | tail -n 1) > 8 * 1024 * 1024)); then
  scratch=$(mktemp -d /dev/shm/tableq-tests.XXXXXX)
  export TMPDIR=$scratch
  chmod 711 "$scratch"
fi

jobs=$(nproc)
# The simplest locale: a test that passes in it passes in all.
export LC_ALL=C
export TABLEQ_TEST_REQUIRE=postgresql,postgresql_odbc,sqlite,sqlite_odbc TABLEQ_TEST_BROWSER=yes
[[ -z ${TABLEQ_TEST_SQLSERVER-} ]] || TABLEQ_TEST_REQUIRE+=,sqlserver
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
passed=0
failed=0
sqlite_alone=

# Waits until all is installed, once.
installed() {
  [[ -n $installing ]] || return 0
  local settings
  wait "$installing"
  installing=
  if ((${#licence[@]})); then
    settings=$(microsoft)
    eval "$settings"
  fi
}

# Begins the checks of the sources, once: they fill the time in which tests wait.
begin_checks() {
  installed
  [[ -z $checked ]] && ((${#checks[@]})) || return 0
  checked=$(mktemp)
  set -m
  (
    bad=0
    for each in "${checks[@]}"; do
      nice -n 19 scripts/lint.sh "$each" || bad=$((bad + 1))
    done
    exit "$bad"
  ) >"$checked" 2>&1 &
  checking=$!
  set +m
}

end_checks() {
  [[ -n $checking ]] || return 0
  local bad=0
  wait "$checking" || bad=$?
  checking=
  echo "== checks of the sources (after $SECONDS s)"
  cat "$checked"
  rm "$checked"
  failed=$((failed + bad))
  passed=$((passed + ${#checks[@]} - bad))
}

# suite PRESET [TARGET...]: builds the preset and runs its tests, or those of these targets and the rules of lint.
suite() {
  local preset=$1 folder=$PWD/build/$1 status=0 server=() targets=() only=() reports figures
  shift
  if (($#)); then
    targets=(--target "$@")
    only=(-R "^($(IFS='|' && echo "$*")|lint)\\.")
  fi
  echo "== $preset: build"
  if ! { cmake --preset "$preset" "${options[@]}" && cmake --build --preset "$preset" -j "$jobs" "${targets[@]}"; }; then
    echo "$preset: the build failed" >&2
    failed=$((failed + 1))
    return
  fi
  begin_checks
  echo "== $preset: tests (built after $SECONDS s)"
  if [[ -n $sqlite_alone ]]; then
    server=(env -u TABLEQ_TEST_POSTGRESQL)
  elif [[ -z ${TABLEQ_TEST_POSTGRESQL-} ]]; then
    server=(scripts/with_postgresql.sh --fast)
  fi
  rm -rf "$folder/report.xml" "$folder/reports"
  # Tests wait for much of their time: for the server, for leases to end.
  "${server[@]}" ctest --preset "$preset" -j "$((jobs * 5))" "${only[@]}" "${left_out[@]}" --output-junit "$folder/report.xml" ||
    status=$?
  shopt -s nullglob
  reports=("$folder"/reports/*.xml)
  if ! figures=$(scripts/test_figures.py "$folder/report.xml" "${reports[@]}"); then
    failed=$((failed + 1))
    return
  fi
  local run bad skipped
  read -r run bad skipped <<<"$figures"
  if ((run == 0 || (status != 0 && bad == 0))); then
    bad=$((bad + 1))
  fi
  if ((skipped > 0)); then
    echo "$preset: $skipped skipped, because:"
    tail -n +2 <<<"$figures"
  fi
  passed=$((passed + run))
  failed=$((failed + bad))
}

checks=()
for stage in "${stages[@]}"; do
  case $stage in
    format | tidy | tsql | docs) checks+=("$stage") ;;
    lint) checks+=(format tidy each tsql docs) ;;
    quick) checks+=(format) ;;
  esac
done
for stage in "${stages[@]}"; do
  case $stage in
    dev | asan | tsan) suite "$stage" ;;
    quick) sqlite_alone=yes TABLEQ_TEST_REQUIRE=sqlite suite dev unit conformance ;;
    sanitizers)
      suite asan conformance unit drivers
      suite tsan conformance unit drivers
      ;;
  esac
done
begin_checks
end_checks
echo "$passed passed, $failed failed"
((passed > 0 && failed == 0))
