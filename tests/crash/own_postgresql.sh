#!/bin/bash
# Servers of one test, which it may stop, lose and promote. They end when the test closes the standard
# input, in any way.
#
#   own_postgresql.sh [--disk SIZE | --log-disk SIZE | --clock LIBRARY]
#
# Answers each line of the standard input with one line of JSON, {"done": VALUE}, and ends with the
# first that fails. {"missing": WHY} instead means that no such server is available here.
#
#   begin              makes and starts the server `first`; VALUE is its port, `password` comes with it
#   standby            makes the server `second`, a synchronous standby of `first`; VALUE is its port
#   stop NAME MODE     MODE: smart, fast or immediate
#   start NAME         returns when it accepts connections
#   revive             the same for `first`, in any state
#   promote NAME       returns when it takes writes
#   fill SIZE          uses SIZE of the small disk; without SIZE frees it
#   clock SECONDS      makes the clock of `first` wrong by these seconds from now on
#
# --clock: the servers begin with LIBRARY preloaded, which sets their time: tests/hostile/wrong_clock.cpp.
# --disk: the tablespace `small` is a file system of that size; --log-disk: the write-ahead log is on one. Only
# these servers see the mount, which needs the rights of root.
# shellcheck disable=SC2154  # postgresql_server.sh sets them.
set -euo pipefail

# shellcheck source=scripts/postgresql_server.sh
source "$(dirname "$0")/../../scripts/postgresql_server.sh"

if [[ ${1-} == --*disk && ${TABLEQ_OWN_MOUNTS-} != yes ]]; then
  if ! why=$(unshare --mount true 2>&1); then
    read -r _ || true
    printf '{"missing": "a file system of its own cannot be mounted: %s"}\n' "${why//[\"\\]/}"
    exit 0
  fi
  TABLEQ_OWN_MOUNTS=yes exec unshare --mount "$0" "$@"
fi
what=${1-}
disk=
library=
case $what in
  --*disk) disk=$2 ;;
  --clock) library=$2 ;;
esac

home=
port=
# shellcheck disable=SC2317  # Called by the trap.
cleanup() {
  local status=$?
  trap '' INT TERM
  trap - EXIT
  [[ -n $home ]] || exit "$status"
  ((status == 0)) || tail -n 20 "$home"/*.log >&2 || true
  stop_server "$home/second"
  stop_server "$home/first"
  [[ -z $disk ]] || umount "$home/small" 2>/dev/null || true
  rm -rf "$home"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

declare -A ports

begin() {
  if ! find_postgresql 2>/dev/null; then
    printf '{"missing": "no PostgreSQL server can be started here"}\n'
    return
  fi
  make_home
  # Without fsync: only the processes die, not the machine.
  make_cluster "$home/first" off "wal_level = replica" "max_wal_senders = 4" "hot_standby = on"
  owner tee -a "$home/first/pg_hba.conf" >/dev/null <<<"local replication postgres trust"
  if [[ -n $disk ]]; then
    mkdir "$home/small"
    mount -t tmpfs -o "size=$disk" none "$home/small"
  fi
  if [[ $what == --log-disk ]]; then
    owner mv "$home/first/pg_wal" "$home/small/log"
    owner ln -s "$home/small/log" "$home/first/pg_wal"
    # The written log stays until the server has to recover; then there is room again.
    printf '%s\n' "max_wal_size = 10GB" "checkpoint_timeout = 1h" "wal_recycle = off" |
      owner tee -a "$home/first/postgresql.conf" >/dev/null
  fi
  if [[ -n $library ]]; then
    set_clock 0
    # A place where its owner can read it.
    cp "$library" "$home/clock.so"
    chmod a+rx "$home/clock.so"
    as_owner+=(env "LD_PRELOAD=$home/clock.so" "WRONG_CLOCK_FILE=$home/clock")
  fi
  start_on_free_port "$home/first" "$home/first.log"
  ports[first]=$port
  make_database
  if [[ $what == --disk ]]; then
    owner mkdir "$home/small/tables"
    administer first "CREATE TABLESPACE small LOCATION '$home/small/tables'"
  fi
  printf '{"done": %s, "password": "%s"}\n' "$port" "$password"
}

# In place: the servers have the file mapped.
set_clock() {
  printf '%-31d\n' "$1" | owner dd of="$home/clock" conv=notrunc status=none
}

administer() {
  owner "$binaries/psql" -q -X -A -t -v ON_ERROR_STOP=1 -h "$home" -p "${ports[$1]}" -U postgres \
    -d postgres -c "$2"
}

standby() {
  owner "$binaries/pg_basebackup" -D "$home/second" -h "$home" -p "${ports[first]}" -U postgres \
    -X stream -R -c fast --no-sync
  start_on_free_port "$home/second" "$home/second.log"
  ports[second]=$port
  administer first "ALTER SYSTEM SET synchronous_standby_names = '*'"
  administer first "SELECT pg_reload_conf()" >/dev/null
  until [[ $(administer first "SELECT count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == 1 ]]; do
    owner "$binaries/pg_isready" -q -h "$home" -p "${ports[first]}"
  done
  printf '{"done": %s}\n' "$port"
}

start() {
  owner "$binaries/pg_ctl" start -D "$home/$1" -l "$home/$1.log" -w -s -o "-p ${ports[$1]}" >/dev/null
}

revive() {
  local i
  for ((i = 0; i < 600; ++i)); do
    if ! owner "$binaries/pg_ctl" status -D "$home/first" >/dev/null 2>&1; then
      start first 2>/dev/null || true
    elif owner "$binaries/pg_isready" -q -h "$home" -p "${ports[first]}"; then
      return
    fi
    sleep 0.1
  done
  return 1
}

obey() {
  local order=$1
  shift
  case $order in
    begin | standby) "$order"; return ;;
    start) start "$1" ;;
    revive) revive ;;
    stop) owner "$binaries/pg_ctl" stop -D "$home/$1" -m "$2" -w -s ;;
    clock) set_clock "$1" ;;
    promote) owner "$binaries/pg_ctl" promote -D "$home/$1" -w -s ;;
    fill)
      if (($#)); then
        # SIZE may exceed the free room.
        dd if=/dev/zero of="$home/small/filler" bs=64K count="$1" iflag=count_bytes status=none 2>/dev/null || true
      else
        rm -f "$home/small/filler"
      fi
      ;;
    *) return 2 ;;
  esac
  printf '{"done": true}\n'
}

while read -r -a order; do
  obey "${order[@]}"
done
