#!/bin/sh
# Runs a command on an empty database: on_database.sh DATABASE COMMAND...
# postgresql: one made for the run on the server of TABLEQ_TEST_POSTGRESQL; TABLEQ_DB names it.
# postgresql_odbc: the same through its ODBC driver.
# sqlite: TABLEQ_DB is not set, and the command makes its own.
# Exit status 77, skipped, when there is no such server and none is required.
set -eu
database=$1
shift
unset TABLEQ_DB
[ "$database" = sqlite ] && exec "$@"

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
if [ "$database" = postgresql_odbc ]; then
  part() { psql -X -A -t -d "$TABLEQ_DB" -c "\\echo :$1" | head -n 1; }
  password=$(printf '%s' "$server" | sed -nE 's|^[a-z]+://[^:/@]*:([^@]*)@.*|\1|p')
  odbc="Driver=PostgreSQL Unicode;Servername=$(part HOST);Port=$(part PORT);Database=$name"
  TABLEQ_DB="odbc://$odbc;UID=$(part USER);PWD=$password"
fi
export TABLEQ_DB
"$@"
