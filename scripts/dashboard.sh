#!/bin/bash
# The dashboard before a release: under sanitizers and load, its pictures, its costs.
#
#   scripts/dashboard.sh check             tests/serve and tests/serve/load.mjs under the sanitizers: 1,000 clients at once,
#                                          slow ones, 10,000 queues, a database that stops and starts
#   scripts/dashboard.sh pictures [BUILD]  the pictures of docs/dashboard.md, by the command of BUILD, build/dev if not given
#   scripts/dashboard.sh figures [MINUTES] memory and processor time with 20 queues and 10,000 jobs a second; 60 minutes
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/postgresql_server.sh

packages() { tests/serve/run.sh packages "$1/tests/serve"; }

with_server() {
  find_postgresql
  make_home
  trap 'end_child; stop_server "$home/data"; rm -rf "$home"' EXIT
  make_cluster "$home/data" off
  start_on_free_port "$home/data" "$home/log"
  make_database
  export TABLEQ_TEST_POSTGRESQL="postgresql://tableq:$password@127.0.0.1:$port/tableq"
}

check() {
  local build=$PWD/build/asan part
  cmake --preset asan
  cmake --build --preset asan --target tableq_tool
  packages "$build"
  with_server
  export TABLEQ_COMMAND=$build/tools/tableq TABLEQ_NODE_MODULES=$build/tests/serve/node_modules TABLEQ_TEST_BROWSER=1
  export TABLEQ_SLOW=4  # Sanitizers take time.
  TABLEQ_TEST_STOP=$(printf '%q ' "${as_owner[@]}" "$binaries/pg_ctl" stop -D "$home/data" -m fast -w -s)
  TABLEQ_TEST_START=$(printf '%q ' "${as_owner[@]}" "$binaries/pg_ctl" start -D "$home/data" -l "$home/log" -w -s -o "-p $port")
  export TABLEQ_TEST_STOP TABLEQ_TEST_START
  for part in tests/serve/*.test.mjs tests/serve/load.mjs; do
    echo "$part"
    node --test --test-reporter=spec "$part"
  done
}

pictures() {
  local build
  build=$(realpath "${1:-build/dev}")
  packages "$build"
  TABLEQ_COMMAND=$build/tools/tableq TABLEQ_NODE_MODULES=$build/tests/serve/node_modules \
    node tests/serve/pictures.mjs docs/dashboard
}

figures() {
  local build=$PWD/build/dev
  with_server
  TABLEQ_COMMAND=$build/tools/tableq TABLEQ_LIBRARY=$build/bindings/c/libtableq.so.0 PYTHONPATH=bindings/python \
    /usr/bin/python3 tests/serve/figures.py "$TABLEQ_TEST_POSTGRESQL" "${1:-60}"
}

case ${1-} in
  check) check ;;
  pictures | figures) "$@" ;;
  *)
    sed -n '4,7s/^# *//p' "$0" >&2
    exit 2
    ;;
esac
