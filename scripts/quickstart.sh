#!/bin/bash
# Shows real work in a durable queue, shared by four processes, one of which is killed.
# Installs what is missing, builds the `tableq` command, and takes the SHA-256 of every file below
# /usr/include: each path is a message of a `claim` queue, which `tableq work` processes share. At the
# end the results are compared with those of sha256sum run directly.
#
#   scripts/quickstart.sh                                  on SQLite, in a temporary file
#   scripts/quickstart.sh --db postgresql                  on a PostgreSQL started for the run
#   scripts/quickstart.sh --db postgresql://user@host/app  on yours; the queue is dropped afterwards
#
#   --files DIR      another tree of files
#   --command PATH   this `tableq`, instead of installing and building
#
# The address may also be in TABLEQ_DB, where no other user sees it. Exit status 0 if every file has
# the right result.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
url=${TABLEQ_DB-}
files=/usr/include
command=
fail() {
  echo "quickstart.sh: $*" >&2
  exit 1
}
while (($#)); do
  case $1 in
    -h | --help)
      sed -n '2,/^set -/s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    --db | --files | --command)
      (($# >= 2)) || fail "$1 needs a value"
      case $1 in
        --db) url=$2 ;;
        --files) files=${2%/} ;;
        --command) command=$2 ;;
      esac
      shift 2
      ;;
    *) fail "unknown: $1 (see --help)" ;;
  esac
done
[[ -d $files ]] || fail "no directory: $files"

if [[ -z $command ]]; then
  groups=(build)
  [[ $url == postgresql ]] && groups+=(postgresql)
  "$root/scripts/install_dependencies.sh" "${groups[@]}"
  command=$root/build/release/tools/tableq
  echo "Building $command ..."
  log=$(mktemp)
  if ! (cd "$root" && cmake --preset release && cmake --build --preset release) >"$log" 2>&1; then
    cat "$log" >&2
    rm -f "$log"
    fail "the build failed"
  fi
  rm -f "$log"
fi
if [[ $url == postgresql ]]; then
  # shellcheck disable=SC2016  # The inner shell expands them.
  exec "$root/scripts/with_postgresql.sh" bash -c \
    'TABLEQ_DB=$TABLEQ_TEST_POSTGRESQL exec "$@"' _ "$0" --files "$files" --command "$command"
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/tableq-quickstart.XXXXXX")
export TABLEQ_DB=${url:-sqlite://$work/queue.db}
queue=quickstart-$$-$RANDOM
workers=4
victim=4
declare -A pids=()
created=

# shellcheck disable=SC2317  # Called by the trap.
cleanup() {
  local status=$?
  trap - EXIT
  trap '' INT TERM
  exec 9>&-
  if ((${#pids[@]})); then
    kill -KILL "${pids[@]}" 2>/dev/null || true
    wait
  fi
  [[ -z $created ]] || "$command" drop "$queue" --yes || true
  rm -rf "$work"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# One message: its result with the attempt, the worker and the message's id in front.
cat >"$work/hash" <<'SCRIPT'
IFS= read -r path
sum=$(sha256sum -- "$path") || exit 1
printf '%s %s %s %s\n' "$TABLEQ_ATTEMPT" "$WORKER" "$TABLEQ_MESSAGE_ID" "$sum" >>"$RESULTS"
SCRIPT
# The same, but the messages after the first twenty wait until the worker is killed: so it certainly
# dies with leased messages.
cat >"$work/hash_and_hold" <<'SCRIPT'
if [ "$(wc -l <"$RESULTS")" -ge 20 ]; then
  IFS= read -r path
  printf '%s %s\n' "$TABLEQ_MESSAGE_ID" "$path" >>"$HELD"
  read -r nothing <"$GATE"
  exit 1
fi
. "$HASH"
SCRIPT

newline=$'*\n*'
find "$files" -type f -readable ! -path "$newline" >"$work/files"
total=$(wc -l <"$work/files")
links=$(find "$files" -type l -printf . | wc -c)
odd=$(find "$files" -type f \( -path "$newline" -o ! -readable \) -printf . | wc -c)
((total >= 200)) || fail "$files has $total files; 200 make a run worth watching"

"$command" create claim "$queue" --lease 3s
created=yes
begin=${EPOCHREALTIME/./}
"$command" enqueue "$queue" --lines <"$work/files"
stored=$((${EPOCHREALTIME/./} - begin))
printf '%d paths are in the queue, stored in %d ms\n' "$total" $((stored / 1000))

mkfifo "$work/gate"
exec 9<>"$work/gate" # Readers of the gate wait while this end is open.
export RESULTS WORKER HASH=$work/hash HELD=$work/held GATE=$work/gate
begin=${EPOCHREALTIME/./}
for ((WORKER = 1; WORKER <= workers; ++WORKER)); do
  RESULTS=$work/results.$WORKER
  : >"$RESULTS"
  script=$work/hash
  ((WORKER == victim)) && script=$work/hash_and_hold
  "$command" work "$queue" --concurrency 2 --lease 3s --until-empty -- sh "$script" \
    9>&- 2>"$work/log.$WORKER" &
  pids[$WORKER]=$!
done

finished() { cat "$work"/results.* | wc -l; }
running() { kill -0 "$1" 2>/dev/null; }
tick=0
progress() {
  if [[ -t 1 ]]; then
    printf '\r%d of %d' "$(finished)" "$total"
  elif ((tick++ % 10 == 0)); then
    printf '%d of %d\n' "$(finished)" "$total"
  fi
}

while [[ ! -s $work/held ]] || (($(wc -l <"$work/held") < 2)); do
  running "${pids[$victim]}" || fail "worker $victim ended early: $(tail -n 3 "$work/log.$victim")"
  sleep 0.1
done
kill -KILL "${pids[$victim]}"
wait "${pids[$victim]}" 2>/dev/null || true
unset "pids[$victim]"
exec 9>&-
held=$(wc -l <"$work/held")
printf 'worker %d was killed (SIGKILL) after %d files, holding %d messages\n' \
  $victim "$(wc -l <"$work/results.$victim")" "$held"

for worker in "${!pids[@]}"; do
  while running "${pids[$worker]}"; do
    progress
    sleep 0.5
  done
  wait "${pids[$worker]}" || fail "worker $worker failed: $(tail -n 3 "$work/log.$worker")"
  unset "pids[$worker]"
done
elapsed=$((${EPOCHREALTIME/./} - begin))
[[ ! -t 1 ]] || printf '\r'

# The results of the queue against those of sha256sum alone.
export LC_ALL=C
cut -d ' ' -f 4- "$work"/results.* | sort -u >"$work/got"
tr '\n' '\0' <"$work/files" | xargs -0 sha256sum -- | sort >"$work/wanted"
missing=$(comm -13 "$work/got" "$work/wanted" | wc -l)
wrong=$(comm -23 "$work/got" "$work/wanted" | wc -l)
runs=$(finished)
again=$(awk '$1 > 1' "$work"/results.* | wc -l)
left=$("$command" stats "$queue" --json)

printf '\n%-22s%d below %s\n' files "$total" "$files"
printf '%-22s%d symbolic links, %d with a newline in the name or not readable\n' \
  'left out' "$links" "$odd"
printf '%-22s%d a second, %d.%d s in all\n' rate $((total * 1000000 / elapsed)) \
  $((elapsed / 1000000)) $((elapsed / 100000 % 10))
for ((worker = 1; worker <= workers; ++worker)); do
  printf '%-22s%d files%s\n' "worker $worker" "$(wc -l <"$work/results.$worker")" \
    "$( ((worker == victim)) && echo ', then killed')"
done
lost=0
while read -r id path; do
  if line=$(grep -h -m 1 -E "^[0-9]+ [0-9]+ $id " "$work"/results.*); then
    read -r attempt by _ <<<"$line"
    printf '%-22smessage %d, %s: done by worker %d as attempt %d\n' \
      'killed in its hands' "$id" "${path##*/}" "$by" "$attempt"
    ((attempt > 1)) || lost=$((lost + 1))
  else
    printf '%-22smessage %d, %s: never done\n' 'killed in its hands' "$id" "$path"
    lost=$((lost + 1))
  fi
done <"$work/held"
printf '%-22s%d as attempt 2 or later; %d results for %d files\n' 'taken again' \
  "$again" "$runs" "$total"
printf '%-22s%s\n' 'left in the queue' "$left"
printf '%-22s%d equal, %d missing, %d different\n' 'against sha256sum' \
  $((total - missing)) "$missing" "$wrong"
((missing == 0 && wrong == 0 && lost == 0)) || fail "the results are not right"
[[ $left == *'"ready":0,"delayed":0,"leased":0,"held":0,"done":0,"dead":0,'* ]] ||
  fail "the queue is not empty"
echo "All results are right."
