#!/bin/bash
# Puts Microsoft's ODBC Driver 18 for SQL Server beside the drivers of this machine, for the tests of this checkout only.
#
#   scripts/microsoft_odbc.sh --accept-licence [FOLDER]
#
# The driver is not part of tableq. Its licence is Microsoft's: with --accept-licence you accept it. It stands in FOLDER
# (default: build/microsoft_odbc) as LICENSE.txt, and on https://aka.ms/odbc18eula. The driver comes from the Python
# package mssql-python-odbc of the Python Package Index. Only FOLDER is written. Prints the line that makes a process
# find the driver by FOLDER/odbcinst.ini, which lists the machine's other drivers too, and makes tests insist on it:
#
#   eval "$(scripts/microsoft_odbc.sh --accept-licence)"
set -euo pipefail
cd "$(dirname "$0")/.."

version=18.6.2.2
name='ODBC Driver 18 for SQL Server'
if [[ ${1-} != --accept-licence ]]; then
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
folder=$(realpath -m "${2:-build/microsoft_odbc}")

if [[ ! -f $folder/$version ]]; then
  rm -rf "$folder"
  mkdir -p "$folder"
  scratch=$(mktemp -d "$folder/scratch.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --only-binary :all: \
    --dest "$scratch" "mssql-python-odbc==$version" >&2
  python3 -m zipfile -e "$scratch"/*.whl "$scratch/package"
  # The driver looks for its texts in ../share.
  cp -r "$scratch/package/mssql_python_odbc/libs/linux/debian_ubuntu/$(uname -m)/." "$folder"
  cp "$folder/lib/MICROSOFT_ODBC_DRIVER_FOR_SQL_SERVER_LICENSE.txt" "$folder/LICENSE.txt"
  touch "$folder/$version"
fi
library=$(echo "$folder"/lib/libmsodbcsql-18.*.so.*)
{
  cat "$(odbcinst -j | sed -n 's/^DRIVERS\.*: *//p')" 2>/dev/null || true
  printf '\n[%s]\nDescription=Microsoft ODBC Driver 18 for SQL Server\nDriver=%s\n' "$name" "$library"
} >"$folder/odbcinst.$$"
mv "$folder/odbcinst.$$" "$folder/odbcinst.ini"
if ldd "$library" | grep 'not found' >&2; then
  echo "microsoft_odbc.sh: libraries are missing: scripts/install_dependencies.sh microsoft" >&2
  exit 1
fi
echo "Microsoft's $name, under Microsoft's licence ($folder/LICENSE.txt)" >&2
echo "export ODBCSYSINI=$folder TABLEQ_TEST_MICROSOFT_ODBC=required"
