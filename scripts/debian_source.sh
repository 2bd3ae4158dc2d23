#!/bin/bash
# Fetches a source package of Debian by apt and unpacks it below FOLDER; prints where. No setting of apt is changed.
#
#   scripts/debian_source.sh PACKAGE FOLDER
set -euo pipefail
package=$1 folder=$(realpath -m "$2")
found() {
  find "$folder" -maxdepth 1 -type d -name "$package-*" 2>/dev/null | grep .
}
found && exit 0
mkdir -p "$folder/lists/partial"
cd "$folder"
sed 's/^Types: deb$/Types: deb-src/; s/^deb /deb-src /' /etc/apt/sources.list.d/debian.sources >source.sources
apt=(apt-get -qq -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$folder" -o "Dir::State::lists=$folder/lists"
  -o APT::Sandbox::User=root)
"${apt[@]}" update >&2
"${apt[@]}" source "$package" >&2
found
