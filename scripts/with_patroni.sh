#!/bin/bash
# Runs a command with three PostgreSQL servers under Patroni, and removes all of it afterwards.
#
#   scripts/with_patroni.sh COMMAND [ARGUMENT...]
#
# TABLEQ_TEST_PATRONI holds the address of all three, for the one that takes writes; commits wait for a
# synchronous standby. TABLEQ_TEST_PATRONI_HOME is for scripts/patroni_node.sh, which harms them.
# Everything listens on 127.0.0.1. Each node's links to etcd and to the other nodes pass tcp_links.py, which can be cut.
# PostgreSQL refuses to run as root: then the system user `postgres` runs it.
set -euo pipefail

if (($# == 0)); then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
scripts=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=scripts/postgresql_server.sh
source "$scripts/postgresql_server.sh"
find_postgresql || exit 1
for program in etcd patroni python3 setpriv; do
  if ! command -v "$program" >/dev/null; then
    # Where PostgreSQL is not required, tests of Patroni are skipped.
    [[ ,${TABLEQ_TEST_REQUIRE-}, == *,postgresql,* ]] || exec "$@"
    echo "with_patroni.sh: no $program here; scripts/install_dependencies.sh patroni" >&2
    exit 1
  fi
done
make_home
as_user=()
if ((EUID == 0)); then
  # Unlike runuser it becomes the program, so its id is that of the program.
  as_user=(setpriv --reuid=postgres --regid=postgres --init-groups)
fi

started=()
# shellcheck disable=SC2317  # Called by the trap.
cleanup() {
  local status=$? each node id
  trap '' INT TERM
  trap - EXIT
  end_child
  # First what would start a server again. SIGKILL also ends a stopped process.
  for each in "${started[@]}"; do
    kill -KILL "$each" 2>/dev/null || true
    wait "$each" 2>/dev/null || true
  done
  for node in 1 2 3; do
    id=$(head -n 1 "$home/data$node/postmaster.pid" 2>/dev/null) || continue
    "$scripts/patroni_node.sh" thaw "$node" || true
    kill -QUIT "$id" 2>/dev/null || true
    for _ in {1..100}; do
      # A zombie has ended, too.
      [[ $(ps -o stat= -p "$id") == [!Z]* ]] || break
      sleep 0.05
    done
  done
  # One that Patroni had begun, and that had not written its number yet.
  for id in $(ps -eo pid=,args= | home=$home awk 'index($0, ENVIRON["home"] "/data") { print $1 }'); do
    kill -KILL "$id" 2>/dev/null || true
  done
  if ((status != 0)); then
    echo "with_patroni.sh: status $status; the end of the logs:" >&2
    tail -n 15 "$home"/*.log >&2 || true
  fi
  rm -rf "$home"
  exit "$status"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
export TABLEQ_TEST_PATRONI_HOME=$home

# Two of etcd, and five of each node, below those that the system gives to clients.
mapfile -t free < <(python3 -c '
import random, socket
held = []
while len(held) < 17:
    one = socket.socket()
    try:
        one.bind(("127.0.0.1", random.randrange(20000, 32000)))
    except OSError:
        continue
    held.append(one)
    print(one.getsockname()[1])')

# launch NAME COMMAND...: as the servers' owner, in a session of its own; an interrupt of the terminal does not reach it.
launch() {
  local name=$1
  shift
  (cd "$home" && exec "${as_user[@]}" setsid "$@") >>"$home/$name.log" 2>&1 </dev/null &
  started+=($!)
  echo $! >"$home/$name.pid"
}

launch etcd etcd --data-dir "$home/etcd" --name one --unsafe-no-fsync --log-level warn --enable-v2 \
  --listen-client-urls "http://127.0.0.1:${free[0]}" --advertise-client-urls "http://127.0.0.1:${free[0]}" \
  --listen-peer-urls "http://127.0.0.1:${free[1]}" --initial-advertise-peer-urls "http://127.0.0.1:${free[1]}" \
  --initial-cluster "one=http://127.0.0.1:${free[1]}"

# Patroni ends when it asks an etcd that has not decided on its version yet.
python3 - "http://127.0.0.1:${free[0]}/version" <<'PYTHON'
import json, sys, time, urllib.request
until = time.monotonic() + 60
while time.monotonic() < until:
    try:
        with urllib.request.urlopen(sys.argv[1], timeout=2) as answer:
            if json.load(answer)["etcdcluster"] != "not_decided":
                sys.exit(0)
    except OSError:
        pass
    time.sleep(0.1)
sys.exit("with_patroni.sh: etcd does not start within 60 s")
PYTHON

# configure NODE PORT REST OTHERS_PORT OTHERS_REST ETCD
configure() {
  owner tee "$home/node$1.yml" >/dev/null <<CONFIGURATION
scope: tableq
name: node$1
restapi: {listen: '127.0.0.1:$3', connect_address: '127.0.0.1:$5'}
# Its own link: a list of servers from etcd itself would lead around it. Not etcd3: there Patroni 3.0.2 writes the leader
# key without a look at its holder, and a primary that was frozen takes it from its successor.
etcd: {hosts: '127.0.0.1:$6', use_proxies: true}
bootstrap:
  dcs:
    # At least loop_wait + 2 * retry_timeout.
    ttl: 5
    loop_wait: 1
    retry_timeout: 2
    primary_start_timeout: 0
    synchronous_mode: true
    maximum_lag_on_failover: 0
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 200
        shared_buffers: 16MB
        fsync: off
        wal_sender_timeout: 5s
        wal_receiver_timeout: 5s
        wal_retrieve_retry_interval: 500ms
        password_encryption: md5
  initdb: [{encoding: UTF8}, {locale: C.UTF-8}, {auth-local: trust}, {auth-host: md5}, no-sync, data-checksums]
postgresql:
  listen: 127.0.0.1:$2
  connect_address: 127.0.0.1:$4
  data_dir: $home/data$1
  bin_dir: $binaries
  pgpass: $home/pgpass$1
  use_unix_socket: true
  remove_data_directory_on_rewind_failure: true
  remove_data_directory_on_diverged_timelines: true
  authentication:
    superuser: {username: postgres, password: '$password'}
    replication: {username: replicator, password: '$password'}
    rewind: {username: postgres, password: '$password'}
  parameters: {unix_socket_directories: '$home', log_line_prefix: '%m [%p] '}
  pg_hba:
    - local all all trust
    - host all all 127.0.0.1/32 md5
    - host replication replicator 127.0.0.1/32 md5
  basebackup: [{checkpoint: fast}, no-sync]
CONFIGURATION
}

hosts=
for node in 1 2 3; do
  at=$((node * 5 - 3))
  mine=("${free[@]:at:5}")
  configure "$node" "${mine[@]}"
  echo "${mine[@]}" >"$home/node$node.ports"
  launch "links$node" python3 "$scripts/tcp_links.py" "${mine[2]}:${mine[0]}" "${mine[3]}:${mine[1]}" "${mine[4]}:${free[0]}"
  hosts+=,127.0.0.1:${mine[0]}
done
for node in 1 2 3; do
  launch "node$node" patroni "$home/node$node.yml"
done
"$scripts/patroni_node.sh" healthy 120
port=$("$scripts/patroni_node.sh" port "$("$scripts/patroni_node.sh" leader)")
make_database

export TABLEQ_TEST_PATRONI="postgresql://tableq:$password@${hosts#,}/tableq?target_session_attrs=read-write"
run_child "$@"
