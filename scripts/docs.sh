#!/bin/bash
# Makes the documentation as one folder of HTML, with a search that needs no server, and checks its links.
#
#   scripts/docs.sh [FOLDER]        build/site, without an argument; open its index.html
#
# README.md, docs/, and the references of C++ and C from the comments of the headers. Uses Debian's cmark-gfm and Doxygen.
# Exit status 1 if a link leads nowhere.
set -euo pipefail
if (($# > 1)) || [[ ${1-} == -* ]]; then
  sed -n '2,7s/^# \{0,1\}//p' "$0" >&2
  exit 2
fi
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-build/site}")
scripts/install_dependencies.sh docs
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

doxygen -l "$work/layout.xml"
sed -i 's|<tab type="mainpage".*|<tab type="user" url="../index.html" title="Guide"/>\n    &|' "$work/layout.xml"

# reference FOLDER NAME INPUT...: the HTML of Doxygen in a folder, and the list of its names for the search.
reference() {
  local folder=$1 name=$2
  shift 2
  {
    cat .doxygen
    printf '%s\n' "INPUT = $*" "OUTPUT_DIRECTORY = $out" "HTML_OUTPUT = $folder" "GENERATE_HTML = YES" \
      "GENERATE_XML = NO" "GENERATE_TAGFILE = $out/$folder.tag" "PROJECT_NAME = \"tableq: $name\"" \
      "LAYOUT_FILE = $work/layout.xml" "SEARCHENGINE = YES" "SERVER_BASED_SEARCH = NO" "HTML_TIMESTAMP = NO" \
      "USE_MDFILE_AS_MAINPAGE = " "STRIP_FROM_PATH = include" "EXTRACT_ALL = NO" "WARN_AS_ERROR = NO" "HAVE_DOT = NO" \
      'INPUT_FILTER = "sed -e s/struct.std::hash/struct.hash/ -e s/tableq::inline.v0/tableq/"'
  } >"$work/doxygen"
  doxygen "$work/doxygen" >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
  }
}
reference cpp "C++ reference" include/tableq
reference c "C reference" include/tableq.h
python3 -B scripts/site/build.py "$PWD" "$out"
echo "docs.sh: $out/index.html"
