#!/bin/sh
# Runs an example and compares what it prints: prints.sh EXPECTED PROGRAM. The address is TABLEQ_DB,
# or else a new file of SQLite.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
printed=$("$2" "${TABLEQ_DB-sqlite://$folder/example.db}")
printf '%s\n' "$printed"
[ "$printed" = "$(printf '%b' "$1")" ]
