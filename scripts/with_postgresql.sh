#!/bin/bash
# Runs a command with a temporary PostgreSQL server, and removes the server afterwards.
#
#   scripts/with_postgresql.sh [--fast] [--set NAME=VALUE]... COMMAND [ARGUMENT...]
#
# TABLEQ_TEST_POSTGRESQL holds its address. The server listens on 127.0.0.1 (with
# passwords) and on a socket in its own directory only, which TABLEQ_TEST_POSTGRESQL_SOCKET names.
# --fast: changes are not forced to the disk, and stay in memory if it has room. --set: a line of postgresql.conf.
# PostgreSQL refuses to run as root: then the system user `postgres` runs it.
set -euo pipefail

durable=on
settings=()
while (($#)); do
  case $1 in
    --fast) durable=off ;;
    --set)
      settings+=("${2:?with_postgresql.sh: --set needs NAME=VALUE}")
      shift
      ;;
    *) break ;;
  esac
  shift
done
if (($# == 0)); then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi

# shellcheck source=scripts/postgresql_server.sh
source "$(dirname "$0")/postgresql_server.sh"
find_postgresql || exit 1
# Files that need not reach the disk are quicker in memory, if it has room for them.
if [[ $durable == off && -z ${TMPDIR-} && -w /dev/shm ]] &&
  (($(df --output=avail -k /dev/shm | tail -n 1) > 4 * 1024 * 1024)); then
  TMPDIR=/dev/shm make_home
else
  make_home
fi
data=$home/data
log=$home/server.log

# shellcheck disable=SC2317  # Called by the trap.
cleanup() {
  local status=$?
  trap '' INT TERM
  trap - EXIT
  end_child
  stop_server "$data"
  if ((status != 0)) && [[ -s $log ]]; then
    echo "with_postgresql.sh: status $status; the end of the server's log:" >&2
    tail -n 30 "$log" >&2
  fi
  rm -rf "$home"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

make_cluster "$data" "$durable" "${settings[@]}"
start_on_free_port "$data" "$log"
make_database

export TABLEQ_TEST_POSTGRESQL="postgresql://tableq:$password@127.0.0.1:$port/tableq"
export TABLEQ_TEST_POSTGRESQL_SOCKET="postgresql:///tableq?host=$home&port=$port&user=tableq"
run_child "$@"
