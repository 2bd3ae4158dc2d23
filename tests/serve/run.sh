#!/bin/bash
# Runs a part of the tests of `tableq serve`.
#
#   run.sh packages FOLDER     installs the packages of package.json into FOLDER
#   run.sh test FILE           runs FILE with node's test runner
#
# Exit status 77: node, npm or Chromium is missing, and TABLEQ_TEST_BROWSER is not set.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)

for program in node npm "${TABLEQ_CHROMIUM:-chromium}"; do
  if ! command -v "$program" >/dev/null; then
    echo "run.sh: $program is missing: scripts/install_dependencies.sh browser" >&2
    [[ -z ${TABLEQ_TEST_BROWSER-} ]] && exit 77
    exit 1
  fi
done

case $1 in
  packages)
    mkdir -p "$2"
    cp "$here/package.json" "$here/package-lock.json" "$2/"
    cd "$2"
    npm ci --no-audit --no-fund --ignore-scripts --loglevel=error
    ;;
  test)
    node --test --test-reporter=spec "$2"
    ;;
  *)
    echo "run.sh: unknown: $1" >&2
    exit 2
    ;;
esac
