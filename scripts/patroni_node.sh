#!/bin/bash
# Harms and asks a node of scripts/with_patroni.sh, which names them in TABLEQ_TEST_PATRONI_HOME.
#
#   scripts/patroni_node.sh leader            the number of the node that holds the lock
#   scripts/patroni_node.sh port NODE         of its PostgreSQL, past the links
#   scripts/patroni_node.sh healthy SECONDS   waits for a leader, two standbys, one of them synchronous
#   scripts/patroni_node.sh kill NODE         SIGKILL of the postmaster
#   scripts/patroni_node.sh freeze NODE       SIGSTOP of its Patroni and all of its PostgreSQL
#   scripts/patroni_node.sh thaw NODE         SIGCONT of the same; thaw_later: after 20 s
#   scripts/patroni_node.sh cut NODE          its links to etcd and the other nodes; its clients still reach it
#   scripts/patroni_node.sh join NODE         the links again
#   scripts/patroni_node.sh switch            asks for another leader, any of the standbys
set -euo pipefail
home=${TABLEQ_TEST_PATRONI_HOME:?patroni_node.sh: runs within scripts/with_patroni.sh}
order=${1-}
node=${2-}

ports_of() { read -r -a ports <"$home/node$1.ports"; }

# rest NODE PATH [ARGUMENT...]: of Patroni's own interface, past the links.
rest() {
  local ports
  ports_of "$1"
  python3 - "http://127.0.0.1:${ports[1]}/$2" "${@:3}" <<'PYTHON'
import sys, urllib.error, urllib.request
data = sys.argv[2].encode() if len(sys.argv) > 2 else None
try:
    with urllib.request.urlopen(sys.argv[1], data, timeout=40 if data else 2) as answer:
        print(answer.read().decode())
except urllib.error.HTTPError as failure:
    sys.exit(f"{failure.code} {failure.read().decode()}")
except OSError as failure:
    sys.exit(str(failure))
PYTHON
}

# The numbers of: leader, running standbys, synchronous standbys.
state() {
  local each
  for each in 1 2 3; do
    if rest "$each" cluster 2>/dev/null; then return; fi
  done | python3 -c '
import json, sys
text = sys.stdin.read()
members = json.loads(text)["members"] if text.strip() else []
leaders = [one for one in members if one["role"] == "leader" and one["state"] == "running"]
followers = [one for one in members if one["role"] in ("replica", "sync_standby")
             and one["state"] in ("running", "streaming")
             and leaders and one.get("timeline") == leaders[0].get("timeline")]
chosen = [one for one in followers if one["role"] == "sync_standby"]
print(leaders[0]["name"][4:] if len(leaders) == 1 else 0, len(followers), len(chosen))'
}

processes_of() {
  local postmaster
  cat "$home/node$1.pid"
  postmaster=$(head -n 1 "$home/data$1/postmaster.pid" 2>/dev/null) || return 0
  echo "$postmaster"
  # Patroni's helper processes and the server's own.
  ps -o pid= --ppid "$postmaster,$(cat "$home/node$1.pid")" || true
}

case $order in
  leader) read -r leader _ < <(state); echo "$leader" ;;
  port) ports_of "$node"; echo "${ports[0]}" ;;
  healthy)
    for ((until = SECONDS + node; SECONDS < until;)); do
      read -r leader followers chosen < <(state) || true
      if ((leader > 0 && followers == 2 && chosen >= 1)); then
        exit 0
      fi
      sleep 0.2
    done
    echo "patroni_node.sh: not healthy within $node s: leader $leader, $followers standbys, $chosen synchronous" >&2
    exit 1
    ;;
  kill) kill -KILL "$(head -n 1 "$home/data$node/postmaster.pid")" ;;
  freeze | thaw)
    signal=STOP
    [[ $order == freeze ]] || signal=CONT
    # Twice: the first time the postmaster may have been starting another process.
    for _ in 1 2; do
      for id in $(processes_of "$node"); do kill "-$signal" "$id" 2>/dev/null || true; done
    done
    ;;
  thaw_later)
    sleep 20
    exec "$0" thaw "$node"
    ;;
  cut) kill -STOP "$(cat "$home/links$node.pid")" ;;
  join) kill -CONT "$(cat "$home/links$node.pid")" ;;
  switch)
    read -r leader _ < <(state)
    rest "$leader" switchover "{\"leader\": \"node$leader\"}" >/dev/null
    ;;
  *)
    sed -n '4,12s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
