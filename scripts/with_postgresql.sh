#!/bin/bash
# Runs a command beside a throw-away PostgreSQL server, and removes the server afterwards.
#
#   scripts/with_postgresql.sh [--fast] [--set NAME=VALUE]... COMMAND [ARGUMENT...]
#
# The command finds its address in TABLEQ_TEST_POSTGRESQL. The server listens on 127.0.0.1 (with
# passwords) and on a socket in its own directory only, which TABLEQ_TEST_POSTGRESQL_SOCKET names.
# --fast: changes are not forced to the disk. --set: a line of postgresql.conf.
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

binaries=
for folder in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -Vr) "$(dirname "$(command -v pg_ctl || echo /)")"; do
  if [[ -x $folder/initdb && -x $folder/pg_ctl ]]; then
    binaries=$folder
    break
  fi
done
if [[ -z $binaries ]]; then
  echo "with_postgresql.sh: no PostgreSQL server here; scripts/install_dependencies.sh postgresql" >&2
  exit 1
fi

home=$(mktemp -d "${TMPDIR:-/tmp}/tableq-postgresql.XXXXXX")
data=$home/data
log=$home/server.log
as_owner=()
if ((EUID == 0)); then
  as_owner=(runuser -u postgres --)
  chown postgres: "$home"
fi
# In a directory that the owner may enter.
owner() { (cd "$home" && "${as_owner[@]}" "$@"); }

child=
# shellcheck disable=SC2317  # Called by the trap.
cleanup() {
  local status=$?
  trap '' INT TERM
  trap - EXIT
  if [[ -n $child ]] && kill -0 "$child" 2>/dev/null; then
    kill -TERM -- "-$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
  if [[ -e $data/postmaster.pid ]]; then
    owner "$binaries/pg_ctl" stop -D "$data" -m immediate -w -s || true
  fi
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

password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
owner tee "$home/password" >/dev/null <<<"$password"
owner "$binaries/initdb" -D "$data" -U postgres -E UTF8 --locale=C.UTF-8 --no-sync \
  --auth-local=trust --auth-host=scram-sha-256 --pwfile="$home/password" >/dev/null
owner tee -a "$data/postgresql.conf" >/dev/null <<CONFIGURATION
listen_addresses = '127.0.0.1'
unix_socket_directories = '$home'
max_connections = 300
fsync = $durable
full_page_writes = $durable
log_line_prefix = '%m [%p] '
log_checkpoints = off
$(printf '%s\n' "${settings[@]}")
CONFIGURATION

# A port is free or not only when it is taken: another one is tried then.
port=
for _ in 1 2 3 4 5 6 7 8; do
  port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
  if owner "$binaries/pg_ctl" start -D "$data" -l "$log" -w -s -o "-p $port" 2>/dev/null; then
    break
  fi
  port=
done
if [[ -z $port ]]; then
  echo "with_postgresql.sh: the server does not start" >&2
  exit 1
fi

owner "$binaries/psql" -q -X -v ON_ERROR_STOP=1 -h "$home" -p "$port" -U postgres -d postgres <<SQL
CREATE ROLE tableq LOGIN SUPERUSER PASSWORD '$password';
CREATE DATABASE tableq OWNER tableq;
SQL

export TABLEQ_TEST_POSTGRESQL="postgresql://tableq:$password@127.0.0.1:$port/tableq"
export TABLEQ_TEST_POSTGRESQL_SOCKET="postgresql:///tableq?host=$home&port=$port&user=tableq"
# A process group of its own, so that an interrupt ends the command with all that it has started.
set -m
"$@" <&0 &
child=$!
set +m
status=0
wait "$child" || status=$?
child=
exit "$status"
