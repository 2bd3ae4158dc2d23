#!/bin/bash
# Installs what requirements.txt names, OpenTelemetry's SDK and vermin, into FOLDER: packages.sh FOLDER
#
# Exit status 77: it cannot be fetched, and TABLEQ_TEST_BROWSER is not set. The tests are skipped then.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if [[ -e $1/complete ]] && cmp -s "$here/requirements.txt" "$1/complete"; then exit 0; fi
rm -rf "$1"
if ! /usr/bin/python3 -m pip install --quiet --disable-pip-version-check --no-warn-script-location \
    --target "$1" -r "$here/requirements.txt"; then
  [[ -n ${TABLEQ_TEST_BROWSER-} ]] && exit 1
  exit 77
fi
cp "$here/requirements.txt" "$1/complete"
