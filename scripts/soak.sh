#!/bin/bash
# Runs the long modes of the tests that harm tableq on purpose.
# Prints the faults, how often they were injected, and the results: the figures of docs/reliability.md.
#
#   scripts/soak.sh MINUTES [PART...]      all parts, without a name
#   scripts/soak.sh list                   the parts
#
# The parts share MINUTES; a part that has finished ends sooner. Their files are in a temporary
# directory, which is removed at the end, and no file grows beyond 4 GiB; the fuzzers keep theirs in
# build/fuzz.
# Exit status 0 if no promise was broken.
set -euo pipefail
cd "$(dirname "$0")/.."

# name | share of the time | tests that share it | target | variables | filter
# A test runs until it has done what its variable says, or for TABLEQ_TEST_SECONDS. It reports its faults
# by report_injected (tests/support/report.hpp). With `repeated` as its variable a part is run again and again, and its
# rounds are counted. Without a target: scripts/fuzz.sh, all of its targets.
parts='
killed|4|4|crash|TABLEQ_TEST_KILLS=1000|killed.*
server|4|6|crash|TABLEQ_TEST_OUTAGES=100|server_*-*bad_network*
network|2|1|crash|TABLEQ_TEST_OUTAGES=1000|*bad_network*:cut_network.*
failover|2|1|crash|TABLEQ_TEST_OUTAGES=30|lost_primary.*
patroni|3|4|patroni|TABLEQ_TEST_OUTAGES=20|patroni.*
full|0|1|crash||full_*
walk_sqlite|3|9|model|TABLEQ_TEST_STEPS=250000|*_walk.*/sqlite*-*odbc*
walk_postgresql|3|9|model|TABLEQ_TEST_STEPS=25000|*_walk.*/postgresql*-*odbc*
histories|3|16|model|TABLEQ_TEST_STEPS=12000|recorded*-*odbc*
faults|3|30|fault|TABLEQ_TEST_FAULTS=all|a_fault_at_every_call.*
handlers|2|1|conformance|repeated|handlers_that_lose*:messages_put_aside*:rows_put_aside*:kept_messages*
refusals|2|1|conformance|TABLEQ_TEST_REFUSED=500|settlements_refused_by_lot*
commands|2|1|tableq_tools_test|repeated|tool_work_killed.*:tool_work_end.*:tool_work_trouble.*
poolers|2|1|hostile|repeated|*pool*
statements|1|1|drivers|repeated|demoted_sessions*:kept_statements*:known_texts_of_sqlite*:prepared_on_postgresql*
dead_rows|1|1|plan|repeated|*held_snapshot*
fuzz|3|6|||
'

names() { sed -n 's/^\([^|]\{1,\}\)|.*/\1/p' <<<"$parts"; }

if [[ ${1-} == list ]]; then
  names
  exit 0
fi
if [[ ! ${1-} =~ ^[1-9][0-9]*$ ]]; then
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
minutes=$1
shift
export TABLEQ_TEST_SEED=${TABLEQ_TEST_SEED-random}
chosen=("$@")
((${#chosen[@]})) || mapfile -t chosen < <(names)

total=0
targets=()
for name in "${chosen[@]}"; do
  IFS='|' read -r _ share _ target _ <<<"$(grep "^$name|" <<<"$parts")" || true
  if [[ -z ${share-} ]]; then
    echo "soak.sh: unknown part: $name" >&2
    exit 2
  fi
  total=$((total + share))
  [[ -z $target ]] || targets+=("$target")
done
((total)) || total=1

scripts/install_dependencies.sh build test postgresql patroni
cmake --preset dev >/dev/null
((${#targets[@]} == 0)) || cmake --build --preset dev --target "${targets[@]}" >/dev/null

work=$(mktemp -d "${TMPDIR:-/tmp}/tableq-soak.XXXXXX")
# The user that runs PostgreSQL has a directory in it.
chmod 755 "$work"
trap 'rm -rf "$work"' EXIT
mkdir -m 1777 "$work/tmp"
ulimit -f $((4 * 1024 * 1024))
export TMPDIR=$work/tmp
export TABLEQ_TEST_REQUIRE=postgresql,sqlite

# run_tests SECONDS TESTS TARGET VARIABLES FILTER
run_tests() {
  # A test also ends and checks what it began, which takes a little longer.
  local server=(scripts/with_postgresql.sh --fast) folder=$3
  [[ $3 != patroni ]] || server=(scripts/with_patroni.sh) folder=crash
  timeout -k 30 $(($1 * 3 / 2 + 300)) "${server[@]}" \
    env TABLEQ_TEST_SECONDS=$(($1 / $2 + 1)) ${4:+"$4"} \
    "build/dev/tests/$folder/$3" --gtest_brief=1 --gtest_filter="$5"
}

# run_repeated SECONDS TARGET FILTER
run_repeated() {
  local server=(scripts/with_postgresql.sh --fast) folder=${2#tableq_} until=$((SECONDS + $1)) rounds=0
  folder=${folder%_test}
  [[ $2 != hostile ]] || server+=(scripts/with_pgbouncer.sh)
  while ((rounds == 0 || SECONDS < until)); do
    timeout -k 30 900 "${server[@]}" "build/dev/tests/$folder/$2" --gtest_brief=1 --gtest_filter="$3" || return
    rounds=$((rounds + 1))
  done
  echo "INJECTED|rounds of $3|$2|$rounds|all passed"
}

# run_fuzzers SECONDS TARGETS
run_fuzzers() {
  local told
  if ! told=$(scripts/fuzz.sh $(($1 / $2 + 1))); then
    echo "$told"
    return 1
  fi
  sed -E 's/^(.*): ([0-9]+) inputs in ([0-9]+) s, .*/INJECTED|inputs of a fuzzer|\1|\2|nothing found in \3 s/' <<<"$told"
}

failed=()
for name in "${chosen[@]}"; do
  IFS='|' read -r _ share tests target variables filter <<<"$(grep "^$name|" <<<"$parts")"
  seconds=$((minutes * 60 * share / total))
  began=$SECONDS
  echo "== $name: up to $((seconds / 60 + 1)) min"
  status=0
  if [[ $variables == repeated ]]; then
    run_repeated "$seconds" "$target" "$filter" >"$work/$name.log" 2>&1 || status=$?
  elif [[ -n $target ]]; then
    run_tests "$seconds" "$tests" "$target" "$variables" "$filter" >"$work/$name.log" 2>&1 || status=$?
  else
    run_fuzzers "$seconds" "$tests" >"$work/$name.log" 2>&1 || status=$?
  fi
  grep -E '^(INJECTED|\[ seed)' "$work/$name.log" || true
  if ((status != 0)) || ! grep -q '^INJECTED' "$work/$name.log"; then
    failed+=("$name")
    tail -n 60 "$work/$name.log" >&2
  fi
  echo "== $name: status $status after $((SECONDS - began)) s"
done

echo
echo '| injected | where | times | result |'
echo '| --- | --- | --- | --- |'
for name in "${chosen[@]}"; do
  sed -n 's/^INJECTED|\([^|]*\)|\([^|]*\)|\([^|]*\)|\(.*\)$/| \1 | \2 | \3 | \4 |/p' "$work/$name.log"
done
echo
if ((${#failed[@]})); then
  echo "soak.sh: failed: ${failed[*]}"
  exit 1
fi
echo "soak.sh: ${#chosen[@]} parts in $((SECONDS / 60)) min, nothing but what is promised"
