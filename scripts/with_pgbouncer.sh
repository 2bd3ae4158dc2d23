#!/bin/bash
# Runs a command with a pgbouncer in transaction mode, and ends the pooler afterwards.
#
#   scripts/with_pgbouncer.sh COMMAND [ARGUMENT...]
#
# pgbouncer connects to the server of TABLEQ_TEST_POSTGRESQL (a URI with a password) and listens on a
# socket in a directory of its own; TABLEQ_TEST_POOLER holds its address. The databases `untold`, `single`, `scarce`,
# `kept`, `statement` and `routed` there are the same one, through sessions of their own: `single` and `scarce` through
# one, `scarce` and `kept` in session mode, `statement` in statement mode; those of `routed` have the search path
# tableq_routed. The pooler accepts `options` of a login and drops them. Three sessions of the server serve the others.
# Without a server or without pgbouncer the command runs without a pooler.
# pgbouncer refuses to run as root: then the system user `postgres` runs it.
set -euo pipefail

if (($# == 0)); then
  sed -n '2,12s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
pgbouncer=$(command -v pgbouncer || command -v /usr/sbin/pgbouncer || true)
server=${TABLEQ_TEST_POSTGRESQL-}
if [[ -z $pgbouncer || ! $server =~ ^postgresql://([^:/@]+):([^@]+)@([^:/]+):([0-9]+)/([^?]+)$ ]]; then
  exec "$@"
fi
user=${BASH_REMATCH[1]}
address="host=${BASH_REMATCH[3]} port=${BASH_REMATCH[4]} user=$user password=${BASH_REMATCH[2]}"
database=${BASH_REMATCH[5]}

home=$(mktemp -d "${TMPDIR:-/tmp}/tableq-pgbouncer.XXXXXX")
as_owner=()
if ((EUID == 0)); then
  as_owner=(runuser -u postgres --)
fi
pooler=
# shellcheck disable=SC2317  # Called by the trap.
cleanup() {
  local status=$?
  trap - EXIT
  if [[ -n $pooler ]]; then
    # The pooler's own process: the program that starts it for root needs two seconds to forward a
    # signal.
    kill -TERM "$(cat "$home/pid" 2>/dev/null || echo "$pooler")" 2>/dev/null || true
    wait "$pooler" 2>/dev/null || true
  fi
  rm -rf "$home"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# The socket gives the rights of the server's user: the directory is closed to others.
umask 077
cat >"$home/pgbouncer.ini" <<CONFIGURATION
[databases]
* = $address
untold = $address dbname=$database
single = $address dbname=$database pool_size=1
scarce = $address dbname=$database pool_mode=session pool_size=1
kept = $address dbname=$database pool_mode=session pool_size=20
statement = $address dbname=$database pool_mode=statement
routed = $address dbname=$database connect_query='SET search_path = tableq_routed'
[pgbouncer]
unix_socket_dir = $home
listen_addr =
listen_port = 6543
auth_type = any
pidfile = $home/pid
pool_mode = transaction
max_client_conn = 500
default_pool_size = 3
server_round_robin = 1
ignore_startup_parameters = extra_float_digits, options
CONFIGURATION
if ((EUID == 0)); then
  chown -R postgres: "$home"
fi
(cd "$home" && exec "${as_owner[@]}" "$pgbouncer" -q "$home/pgbouncer.ini") >"$home/log" 2>&1 &
pooler=$!
for _ in {1..100}; do
  [[ -S $home/.s.PGSQL.6543 ]] && break
  if ! kill -0 "$pooler" 2>/dev/null; then
    cat "$home/log" >&2
    exit 1
  fi
  sleep 0.1
done
export TABLEQ_TEST_POOLER="postgresql:///$database?host=$home&port=6543&user=$user"
"$@"
