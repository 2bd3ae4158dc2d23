#!/bin/sh
# Runs an example and compares what it prints: prints.sh EXPECTED PROGRAM. The address is TABLEQ_DB,
# or else SQLite in memory.
set -eu
printed=$("$2" "${TABLEQ_DB-sqlite://:memory:}")
printf '%s\n' "$printed"
[ "$printed" = "$(printf '%b' "$1")" ]
