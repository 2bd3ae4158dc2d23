#!/bin/sh
# Runs a command on an empty database: on_database.sh DATABASE COMMAND...
# postgresql: one made for the run on the server of TABLEQ_TEST_POSTGRESQL; TABLEQ_DB names it.
# sqlite: TABLEQ_DB is not set, and the command makes its own.
# Exit status 77, skipped, when there is no such server and none is required.
set -eu
database=$1
shift
unset TABLEQ_DB
[ "$database" = postgresql ] || exec "$@"

server=${TABLEQ_TEST_POSTGRESQL-}
if [ -z "$server" ]; then
  echo "TABLEQ_TEST_POSTGRESQL is not set"
  case ,${TABLEQ_TEST_REQUIRE-}, in *,postgresql,*) exit 1 ;; esac
  exit 77
fi
name=tableq_consumer_$$
psql -q -X -d "$server" -c "CREATE DATABASE $name"
trap 'psql -q -X -d "$server" -c "DROP DATABASE $name"' EXIT
# The same address with another database: the last part of the path.
TABLEQ_DB=$(printf '%s' "$server" | sed -E "s|^([a-z]+://[^/?]*)/[^?]*|\1/$name|")
export TABLEQ_DB
"$@"
