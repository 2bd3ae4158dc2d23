#!/bin/bash
# Runs tests of the Python package, under Debian's Python, for which the packages of the tests are.
#
#   run.sh FILE [ARGUMENT OF PYTEST...]
#
# TABLEQ_LIBRARY names libtableq.so.0, TABLEQ_COMMAND the command, TABLEQ_TEST_POSTGRESQL a server.
set -euo pipefail
cd "$(dirname "$0")"
export PYTHONDONTWRITEBYTECODE=1
# With -X dev Python tells of what was left open.
exec /usr/bin/python3 -X dev -m pytest --quiet "$@"
