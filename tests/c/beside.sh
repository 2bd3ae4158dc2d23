#!/bin/sh
# The program works beside the library: beside.sh shared|inside NM LIBRARY PROGRAM
# inside: the library has its SOCI and its SQLite inside.
set -eu
if [ "$1" = inside ] && "$2" -D "$3" | grep -E 'soci|sqlite3_'; then
  echo "failed: these stand outside of the library" >&2
  exit 1
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$4" "$3" "$folder"
