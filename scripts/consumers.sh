#!/bin/bash
# Builds tableq as a part of other projects, before a release: in several ways, static and shared, with a SOCI of theirs.
#
#   scripts/consumers.sh [NAME...]        sqlite_static, postgresql_shared, all_static, own_soci
#
# own_soci fetches the source package of Debian's SOCI by apt, into build/consumers.
set -euo pipefail
cd "$(dirname "$0")/.."
scripts/install_dependencies.sh build
out=$PWD/build/consumers
quick=(-DCMAKE_BUILD_TYPE=Debug -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=32)
none=(-DTABLEQ_SQLITE=OFF -DTABLEQ_POSTGRESQL=OFF -DTABLEQ_ODBC=OFF)

# consumer NAME PROJECT ADDRESS OPTION...: builds a project of tests/consumer, and runs it with a connection string. The
# program prints nothing when its message came back; with the scheme of a database that was left out it says so.
consumer() {
  local name=$1 project=$2 address=$3
  shift 3
  echo "consumers.sh: $name"
  rm -rf "${out:?}/$name"
  cmake -S "tests/consumer/$project" -B "$out/$name" -G Ninja "${quick[@]}" "$@" >/dev/null
  cmake --build "$out/$name" --target consumer -j "$(nproc)" >"$out/$name.log" || {
    cat "$out/$name.log" >&2
    exit 1
  }
  local said
  said=$("$out/$name/consumer" "$address" 2>&1) || true
  case $address in
    sqlite*) [[ -z $said ]] ;;
    # Nothing listens there.
    *) [[ $said == *connect* ]] ;;
  esac || {
    echo "consumers.sh: $name: $said" >&2
    exit 1
  }
}

mkdir -p "$out"
(($#)) || set -- sqlite_static postgresql_shared all_static own_soci
for name; do
  case $name in
    sqlite_static) consumer "$name" add_subdirectory sqlite://:memory: "${none[@]}" -DTABLEQ_SQLITE=ON ;;
    postgresql_shared) consumer "$name" fetch_content postgresql://nobody@127.0.0.1:9/none "${none[@]}" \
      -DTABLEQ_POSTGRESQL=ON -DBUILD_SHARED_LIBS=ON ;;
    all_static) consumer "$name" fetch_content sqlite://:memory: ;;
    own_soci)
      sources=$(scripts/debian_source.sh soci "$out/sources")
      consumer "$name" fetch_content sqlite://:memory: "${none[@]}" -DTABLEQ_SQLITE=ON -DWITH_POSTGRESQL=OFF \
        -DWITH_ODBC=OFF -DOWN_SOCI="$sources" -Wno-dev -Wno-deprecated
      ;;
    *)
      sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
      exit 2
      ;;
  esac
done
echo "consumers.sh: all work"
