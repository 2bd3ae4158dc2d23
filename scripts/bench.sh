#!/bin/bash
# Measures tableq and the plain statements of the same database alternately, in one process.
#
#   scripts/bench.sh [sqlite] [postgresql] [odbc] [--quick] [OPTION...]    all three, without a name
#
#   --quick          fewer rounds and messages: some four minutes for each database instead of seventeen
#   --output DIR     where results go (build/bench/results)
#   --case PATTERN   only these cases, * stands for anything; may be repeated
#   --no-combining, --no-spinning, --no-floors, --no-writers-line
#                    without this shortcut (open_options::shortcuts)
#   OPTION           others of tableq_bench: see build/bench/bench/tableq_bench --help
#
# Installs what is missing, builds the preset `bench`, starts a PostgreSQL for the run (settings of
# a small server, commits durable) and removes it. Prints tables, and leaves NAME.jsonl, report.md and
# the growth curves as *.svg. Creates databases below TMPDIR, which should be on a real disk. Run nothing
# else meanwhile. odbc is PostgreSQL through psqlODBC.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
backends=()
options=()
quick=
output=$root/build/bench/results
while (($#)); do
  case $1 in
    sqlite | postgresql | odbc) backends+=("$1") ;;
    --quick) quick=yes ;;
    --output)
      output=${2:?bench.sh: --output needs a directory}
      shift
      ;;
    -h | --help)
      sed -n '2,/^set -/{/^set -/d;s/^# \{0,1\}//p;}' "$0"
      exit 0
      ;;
    --*)
      options+=("$1")
      case $1 in
        *=* | --list | --no-combining | --no-spinning | --no-floors | --no-writers-line) ;;
        *)
          options+=("${2:?bench.sh: $1 needs a value}")
          shift
          ;;
      esac
      ;;
    *)
      echo "bench.sh: unknown: $1 (see --help)" >&2
      exit 2
      ;;
  esac
  shift
done
((${#backends[@]})) || backends=(sqlite postgresql odbc)
if [[ -n $quick ]]; then
  # Later options override these.
  options=(--rounds 3 --seconds 0.3 --messages 100000 "${options[@]}")
  echo "About four minutes for each of: ${backends[*]}" >&2
else
  echo "About seventeen minutes for each of: ${backends[*]}" >&2
fi

groups=(build)
for backend in "${backends[@]}"; do
  [[ $backend == sqlite ]] || groups+=(postgresql)
  [[ $backend == odbc ]] && groups+=(odbc)
done
"$root/scripts/install_dependencies.sh" "${groups[@]}"
if command -v ccache >/dev/null; then
  export CMAKE_CXX_COMPILER_LAUNCHER=ccache
fi
log=$(mktemp)
if ! (cd "$root" && cmake --preset bench && cmake --build --preset bench) >"$log" 2>&1; then
  cat "$log" >&2
  rm -f "$log"
  exit 1
fi
rm -f "$log"

mkdir -p "$output"
output=$(cd "$output" && pwd)
work=$(mktemp -d "${TMPDIR:-/tmp}/tableq-bench.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
if [[ $(stat -f -c %T "$work") == tmpfs ]]; then
  echo "bench.sh: $work is in memory: set TMPDIR to a directory on a disk, or commits cost nothing" >&2
fi

status=0
begin=$SECONDS
for backend in "${backends[@]}"; do
  printf '== %s (after %d s)\n' "$backend" $((SECONDS - begin))
  lines=$output/$backend.jsonl
  rm -f "$lines"
  run=("$root/build/bench/bench/tableq_bench" "$backend" --directory "$work" --json "$lines"
    "${options[@]}")
  if [[ $backend == sqlite ]]; then
    "${run[@]}" || status=$?
  else
    # Both sides use the socket, where a round trip costs least; ODBC has only TCP.
    address=TABLEQ_TEST_POSTGRESQL_SOCKET
    [[ $backend == odbc ]] && address=TABLEQ_TEST_POSTGRESQL
    # shellcheck disable=SC2016  # The inner shell expands it.
    "$root/scripts/with_postgresql.sh" --set shared_buffers=1GB --set max_wal_size=8GB \
      bash -c 'name=$1; shift; exec "$@" --db "${!name}"' _ "$address" "${run[@]}" || status=$?
  fi
done

written=()
for backend in sqlite postgresql odbc; do
  [[ -s $output/$backend.jsonl ]] && written+=("$output/$backend.jsonl")
done
if ((${#written[@]})); then
  "$root/build/bench/bench/tableq_bench_report" "${written[@]}" --svg "$output" >"$output/report.md"
  printf '== after %d s: %s/report.md\n' $((SECONDS - begin)) "$output"
fi
exit "$status"
