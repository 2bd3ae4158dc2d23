# shellcheck shell=bash
# Temporary PostgreSQL servers, for with_postgresql.sh and tests/crash/own_postgresql.sh.
# Both read this file. PostgreSQL refuses to run as root: then the system user `postgres` runs it.

# Sets `binaries`, the folder of the newest server's programs, or the one that TABLEQ_POSTGRESQL_PROGRAMS names.
find_postgresql() {
  local folder
  binaries=${TABLEQ_POSTGRESQL_PROGRAMS-}
  [[ -z $binaries ]] || return 0
  for folder in $(printf '%s\n' /usr/lib/postgresql/*/bin | sort -Vr) "$(dirname "$(command -v pg_ctl || echo /)")"; do
    if [[ -x $folder/initdb && -x $folder/pg_ctl ]]; then
      binaries=$folder
      return
    fi
  done
  echo "${0##*/}: no PostgreSQL server here; scripts/install_dependencies.sh postgresql" >&2
  return 1
}

# Creates the directory `home`, and a password.
make_home() {
  home=$(mktemp -d "${TMPDIR:-/tmp}/tableq-postgresql.XXXXXX")
  as_owner=()
  if ((EUID == 0)); then
    as_owner=(runuser -u postgres --)
    chown postgres: "$home"
  fi
  password=$(od -An -N12 -tx1 /dev/urandom | tr -d ' \n')
  owner tee "$home/password" >/dev/null <<<"$password"
}

# Runs a command as the owner of the servers, in a directory that this user may enter.
owner() { (cd "$home" && "${as_owner[@]}" "$@"); }

# make_cluster DATA DURABLE [LINE OF postgresql.conf]...
make_cluster() {
  local data=$1 durable=$2
  shift 2
  owner "$binaries/initdb" -D "$data" -U postgres -E UTF8 --locale=C.UTF-8 --no-sync \
    --auth-local=trust --auth-host=md5 --pwfile="$home/password" >/dev/null
  owner tee -a "$data/postgresql.conf" >/dev/null <<CONFIGURATION
listen_addresses = '127.0.0.1'
unix_socket_directories = '$home'
# Tests open many sessions, and a login with SCRAM takes longer than the rest of the session's start.
password_encryption = md5
max_connections = 300
max_prepared_transactions = 20
fsync = $durable
full_page_writes = $durable
log_line_prefix = '%m [%p] '
log_checkpoints = off
# A session that touches less memory ends sooner.
$([[ $durable == on ]] || echo 'shared_buffers = 16MB')
$(printf '%s\n' "$@")
CONFIGURATION
}

# start_on_free_port DATA LOG: sets `port`.
start_on_free_port() {
  # Only the start shows whether a port is free; if not, another one is tried.
  for _ in 1 2 3 4 5 6 7 8; do
    port=$((20000 + (RANDOM * 32768 + RANDOM) % 12000))
    if owner "$binaries/pg_ctl" start -D "$1" -l "$2" -w -s -o "-p $port" 2>/dev/null; then
      return
    fi
  done
  echo "${0##*/}: the server does not start" >&2
  return 1
}

# The role and the database that tests use, on the server at `port`.
make_database() {
  local psql=$binaries/psql
  [[ -x $psql ]] || psql=psql
  owner "$psql" -q -X -v ON_ERROR_STOP=1 -h "$home" -p "$port" -U postgres -d postgres <<SQL
CREATE ROLE tableq LOGIN SUPERUSER PASSWORD '$password';
CREATE DATABASE tableq OWNER tableq;
SQL
}

# stop_server DATA: at once, if it runs.
stop_server() {
  [[ ! -e $1/postmaster.pid ]] || owner "$binaries/pg_ctl" stop -D "$1" -m immediate -w -s || true
}

child=

# run_child COMMAND [ARGUMENT...]: and exits with its status. It has a process group of its own, so that an interrupt
# ends it with all its processes.
run_child() {
  local status=0
  set -m
  "$@" <&0 &
  child=$!
  set +m
  wait "$child" || status=$?
  child=
  exit "$status"
}

# end_child: with all its processes, if it runs.
end_child() {
  if [[ -n $child ]] && kill -0 "$child" 2>/dev/null; then
    kill -TERM -- "-$child" 2>/dev/null || true
    wait "$child" 2>/dev/null || true
  fi
}
