#!/bin/bash
# Does what a new user does, in a clean root of Debian: from nothing to a worker that survives a kill, with the time it took.
#
#   scripts/newcomer.sh SUITE [WAY...]        cmake, pip, fetch_content, deb; all of them without a name
#
#   scripts/newcomer.sh trixie fetch_content
#
# cmake builds, installs and does the part of docs/five-minutes.md for C++ and the shell; pip goes on from there with that
# for Python; fetch_content has the one for C++ in a project of its own; deb installs packages that scripts/packages.sh
# makes in that root before. Needs root and mmdebstrap. Before a release; each way builds all.
set -euo pipefail
cd "$(dirname "$0")/.."
if (($# == 0)) || [[ $1 == -* && $1 != --here ]]; then
  sed -n '2,11s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
if [[ $1 != --here ]]; then
  exec scripts/clean_root.sh "$1" scripts/newcomer.sh --here "${@:2}"
fi
shift
(($#)) || set -- cmake pip fetch_content deb

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export DEBIAN_FRONTEND=noninteractive
lines=()
quietly() {
  "$@" >"$work/log" 2>&1 || {
    tail -n 60 "$work/log" >&2
    echo "newcomer.sh: failed: $*" >&2
    exit 1
  }
}
packages() {
  quietly apt-get install -y --no-install-recommends "$@"
}
# took WAY WHAT: remembers the time since `began`.
took() {
  lines+=("$1: $2: $((SECONDS - began)) s")
  echo "newcomer.sh: ${lines[-1]}"
  began=$SECONDS
}

# block SECTION LANGUAGE: the first such one of the page.
block() {
  awk -v section="## $1" -v fence="\`\`\`$2" '
    /^## / { inside = $0 == section }
    inside && shown && /^```$/ { exit }
    shown
    inside && $0 == fence { shown = 1 }' docs/five-minutes.md
}

# comes FILE WORD COUNT: waits until the file has a word so often.
comes() {
  local i
  for ((i = 0; i < 600; ++i)); do
    (($(grep -o "$2" "$1" | wc -l) < $3)) || return 0
    sleep 0.1
  done
  echo "newcomer.sh: not $3 times '$2':" >&2
  cat "$1" >&2
  return 1
}

# survives WORKER...: of six jobs a first worker begins four and is killed; a second one does all, those four again.
survives() {
  setsid "$@" >first 2>&1 &
  comes first 'begins: ' 4
  end "$!"
  setsid "$@" >second 2>&1 &
  comes second 'done: ' 6
  end "$!"
  comes second 'attempt 2' 4
}
end() {
  kill -KILL -- "-$1"
  wait "$1" 2>/dev/null || true
}
jobs=(a.jpg b.jpg c.jpg d.jpg e.jpg f.jpg)

# of_cpp FOLDER, of_python FOLDER, of_shell FOLDER: the page's part, with what is installed.
of_cpp() (
  mkdir "$1"
  block C++ cpp >"$1/jobs.cpp"
  build=$(block C++ sh | head -n 1)
  cd "$1"
  quietly sh -c "$build"
  ./jobs "${jobs[@]}"
  survives ./jobs
)
of_python() (
  mkdir "$1"
  block Python python >"$1/jobs.py"
  cd "$1"
  python3 jobs.py "${jobs[@]}"
  survives python3 jobs.py
)
of_shell() (
  mkdir "$1"
  block 'The shell' sh | sed '/^tableq work/,$d' >"$1/setup"
  cd "$1"
  sh setup
  export TABLEQ_DB=sqlite://jobs.db
  survives tableq work thumbnails --concurrency 4 -- ./handle-one
)

quietly apt-get update
for way; do
  began=$SECONDS
  case $way in
    cmake)
      scripts/install_dependencies.sh build
      took cmake "packages of Debian"
      quietly cmake --preset release
      quietly cmake --build build/release -j "$(nproc)"
      quietly cmake --install build/release --prefix /usr/local
      ldconfig
      took cmake "build and install"
      of_cpp "$work/cpp"
      of_shell "$work/shell"
      took cmake "five minutes, C++ and the shell"
      ;;
    pip)
      packages python3 python3-venv
      python3 -m venv "$work/env"
      # shellcheck source=/dev/null
      source "$work/env/bin/activate"
      quietly pip install ./bindings/python
      took pip "Python and the package, after cmake"
      of_python "$work/python"
      deactivate
      took pip "five minutes, Python"
      ;;
    fetch_content)
      scripts/install_dependencies.sh build
      took fetch_content "packages of Debian"
      mkdir "$work/project"
      block C++ cpp >"$work/project/jobs.cpp"
      cat >"$work/project/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.22)
project(jobs LANGUAGES C CXX)
include(FetchContent)
FetchContent_Declare(tableq GIT_REPOSITORY file://$PWD GIT_TAG $(git rev-parse HEAD))
FetchContent_MakeAvailable(tableq)
add_executable(jobs jobs.cpp)
target_link_libraries(jobs PRIVATE tableq::tableq)
END
      quietly cmake -S "$work/project" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_UNITY_BUILD=ON
      quietly cmake --build "$work/build" -j "$(nproc)"
      took fetch_content "build"
      (
        cd "$work/project"
        "$work/build/jobs" "${jobs[@]}"
        survives "$work/build/jobs"
      )
      took fetch_content "five minutes, C++"
      ;;
    deb)
      quietly scripts/packages.sh --make
      took deb "making the packages"
      packages ./build/packages/packages/{tableq,libtableq,python3-tableq}*.deb
      took deb "installing them"
      of_shell "$work/deb_shell"
      of_cpp "$work/deb_cpp"
      of_python "$work/deb_python"
      took deb "five minutes, C++, Python and the shell"
      ;;
    *)
      echo "newcomer.sh: unknown: $way" >&2
      exit 2
      ;;
  esac
done
printf '%s\n' "${lines[@]}"
