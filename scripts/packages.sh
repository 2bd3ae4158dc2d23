#!/bin/bash
# Makes the .deb packages, checks them, and installs and uses them in a clean root of Debian.
#
#   scripts/packages.sh [--suite SUITE]...     build/packages/packages/*.deb; the root is of SUITE (bookworm)
#   scripts/packages.sh --make                 build/packages/packages/*.deb alone
#   scripts/packages.sh --quick FOLDER         of a build that is there, in seconds: no clean root, no C++ library
#
# The first two build a shared library for /usr, which takes minutes. Needs root for the clean root. Exit status 0 when
# lintian has no error and everything worked.
set -euo pipefail
cd "$(dirname "$0")/.."

quick=
make=
suites=()
while (($#)); do
  case $1 in
    --make)
      make=yes
      shift
      continue
      ;;
    --quick) quick=${2:?packages.sh: --quick needs a build folder} ;;
    --suite) suites+=("${2:?packages.sh: --suite needs a name}") ;;
    *)
      sed -n '2,10s/^# \{0,1\}//p' "$0" >&2
      exit 2
      ;;
  esac
  shift 2
done
[[ -n $make ]] || ((${#suites[@]})) || suites=(bookworm)
scripts/install_dependencies.sh build packages

build=${quick:-build/packages}
if [[ -z $quick ]]; then
  cmake --preset packages >/dev/null
  cmake --build --preset packages -j "$(nproc)"
fi
pack=()
# xz takes most of the time.
[[ -z $quick ]] || pack=(-D CPACK_DEBIAN_COMPRESSION_TYPE=gzip)
rm -rf "$build/packages"
log=$(mktemp)
work=$(mktemp -d)
trap 'rm -rf "$log" "$work"' EXIT
(cd "$build" && umask 022 && cpack -G DEB "${pack[@]}") >"$log" 2>&1 || {
  cat "$log" >&2
  exit 1
}
mapfile -t packages < <(find "$PWD/$build/packages" -maxdepth 1 -name '*.deb' | sort)
echo "packages.sh: ${#packages[@]} packages"
((${#packages[@]} >= 4))

# Left out: the packages are no part of Debian, and have no bug to close there; CPack adds calls of ldconfig; the pages
# link to CHANGELOG.md by its name; a build for another prefix than /usr has no folder of the architecture.
suppressed=initial-upload-closes-no-bugs,maintscript-calls-ldconfig,wrong-name-for-upstream-changelog
[[ -z $quick ]] || suppressed+=,pkg-config-unavailable-for-cross-compilation
lintian --allow-root --fail-on error,warning --suppress-tags "$suppressed" "${packages[@]}"
echo "packages.sh: lintian finds nothing"

if [[ -n $quick ]]; then
  mkdir -p "$work/root/var/lib/dpkg"
  touch "$work/root/var/lib/dpkg/status"
  dpkg --root="$work/root" --force-depends --no-triggers -i "$(dirname "${packages[0]}")"/tableq_*.deb >"$log" 2>&1 || {
    cat "$log" >&2
    exit 1
  }
  (
    cd "$work"
    export TABLEQ_DB=sqlite://try.db
    root/usr/bin/tableq create claim jobs
    root/usr/bin/tableq enqueue jobs hello
    root/usr/bin/tableq work jobs --until-empty -- grep -q '^hello$'
    test -f root/usr/share/man/man1/tableq-enqueue.1.gz
  ) >"$log" || {
    cat "$log" >&2
    exit 1
  }
  echo "packages.sh: the command is installed, and works"
  exit
fi

for suite in "${suites[@]}"; do
  began=$SECONDS
  mmdebstrap --quiet --variant=apt --format=null --dpkgopt=force-unsafe-io \
    --customize-hook="mkdir \"\$1/try\"" \
    --customize-hook="copy-in ${packages[*]} packaging/try_packages.sh scripts/quickstart.sh tests/consumer/application/main.cpp \
      examples/c_worker.c /try" \
    --customize-hook="chroot \"\$1\" bash /try/try_packages.sh" "$suite" /dev/null
  echo "packages.sh: installed, used and removed in a clean $suite, in $((SECONDS - began)) s"
done
