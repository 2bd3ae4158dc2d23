#!/bin/bash
# Runs a command in the sources of this checkout, as committed, in a clean root of Debian that is removed afterwards.
#
#   scripts/clean_root.sh SUITE [COMMAND...]        scripts/test.sh dev, without a command
#
#   scripts/clean_root.sh trixie                    Debian 13: g++ 14, PostgreSQL 17, SQLite 3.46
#   scripts/clean_root.sh bookworm scripts/packages.sh --quick build/dev
#
# Needs root, mmdebstrap and some 6 GB below TMPDIR. Before a release; it builds all. CXX and CC are passed on.
set -euo pipefail
if (($# == 0)) || [[ $1 == -* ]]; then
  sed -n '2,9s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
cd "$(dirname "$0")/.."
suite=$1
shift
(($#)) || set -- scripts/test.sh dev
scripts/install_dependencies.sh packages

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# A clone, because rules of tests/lint ask git for the files.
# Its path is one that no file names by chance: tests look for it in what they install.
git clone -q --depth 1 "file://$PWD" "$work/clean-root-of-tableq"
{
  echo 'set -e; cd /clean-root-of-tableq; export DEBIAN_FRONTEND=noninteractive'
  [[ -z ${CXX-} ]] || printf 'export CXX=%q\n' "$CXX"
  [[ -z ${CC-} ]] || printf 'export CC=%q\n' "$CC"
  printf 'exec'
  printf ' %q' "$@"
  echo
} >"$work/run.sh"
hooks=(--customize-hook="copy-in $work/clean-root-of-tableq $work/run.sh /")
# What this system trusts beside Debian's list, pip and npm need there too: a proxy may have a certificate of its own.
shopt -s nullglob
certificates=(/usr/local/share/ca-certificates/*.crt)
# shellcheck disable=SC2016  # The hook's shell expands it.
((${#certificates[@]} == 0)) || hooks+=(--customize-hook="copy-in ${certificates[*]} /usr/local/share/ca-certificates"
  --customize-hook='chroot "$1" update-ca-certificates >/dev/null 2>&1')
# Nobody keeps the root: what dpkg unpacks need not reach the disk, which would take minutes.
# shellcheck disable=SC2016
mmdebstrap --quiet --variant=apt --format=null --dpkgopt=force-unsafe-io --include=ca-certificates,git \
  "${hooks[@]}" --customize-hook='chroot "$1" bash /run.sh' "$suite" /dev/null
echo "clean_root.sh: $suite: passed"
